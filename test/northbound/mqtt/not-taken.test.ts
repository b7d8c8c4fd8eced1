import type { IPublishPacket } from "mqtt-packet";
import { afterEach, describe, expect, it } from "vitest";
import { createFanOut } from "../../../src/delivery/fan-out.ts";
import { createLinkRunner } from "../../../src/delivery/link-runner.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { createRefresh } from "../../../src/northbound/mqtt/connection.ts";
import type { MqttOptions } from "../../../src/northbound/mqtt/options.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createFakeState, roomy } from "../../delivery/fake-state.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { alarmEvent } from "../../support/test-alarms.ts";
import { type LimitedBroker, startLimitedBroker } from "./limited-broker.ts";
import { newLink } from "./link-harness.ts";
import { base, external, mqttOptions, recordingCommander } from "./mqtt-harness.ts";

/** Reason codes of MQTT 5, PUBACK (section 3.4.2.1). */
const NO_MATCHING_SUBSCRIBERS = 0x10;
const UNSPECIFIED_ERROR = 0x80;
const QUOTA_EXCEEDED = 0x97;

const cleanups: Array<() => unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A gateway's MQTT, from the fan-out to a broker that answers as the test says. */
async function run(options: Partial<MqttOptions> = {}, answer: (packet: IPublishPacket) => number = () => 0) {
  const broker = await startLimitedBroker({});
  cleanups.push(() => broker.close());
  broker.answer = answer;
  const clock = createManualClock();
  const link = newLink({
    options: mqttOptions({ broker: external(broker.url), protocolVersion: 5, ...options }),
    clock,
    commander: recordingCommander(),
  });
  const state = createFakeState();
  const fanOut = createFanOut({ state, clock, log: silentLog });
  const runner = createLinkRunner(link, {
    outlet: fanOut.attachOutlet("mqtt", roomy),
    backoff: { baseMs: 1_000, capMs: 1_000 },
    writeTimeoutMs: 24 * 3_600_000,
    drainMs: 1_000,
    clock,
    random: () => 0.5,
    log: silentLog,
  });
  const stop = new AbortController();
  const ended = runner.run(stop.signal, () => {});
  /** Lets time pass until it is so. */
  const until = (test: () => boolean) =>
    expect
      .poll(
        async () => {
          if (!test()) await clock.settle(250);
          return test();
        },
        // Some let minutes pass, a quarter of a second each time.
        { interval: 5, timeout: 50_000 },
      )
      .toBe(true);
  const end = async () => {
    stop.abort();
    let isOver = false;
    void ended.then(() => {
      isOver = true;
    });
    await until(() => isOver);
  };
  cleanups.push(end);
  await broker.received(({ topic }) => topic === `${base}/status`);
  return { broker, link, fanOut, state, clock, until, end };
}

const eventTopic = (robotId: string) => `${base}/robots/${robotId}/event/alarm`;
const statusTopic = `${base}/status`;

function offer({ fanOut }: Pick<Awaited<ReturnType<typeof run>>, "fanOut">, ...events: FleetEvent[]): void {
  fanOut.offer({ changes: [], events });
}

function eventIdOf({ payload }: IPublishPacket): string {
  return JSON.parse(String(payload)).event_id;
}

/** The events that the broker has heard of, in order. */
function received({ published }: LimitedBroker): string[] {
  return published.filter(({ topic }) => topic.includes("/event/")).map(eventIdOf);
}

describe("an acknowledgement of MQTT 5", () => {
  it("that nobody has subscribed is one", async () => {
    const gateway = await run();
    const { broker, link, until } = gateway;
    broker.answer = () => NO_MATCHING_SUBSCRIBERS;
    offer(gateway, alarmEvent("e1", "r1"), alarmEvent("e2", "r1"));
    await until(() => received(broker).includes("e2"));
    expect(received(broker)).toEqual(["e1", "e2"]);
    expect(link.health()).toMatchObject({ state: "up", figures: { messagesNotTaken: 0 } });
  });

  it.each([0x87, 0x90, 0x99])(
    "that refuses for good (%i) drops the event at once, and tells",
    async (code) => {
      const gateway = await run();
      const { broker, link, until } = gateway;
      broker.answer = ({ topic }) => (topic === eventTopic("r1") ? code : 0);
      offer(gateway, alarmEvent("e1", "r1"), alarmEvent("e2", "r2"));
      await until(() => received(broker).includes("e1.dropped"));
      expect(received(broker)).toEqual(["e1", "e2", "e1.dropped"]);
      expect(link.health()).toMatchObject({
        state: "degraded",
        detail: expect.stringContaining(eventTopic("r1")),
        figures: { messagesRefused: 1 },
      });
      expect(broker.connects).toHaveLength(1);
    },
  );

  // Unspecified, implementation specific, packet identifier in use.
  it.each([0x80, 0x83, 0x91])(
    "with an error (%i) is tried again, and then the event is dropped",
    async (code) => {
      const gateway = await run();
      const { broker, link, until } = gateway;
      broker.answer = ({ topic }) => (topic === eventTopic("r1") ? code : 0);
      offer(gateway, alarmEvent("e1", "r1"), alarmEvent("e2", "r2"));
      await until(() => received(broker).filter((id) => id === "e1").length === 2);
      expect(link.health()).toMatchObject({
        state: "degraded",
        detail: expect.stringContaining(eventTopic("r1")),
      });
      await until(() => received(broker).includes("e1.dropped"));
      // After 1, 2, 4 and 8 s; what the broker took meanwhile does not come again.
      expect(received(broker)).toEqual(["e1", "e2", "e1", "e1", "e1", "e1", "e1.dropped"]);
      // It is known by now: one try is enough.
      offer(gateway, alarmEvent("e3", "r1"));
      await until(() => received(broker).includes("e3.dropped"));
      expect(received(broker).slice(7)).toEqual(["e3", "e3.dropped"]);
      expect(link.health()).toMatchObject({ state: "degraded", figures: { messagesRefused: 2 } });
      broker.answer = () => 0;
      offer(gateway, alarmEvent("e4", "r1"));
      await until(() => received(broker).includes("e4"));
      await until(() => link.health().state === "up");
      expect(broker.connects).toHaveLength(1);
    },
  );

  it("with an exceeded quota keeps the events for as long as it takes", async () => {
    const gateway = await run();
    const { broker, link, until, clock } = gateway;
    broker.answer = () => QUOTA_EXCEEDED;
    offer(gateway, alarmEvent("e1", "r1"), alarmEvent("e2", "r2"));
    await until(() => clock.monotonicMs() > 120_000);
    // Two events after 0, 1, 3, 7, 15, 31, 61 and 91 s.
    expect(received(broker)).toHaveLength(16);
    expect(link.health()).toMatchObject({ state: "degraded", detail: expect.stringContaining("Quota") });
    broker.answer = () => 0;
    const before = received(broker).length;
    await until(() => received(broker).length === before + 2);
    expect(received(broker).slice(before)).toEqual(["e1", "e2"]);
    await until(() => link.health().state === "up");
    expect(link.health().figures).toMatchObject({ messagesRefused: 0 });
    expect(broker.connects).toHaveLength(1);
  });
});

