import type { MqttClient } from "mqtt";
import { clip } from "../../domain/clip.ts";
import { type Outcome, outcomeJson } from "../../domain/outcome.ts";
import type { Log } from "../../platform/log.ts";

/** Where an answer goes. No topic: the sender gave nothing to answer to. */
export interface ReplyTo {
  readonly client: string;
  readonly operation: string;
  readonly id: string | null;
  readonly topic: string | null;
  /** MQTT 5: sent back as it came. */
  readonly correlationData: Buffer | null;
}

/** Publishes outcomes on whichever connection there is. */
export interface Replies {
  use(client: MqttClient): void;
  send(to: ReplyTo, outcome: Outcome): void;
  figures(): Readonly<Record<string, number>>;
}

/**
 * Replies that the broker has not acknowledged; more than there can be commands in flight, for refusals need none. Beyond it
 * they are dropped and counted: the sender may ask again.
 */
const UNACKNOWLEDGED = 8_192;
/** Of a client's name, in a log line. */
const LONGEST_NAME = 128;

export function createReplies(log: Log): Replies {
  let client: MqttClient | null = null;
  let waiting = 0;
  const counts = { replies: 0, repliesDropped: 0 };

  const drop = (to: ReplyTo, why: string) => {
    counts.repliesDropped += 1;
    // Only the first and then every hundredth: a broker that is away drops them all.
    if (counts.repliesDropped % 100 === 1)
      log.warn(
        { client: clip(to.client, LONGEST_NAME), id: to.id, why, dropped: counts.repliesDropped },
        "a reply was dropped",
      );
  };

  return {
    use(connected) {
      client = connected;
      waiting = 0;
    },
    send(to, outcome) {
      if (to.topic === null) return;
      const connection = client;
      if (connection === null || !connection.connected) return drop(to, "no connection");
      if (waiting >= UNACKNOWLEDGED) return drop(to, "the broker does not acknowledge");
      waiting += 1;
      const properties = to.correlationData === null ? {} : { correlationData: to.correlationData };
      connection.publish(to.topic, outcomeJson(to.id, outcome), { qos: 1, properties }, (error) => {
        if (connection !== client) return;
        waiting -= 1;
        if (error) drop(to, error.message);
        else counts.replies += 1;
      });
    },
    figures: () => counts,
  };
}
