import type { MqttClient } from "mqtt";
import { clip } from "../../domain/foreign-text.ts";
import type { Outcome } from "../../domain/outcome.ts";
import { replyJson } from "../../models/reply.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createRecurringProblem } from "../../platform/log-bounds.ts";
import { createFairQueues } from "../../platform/queues.ts";
import { NotTakenYet, PacketTooLarge } from "./client/limited-client.ts";
import type { ReplyTo } from "./message.ts";

/** Publishes outcomes on the present connection, each client's in turn. */
export interface Replies {
  use(client: MqttClient): void;
  send(to: ReplyTo, outcome: Outcome): void;
  /** Why replies were dropped within the last half minute; null: none was. */
  problem(): string | null;
  figures(): Readonly<Record<string, number>>;
}

/** Bounds on the number of replies. */
export interface ReplyBounds {
  /**
   * Handed to the broker and not acknowledged. Further ones wait, so that other clients' replies are not
   * behind one client's flood.
   */
  readonly unacknowledged: number;
  /**
   * A client with fewer of them need not wait: if acknowledgements are late, a client that asks little is
   * answered at once.
   */
  readonly ofOneAtOnce: number;
  /** Beyond it the oldest of the client with the most is dropped, and counted: that client may ask again. */
  readonly waiting: number;
}

/**
 * At 2,000 a second, as many as a broker at a distance of a quarter of a second has in hand. More wait than
 * there can be commands in flight, because refusals need none.
 */
const BOUNDS: ReplyBounds = { unacknowledged: 512, ofOneAtOnce: 64, waiting: 8_192 };
/** Of a client's name, in a log line. */
const LONGEST_NAME = 128;
/** A reply that the broker did not take. */
const AGAIN_MS = 2_000;

const NO_RESPONSE = "the response is left out: it is larger than the broker takes";

interface Reply {
  readonly to: ReplyTo;
  readonly outcome: Outcome;
}

export function createReplies(clock: Clock, log: Log, bounds = BOUNDS): Replies {
  let client: MqttClient | null = null;
  let unacknowledged = 0;
  let byClient = new Map<string, number>();
  let isPublishing = false;
  let droppedWhenLogged = 0;
  let reason = "";
  const waiting = createFairQueues<Reply>(bounds.waiting);
  const counts = { replies: 0, repliesDropped: 0 };

  const dropping = createRecurringProblem(clock, () => {
    const dropped = counts.repliesDropped - droppedWhenLogged;
    droppedWhenLogged = counts.repliesDropped;
    log.info({ dropped }, "replies are not dropped any more");
  });
  const drop = (to: ReplyTo, why: string) => {
    counts.repliesDropped += 1;
    reason = why;
    // A broker that is away drops them all.
    if (!dropping.note()) return;
    const fields = { client: clip(to.client, LONGEST_NAME), id: to.id, why };
    log.warn(fields, "a reply was dropped, and more may be");
  };

  function publish(connection: MqttClient, { to, outcome }: Reply): void {
    const { topic } = to;
    if (topic === null) return;
    unacknowledged += 1;
    const counted = byClient;
    counted.set(to.client, (counted.get(to.client) ?? 0) + 1);
    const properties = to.correlationData === null ? {} : { correlationData: to.correlationData };
    const json = replyJson(to.id, outcome);
    const ended = (error?: Error) => {
      if (error instanceof NotTakenYet && connection === client) {
        clock.after(AGAIN_MS, send);
        return;
      }
      const isTooLarge = error instanceof PacketTooLarge && outcome.responseJson !== null;
      if (isTooLarge) publish(connection, { to, outcome: withoutResponse(outcome, NO_RESPONSE) });
      else if (error) drop(to, error.message);
      else counts.replies += 1;
      if (connection !== client) return;
      unacknowledged -= 1;
      const left = (counted.get(to.client) ?? 0) - 1;
      if (left > 0) counted.set(to.client, left);
      else counted.delete(to.client);
      publishWaiting();
    };
    const send = () => void connection.publish(topic, json, { qos: 1, properties }, ended);
    send();
  }

  function publishWaiting(): void {
    // A client that is closing refuses at once, and each refusal would be one call deeper.
    if (isPublishing) return;
    isPublishing = true;
    while (client?.connected && unacknowledged < bounds.unacknowledged) {
      const reply = waiting.next();
      if (reply === null) break;
      publish(client, reply);
    }
    isPublishing = false;
  }

  /** Whether the client's next reply goes before all waiting ones. */
  function isNext(name: string): boolean {
    if (waiting.length === 0 && unacknowledged < bounds.unacknowledged) return true;
    const isOneOfFew = (byClient.get(name) ?? 0) < bounds.ofOneAtOnce && !waiting.has(name);
    return isOneOfFew && unacknowledged < bounds.unacknowledged + bounds.waiting;
  }

  return {
    use(connected) {
      client = connected;
      unacknowledged = 0;
      byClient = new Map();
      publishWaiting();
    },
    send(to, outcome) {
      if (to.topic === null) return;
      if (client === null || !client.connected) return drop(to, "no connection");
      if (isNext(to.client)) return publish(client, { to, outcome });
      const gone = waiting.push(to.client, { to, outcome });
      if (gone !== null) drop(gone.item.to, "the broker does not take them fast enough");
      publishWaiting();
    },
    problem: () => (dropping.isRecurring() ? `replies to commands are dropped: ${reason}` : null),
    figures: () => ({ ...counts, repliesWaiting: waiting.length }),
  };
}

/** A reply that is too large, without its response: the outcome must not be lost. */
export function withoutResponse(outcome: Outcome, why: string): Outcome {
  const prefix = outcome.message === "" ? "" : `${outcome.message}; `;
  return { ...outcome, message: `${prefix}${why}`, responseJson: null, evidence: null };
}
