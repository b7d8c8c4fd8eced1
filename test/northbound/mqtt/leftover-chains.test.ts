import mqtt, { type MqttClient } from "mqtt";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/link.ts";
import type { StateChange } from "../../../src/domain/change.ts";
import type { EmbeddedBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { alarmEvent } from "../../support/test-alarms.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { base, type Listener, listen, stamp, start } from "./mqtt-harness.ts";

const SETTLE_MS = 5_000;
const LOOK_MS = 1_000;

let broker: EmbeddedBroker;
let watcher: Listener;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

beforeEach(async () => {
  broker = newBroker();
  cleanups.push(await start(broker));
  watcher = await listen(`mqtt://127.0.0.1:${broker.port()}`, {}, "fleetgate/#");
  cleanups.push(() => watcher.client.endAsync(true));
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function chain(chainId: number): StateChange {
  const value = { chainId, amrId: 1, taskSeq: "", status: "S", finished: false, info: {} };
  return { kind: "task_chain", chainId, observed: { value, stamp, quality: "good" } };
}

function robotAt(taskChainId: number): StateChange {
  const value = { amrId: 1, mapId: 1, position: "P1", stateId: "idle", taskChainId, info: {} };
  return { kind: "presence", robotId: "r1", observed: { value, stamp, quality: "good" } };
}

/** One run of the gateway. */
interface Life {
  readonly clock: ManualClock;
  show(...changes: StateChange[]): Promise<void>;
  /** Resolves when the gateway has heard what is retained on these topics. */
  hears(...topics: string[]): Promise<void>;
  /** Resolves when all that the gateway has published has come to the watcher. */
  marks(code: string): Promise<void>;
  end(): Promise<void>;
}

async function live(sessionId: string): Promise<Life> {
  const clock = createManualClock();
  let received = "";
  let wake = () => {};
  const openBroker = () => {
    const stream = broker.open();
    stream.on("data", (bytes: Buffer) => {
      received += bytes.toString("latin1");
      wake();
    });
    return stream;
  };
  const link = newLink({ sessionId, clock, openBroker });
  const connection: Connection = await link.connect(new AbortController().signal);
  const show = async (...changes: StateChange[]) => {
    await connection.write({ changes, events: [] });
  };
  let isOver = false;
  const end = async () => {
    if (!isOver) await connection[Symbol.asyncDispose]();
    isOver = true;
  };
  cleanups.push(end);
  return {
    clock,
    show,
    async hears(...topics) {
      while (!topics.every((topic) => received.includes(topic))) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      // Acknowledged after what is on its way, so that the client has read it.
      await connection.write({ changes: [], events: [alarmEvent("HEARD", "")] });
    },
    async marks(code) {
      await connection.write({ changes: [], events: [alarmEvent(code, "")] });
      await watcher.on("event/alarm", ({ text }) => text.includes(code));
    },
    end,
  };
}

/** A client that may write everywhere. */
async function writer(): Promise<MqttClient> {
  const client = new mqtt.MqttClient(() => broker.open(), { reconnectPeriod: 0, clientId: "writer" });
  cleanups.push(() => client.endAsync(true));
  await new Promise((resolve) => client.once("connect", resolve));
  return client;
}

const cleared = () =>
  watcher.received
    .filter(({ topic, text }) => topic.includes("/task_chains/") && text === "")
    .map(({ topic }) => topic);

it("what an earlier run retained of chains that are gone is removed, and nothing else", async () => {
  const first = await live("s1");
  await first.show(robotAt(1), chain(1), chain(2), chain(3), chain(4));
  await first.end();
  const other = await writer();
  const envelope = '{"robot_id":null,"quality":"good","received_at":"","session_id":"s1","state":{}}';
  for (const [topic, text] of [
    ["fleetgate/other/task_chains/1", envelope],
    [`${base}/task_chains/7`, "not JSON"],
    [`${base}/task_chains/8`, '{"session_id":"s1"}'],
    [`${base}/task_chains/none`, envelope],
  ] as const)
    await other.publishAsync(topic, text, { retain: true, qos: 1 });

  const second = await live("s2");
  await second.hears("task_chains/1", "task_chains/2", "task_chains/3", "task_chains/4");
  await second.show(chain(2));
  // The fleet is out of reach: nothing is known of its chains.
  second.clock.advance(10 * SETTLE_MS);
  await second.show(robotAt(3));
  second.clock.advance(SETTLE_MS - LOOK_MS);
  await second.marks("FIRST");
  expect(cleared()).toEqual([]);
  second.clock.advance(2 * LOOK_MS);
  await second.marks("SECOND");
  expect(cleared()).toEqual([`${base}/task_chains/1`, `${base}/task_chains/4`]);
});

it("nothing is removed while another gateway has the same id", async () => {
  const first = await live("s1");
  await first.show(chain(1));
  await first.end();
  const second = await live("s2");
  await second.hears("task_chains/1");
  const other = await writer();
  const status = (state: string) =>
    other.publishAsync(`${base}/status`, JSON.stringify({ state, session_id: "s9" }), { qos: 1 });
  await status("online");
  await watcher.on("status", ({ text }) => text.includes("s9"));
  await second.hears("s9");
  await second.show(robotAt(0));
  second.clock.advance(10 * SETTLE_MS);
  await second.marks("FIRST");
  expect(cleared()).toEqual([]);
  await status("offline");
  await second.hears('"state":"offline","session_id":"s9"');
  second.clock.advance(LOOK_MS);
  await watcher.on("task_chains/1", ({ text }) => text === "");
});