describe("a status that the broker does not take", () => {
  const refusing = ({ topic }: IPublishPacket) => (topic === statusTopic ? UNSPECIFIED_ERROR : 0);

  it("comes again, and the connection is used meanwhile", async () => {
    const gateway = await run({}, refusing);
    const { broker, link, until } = gateway;
    const statuses = () => broker.published.filter(({ topic }) => topic === statusTopic).length;
    offer(gateway, alarmEvent("e1", "r1"));
    await until(() => received(broker).includes("e1"));
    expect(link.health()).toMatchObject({ state: "degraded", detail: expect.stringContaining(statusTopic) });
    broker.answer = () => 0;
    const before = statuses();
    await until(() => statuses() > before);
    await until(() => link.health().state === "up");
    expect(broker.connects).toHaveLength(1);
  });

  it("is left to the last will at the end", async () => {
    const { broker, end, until, link } = await run();
    await until(() => link.health().state === "up");
    broker.answer = refusing;
    await end();
    expect(String(broker.published.at(-1)?.payload)).toContain('"offline"');
    expect(broker.disconnects()).toBe(0);
  });
});

describe("retained state of QoS 1 that the broker does not take", () => {
  it("comes again with its newest value, and what removes it too", async () => {
    const gateway = await run({ stateQos: 1 });
    const { broker, until, fanOut, state, link } = gateway;
    const topic = `${base}/robots/r1/battery`;
    const told = () => broker.published.filter((packet) => packet.topic === topic);
    const gone = () => broker.published.filter((packet) => packet.topic === `${base}/task_chains/1`);
    broker.answer = ({ topic }) => (topic === statusTopic ? 0 : UNSPECIFIED_ERROR);
    const evicted = { kind: "task_chain_evicted", chainId: 1 } as const;
    fanOut.offer({ changes: [...state.set("r1", 50).changes, evicted], events: [] });
    await until(() => told().length > 1 && gone().length > 1);
    broker.answer = () => 0;
    const before = [told().length, gone().length] as const;
    await until(() => told().length > before[0] && gone().length > before[1]);
    expect(gone().every(({ payload }) => payload.length === 0)).toBe(true);
    await until(() => link.health().state === "up");
    expect(broker.connects).toHaveLength(1);
  });

  it("is not published again over a newer value", () => {
    const refresh = createRefresh();
    const again: string[] = [];
    refresh.note("a", "1", 0);
    refresh.note("a", "2", 0);
    refresh.notTaken("a", "1");
    refresh.note("b", "1", 0);
    refresh.note("b", "", 0);
    refresh.notTaken("b", "1");
    refresh.due(1, 1_000, 10, (topic, payload) => again.push(`${topic}=${payload}`));
    expect(again).toEqual([]);
    refresh.notTaken("a", "2");
    refresh.notTaken("b", "");
    refresh.due(2, 1_000, 10, (topic, payload) => again.push(`${topic}=${payload}`));
    expect(again).toEqual(["a=2", "b="]);
  });
});

describe("a reply that the broker does not take", () => {
  it("is published again", async () => {
    const gateway = await run();
    const { broker, until, link } = gateway;
    const topic = `${base}/clients/plc1/reply/c1`;
    const told = () => broker.published.filter((packet) => packet.topic === topic).length;
    await until(() => broker.subscribed.length > 1);
    broker.answer = (packet) => (packet.topic === topic && told() < 3 ? QUOTA_EXCEEDED : 0);
    const command = { id: "c1", expires_in_ms: 10_000, request: { robot_id: "r1" } };
    broker.say(`${base}/clients/plc1/command/CreateMission`, JSON.stringify(command));
    await until(() => told() === 3);
    await until(() => link.health().state === "up");
    expect(link.health().figures).toMatchObject({ replies: 1, repliesDropped: 0 });
  });
});
