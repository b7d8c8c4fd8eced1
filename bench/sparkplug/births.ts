// How long an edge node takes for the births of all its robots, when a host asks for them.
import mqtt from "mqtt";
import proto from "sparkplug-payload/lib/sparkplugPayloadProto.js";
import type { Gateway } from "../gateway.ts";
import { SPARKPLUG_GROUP } from "../messages/protocol.ts";
import { loopHeldBy } from "../probe.ts";
import { pause, until } from "../section-run.ts";

const { Payload, DataType } = proto.org.eclipse.tahu.protobuf;
const BORN_WITHIN_MS = 60_000;
/** The gateway merges requests that come sooner. */
const APART_MS = 10_500;

export interface Births {
  /** From the request to the last birth, each time. */
  readonly ms: readonly number[];
  /** How long the event loop was held meanwhile, each time. */
  readonly heldMs: readonly number[];
  /** Of the node and all its devices, each time. */
  readonly bytes: readonly number[];
}

/** @param gateway has the loop's preload */
export async function measureBirths(
  gateway: Gateway,
  mqttPort: number,
  robots: number,
  times: number,
): Promise<Births> {
  const host = await mqtt.connectAsync(`mqtt://127.0.0.1:${mqttPort}`);
  const topic = (type: string) => `spBv1.0/${SPARKPLUG_GROUP}/${type}/${gateway.id}`;
  let births = 0;
  let bytes = 0;
  host.on("message", (_topic, payload) => {
    births += 1;
    bytes += payload.length;
  });
  await host.subscribeAsync([topic("NBIRTH"), `${topic("DBIRTH")}/+`]);
  const found = { ms: [] as number[], heldMs: [] as number[], bytes: [] as number[] };
  for (let time = 0; time < times; time += 1) {
    await pause(APART_MS);
    births = 0;
    bytes = 0;
    const { held } = await loopHeldBy(gateway, async () => {
      const askedAtMs = performance.now();
      await host.publishAsync(topic("NCMD"), rebirth());
      await until("all births", async () => births >= robots + 1, BORN_WITHIN_MS, 1);
      found.ms.push(performance.now() - askedAtMs);
    });
    found.heldMs.push(held.longestMs);
    found.bytes.push(bytes);
  }
  await host.endAsync();
  return found;
}

function rebirth(): Buffer {
  const metric = { name: "Node Control/Rebirth", datatype: DataType.Boolean, booleanValue: true };
  return Buffer.from(Payload.encode({ timestamp: Date.now(), metrics: [metric] }).finish());
}
