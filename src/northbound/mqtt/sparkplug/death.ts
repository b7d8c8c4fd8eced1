import type { Clock } from "../../../platform/clock.ts";
import { within } from "../client/client.ts";
import type { LimitedClient } from "../client/limited-client.ts";
import { encodePayload, type Sample } from "./payload.ts";
import type { SparkplugTopics } from "./topics.ts";

/** The death of the node: it has no sequence number, and the number of the connection by name. */
export function deathPayload(bdSeq: number, atMs: number): Buffer {
  const sample: Sample = {
    model: { name: "bdSeq", type: "Int64" },
    ...{ alias: null, value: bdSeq, quality: "good", atMs },
  };
  return encodePayload({ atMs, seq: null, samples: [sample], isBirth: false });
}

const DEATH_MS = 2_000;

/** Ends the connection with exactly one death: with MQTT 5 the broker publishes the last will. */
export async function endSession(
  client: LimitedClient,
  topics: SparkplugTopics,
  death: Buffer,
  protocolVersion: 4 | 5,
  clock: Clock,
): Promise<void> {
  if (protocolVersion === 4) {
    const published = new Promise<void>((resolve, reject) => {
      client.publish(topics.node("NDEATH"), death, { qos: 1, retain: false }, (error) =>
        error ? reject(error) : resolve(),
      );
    });
    // Otherwise the broker publishes the last will, which says the same.
    if (!(await within(clock, DEATH_MS, published))) return void client.end(true);
  }
  const options = protocolVersion === 5 ? { reasonCode: DISCONNECT_WITH_WILL } : {};
  const ended = new Promise<void>((resolve) => client.end(false, options, () => resolve()));
  if (!(await within(clock, DEATH_MS, ended))) client.stream.destroy();
}

/** MQTT 5, Disconnect: with Will Message. */
const DISCONNECT_WITH_WILL = 0x04;
