import type { IPublishPacket } from "mqtt";
import type { Clock } from "../../platform/clock.ts";
import { createFairQueues } from "../../platform/queues.ts";
import type { Loss } from "./client/client.ts";
import { createPublishReader } from "./client/sorted-stream.ts";

/**
 * Messages of clients between the connection and their handling. All clients share one connection, so a
 * message is taken from it at once, and handled in its client's turn: a flood of one client delays no stop of
 * another.
 */
export interface Inbox {
  /**
   * Handles the message now if nothing waits and this turn of the event loop has room for it; otherwise
   * later.
   */
  put(topic: string, frame: Buffer): void;
  readonly length: number;
}

/** Handled in one turn of the event loop: a stop needs several turns from its message to its call. */
const A_TURN = 32;
/** The time for them: a large message needs as long as thousands of small ones. */
const A_TURN_MS = 8;
/** Waiting messages. Beyond it the next ones are handled at once, and the connection is read more slowly. */
const MOST_WAITING = 65_536;
const MOST_WAITING_BYTES = 32 * 1024 * 1024;

interface Waiting {
  readonly topic: string;
  readonly frame: Buffer;
  /** On the monotonic clock. */
  readonly sinceMs: number;
}

/**
 * @param clientOf the client in a topic; each has its turn
 * @param take is called with each well-formed message, the messages of one client in their order, and how
 * long it has waited
 */
export function createInbox(
  protocolVersion: 4 | 5,
  clock: Pick<Clock, "monotonicMs">,
  clientOf: (topic: string) => string,
  take: (topic: string, packet: IPublishPacket, waitedMs: number) => void,
): Inbox {
  const readPublish = createPublishReader(protocolVersion);
  const queues = createFairQueues<Waiting>(Number.POSITIVE_INFINITY);
  let waitingBytes = 0;
  let handledThisTurn = 0;
  let turnEndsAtMs = 0;
  /** Messages were handled as they came. */
  let isBegun = false;
  let isTurnPlanned = false;

  function handle(topic: string, frame: Buffer, waitedMs: number): void {
    const packet = readPublish(frame);
    if (packet !== null) take(topic, packet, waitedMs);
  }

  function handleNext(): boolean {
    const next = queues.next();
    if (next === null) return false;
    waitingBytes -= next.frame.length;
    handledThisTurn += 1;
    handle(next.topic, next.frame, clock.monotonicMs() - next.sinceMs);
    return true;
  }

  function beginTurn(): void {
    handledThisTurn = 0;
    turnEndsAtMs = performance.now() + A_TURN_MS;
  }

  function hasRoom(): boolean {
    return handledThisTurn < A_TURN && performance.now() < turnEndsAtMs;
  }

  function turn(): void {
    const isOver = isBegun && !hasRoom();
    isTurnPlanned = false;
    isBegun = false;
    if (!isOver) {
      beginTurn();
      while (hasRoom() && handleNext());
    }
    if (queues.length > 0) planTurn();
  }

  function planTurn(): void {
    if (isTurnPlanned) return;
    isTurnPlanned = true;
    setImmediate(turn);
  }

  return {
    put(topic, frame) {
      if (!isTurnPlanned) beginTurn();
      planTurn();
      if (queues.length === 0 && hasRoom()) {
        isBegun = true;
        handledThisTurn += 1;
        handle(topic, frame, 0);
        return;
      }
      queues.push(clientOf(topic), { topic, frame, sinceMs: clock.monotonicMs() });
      waitingBytes += frame.length;
      while (queues.length > MOST_WAITING || waitingBytes > MOST_WAITING_BYTES) handleNext();
    },
    get length() {
      return queues.length;
    },
  };
}

/** Counts messages with QoS 1 that are not acknowledged yet, without a promise for each. */
export interface Acks {
  /** Counts one more message; the returned callback is called by its acknowledgement. */
  expect(): () => void;
  /** Resolves when everything is acknowledged; rejects if the connection ends first. */
  settled(): Promise<void>;
}

export function createAcks(loss: Loss): Acks {
  let pending = 0;
  let whenSettled: (() => void) | null = null;
  const acknowledge = () => {
    pending -= 1;
    if (pending > 0) return;
    whenSettled?.();
    whenSettled = null;
  };
  return {
    expect() {
      pending += 1;
      return acknowledge;
    },
    settled() {
      if (pending === 0) return Promise.resolve();
      return loss.orElse((done) => {
        whenSettled = done;
      });
    },
  };
}
