import type { MqttClient } from "mqtt";
import type { Clock } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createDuplicateReport, createTakeoverWatch } from "../duplicate-gateway.ts";

/** Notices another gateway with the same group and node, or with the same client id. */
export interface DuplicateNode {
  /** A new connection to this broker. Call it before anything else listens to its end. */
  begin(client: MqttClient, broker: string): void;
  /** This broker could not be reached. */
  unreachable(broker: string): void;
  /** This birth of the node is ours. */
  noteOwn(payload: Buffer): void;
  /** The broker lets this gateway not read births: ours do not come back. */
  cannotRead(): void;
  /** What a birth of ours says that has not come back in time; null: it has, or may still come. */
  lostBirth(): string | null;
  /** A birth of the node has come from the broker. */
  receiveBirth(payload: Buffer): void;
  /** A death of the node has come: nobody else is there any more. */
  receiveDeath(): void;
  /** The problem as one sentence; null: there is no other gateway. */
  problem(): string | null;
  /** Resolves when the next connection may be opened. */
  turn(signal: AbortSignal): Promise<void>;
}

export interface DuplicateNodeParts {
  /** Group and node, as people write them. */
  readonly node: string;
  /** The topic of its births. */
  readonly birthTopic: string;
  readonly clientId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Another gateway was found, or has left. */
  readonly onDuplicate: (active: boolean, text: string) => void;
}

/** Of our births, those that may still be under way. */
const KEPT_BIRTHS = 4;
/** So long may a birth of ours be under way to the broker and back. */
const RETURN_MS = 15_000;

export function createDuplicateNode({
  node,
  birthTopic,
  clientId,
  clock,
  log,
  onDuplicate,
}: DuplicateNodeParts): DuplicateNode {
  let own: Buffer[] = [];
  /** Since when a birth of ours has not come back; null: none is awaited. */
  let awaitedSinceMs: number | null = null;
  let isReadable = true;
  let isThere = false;
  /**
   * The broker that has closed the newest connection without a reason; null: it is open, or has another end.
   */
  let closedBy: string | null = null;
  const none = `no other gateway is the Sparkplug node ${node} any more`;
  const notify = createDuplicateReport(problem, none, { log, onDuplicate });
  const takeover = createTakeoverWatch(clock, notify);

  function problem(): string | null {
    if (isThere)
      return `another gateway is the Sparkplug node ${node} at this broker: one of the two must have another mqtt.sparkplug.nodeId`;
    if (takeover.otherSession() === null) return null;
    return `the broker ends the connection of the Sparkplug node ${node} again and again, as if another gateway had its client id "${clientId}": one of the two must have another gateway.id or mqtt.clientId, and another mqtt.sparkplug.nodeId`;
  }

  function set(isFound: boolean): void {
    isThere = isFound;
    notify();
  }

  return {
    begin(client, broker) {
      own = [];
      awaitedSinceMs = null;
      isReadable = true;
      takeover.serve(client);
      // A broker that was down refuses the next connection; one that serves another client takes it at once.
      if (closedBy === broker) takeover.addSign("");
      closedBy = null;
      // Not every broker of MQTT 5 says why it has closed the connection.
      let hasReason = false;
      client.once("disconnect", () => {
        hasReason = true;
      });
      client.once("close", () => {
        if (!hasReason && !client.disconnecting) closedBy = broker;
      });
    },
    unreachable(broker) {
      if (closedBy === broker) closedBy = null;
    },
    noteOwn(payload) {
      own = [...own.slice(1 - KEPT_BIRTHS), payload];
      if (isReadable) awaitedSinceMs ??= clock.monotonicMs();
    },
    cannotRead() {
      isReadable = false;
    },
    lostBirth() {
      if (awaitedSinceMs === null || clock.monotonicMs() - awaitedSinceMs < RETURN_MS) return null;
      return `its own NBIRTH does not come back: the broker may forbid the gateway to publish ${birthTopic}, and then hosts see nothing, or only to read it`;
    },
    receiveBirth(payload) {
      if (own.some((birth) => birth.equals(payload))) awaitedSinceMs = null;
      // An empty message clears a retained one.
      else if (payload.length > 0) set(true);
    },
    receiveDeath: () => set(false),
    problem,
    turn: takeover.turn,
  };
}
