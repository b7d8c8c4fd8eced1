import { expect, test } from "vitest";
import type { Fault } from "../../src/simulator/scenario/schema.ts";
import type { FleetHarness } from "../support/fleet-harness.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { pass } from "../support/paced-time.ts";
import { eachWithItsHarness, type FaultsHarness } from "./faults-harness.ts";

const { open } = eachWithItsHarness();

const navigate = (robotId: string, destinationId: string) =>
  JSON.stringify({
    robotId,
    mission: { baseMission: { navigateMission: { goal: { destinationId } } } },
  });

/** Sends a robot somewhere and waits until the stream shows that it arrived. */
async function drive(fleet: FleetHarness, robotId: string, destinationId: string): Promise<void> {
  const ending = await fleet.port.call("CreateMission", navigate(robotId, destinationId), 5_000);
  if (ending.kind !== "ok") throw new Error(JSON.stringify(ending));
  await fleet.event("mission", ({ queue }) =>
    queue.missions.some(
      ({ missionId, state }) => missionId === ending.missionId && state === "STATE_SUCCEEDED",
    ),
  );
}

const cutStreams = (fleet: FleetHarness, from = 0) =>
  fleet.events.slice(from).filter((event) => event.kind === "stream" && event.state !== "live").length;

test.each([
  ["at their 60 minutes", "limit"],
  ["UNAVAILABLE", "unavailable"],
  ["UNAUTHENTICATED", "unauthenticated"],
  ["by RST code 0", "reset"],
] as const)("streams that end %s come back", async (_, how) => {
  const { simulator, start, settled } = await open();
  const fleet = await start();
  const before = fleet.events.length;
  simulator().control.apply({ kind: "end-streams", how });
  await fleet.until("streams were cut", () => cutStreams(fleet, before) >= 2);
  await drive(fleet, "base-01", "Table 1");
  await settled(fleet);
  await fleet.until("all is well again", () => fleet.health().state === "up");
});

test("GOAWAY moves the streams to a new connection", async () => {
  const { simulator, start, settled, wire } = await open();
  const fleet = await start();
  const before = wire.accepted();
  simulator().control.apply({ kind: "end-streams", how: "goaway" });
  await fleet.until("a new connection was made", () => wire.accepted() > before);
  await drive(fleet, "base-01", "Table 1");
  await settled(fleet);
  await fleet.until("all is well again", () => fleet.health().state === "up");
});

/** Times at which nothing but the GOAWAY itself moves a stream. */
const calm = { resyncMs: 60_000, streamSilenceMs: 60_000, backoffBaseMs: 250, backoffCapMs: 5_000 };

/** Says GOAWAY, and waits until each stream has come again. */
async function goAway({ simulator }: FaultsHarness, fleet: FleetHarness): Promise<void> {
  const before = fleet.events.length;
  simulator().control.apply({ kind: "end-streams", how: "goaway" });
  await fleet.until("every stream has come again", () => {
    const live = fleet.events
      .slice(before)
      .flatMap((event) => (event.kind === "stream" && event.state === "live" ? [event.stream] : []));
    return new Set(live).size === fleet.figure("streams_wanted");
  });
}

test("GOAWAY leaves every robot good, also when it comes again and again", async () => {
  const opened = await open();
  let look = () => {};
  const fleet = await opened.start({ times: calm, random: () => 0.5, onEvent: () => look() });
  const notGood = new Set<string>();
  look = () => {
    for (const words of opened.notGood(fleet)) notGood.add(words);
  };
  const before = fleet.events.length;
  for (let time = 0; time < 3; time += 1) await goAway(opened, fleet);
  expect([...notGood]).toEqual([]);
  expect(cutStreams(fleet, before)).toBe(0);
});

test("GOAWAY loses and doubles no message", async () => {
  const opened = await open({ timeFactor: 1 });
  const fleet = await opened.start({ times: calm, random: () => 0.5 });
  const before = fleet.events.length;
  const told: number[] = [];
  let isMoving = true;
  const moves = (async () => {
    for (let time = 0; time < 3; time += 1) await goAway(opened, fleet);
    isMoving = false;
  })();
  while (isMoving) {
    const percent = 90 - (told.length % 80);
    told.push(percent);
    const received = fleet.next(
      "battery",
      ({ robotId, battery }) => robotId === "serve-01" && battery.chargePercent === percent,
    );
    // Whole percents are told: from the middle of one none is reached by itself.
    opened.simulator().control.happen({ kind: "battery", robotId: "serve-01", percent: percent + 0.5 });
    await received;
  }
  await moves;
  const received = fleet.events
    .slice(before)
    .flatMap((event) =>
      event.kind === "battery" && event.robotId === "serve-01" ? [event.battery.chargePercent] : [],
    );
  expect(received).toEqual(told);
  expect(cutStreams(fleet, before)).toBe(0);
});

test("60-minute renewal: a service that ends streams at its limit finds them renewed before, under load", {
  timeout: 60_000,
}, async () => {
  const clock = createManualClock(Date.now());
  // The world moves in steps of a second: nobody looks more often.
  const coarse = {
    ...clock,
    after: (delayMs: number, task: () => void) => clock.after(Math.max(delayMs, 1_000), task),
  };
  const { start, settled, simulator } = await open({ clock: coarse, timeFactor: 1 });
  const fleet = await start({
    clock,
    times: {
      resyncMs: 600_000,
      streamSilenceMs: 300_000,
      connectMs: 60_000,
      rosterPollMs: 60_000,
      taskChainPollMs: 60_000,
    },
  });
  simulator().control.setLively("missions");
  const before = fleet.events.length;
  const roundTrip = () => fleet.port.call("ListWebhooks", "{}", 5_000);
  await pass(clock, 3_960_000, { stepMs: 10_000, roundTrip });
  expect(cutStreams(fleet, before)).toBe(0);
  expect(fleet.figure("messages_repeated")).toBeGreaterThan(20);
  const told = fleet.events.flatMap((event) =>
    event.kind === "mission" ? [`${event.robotId} ${event.stamp.sequence}`] : [],
  );
  expect(told.length).toBeGreaterThan(100);
  expect(new Set(told).size).toBe(told.length);
  simulator().control.setLively("none");
  await settled(fleet);
});

test("sequence reset: numbers that begin again with 0 are followed", async () => {
  const { simulator, start, settled } = await open();
  const fleet = await start();
  await drive(fleet, "base-01", "Table 1");
  simulator().control.happen({ robotId: "base-01", kind: "sequence-reset" });
  await fleet.event("mission", ({ robotId, stamp }) => robotId === "base-01" && stamp.sequence === 0);
  await drive(fleet, "base-01", "Table 2");
  await settled(fleet);
  expect(fleet.figure("sequence_regressions")).toBe(0);
});

test("sequence reset whose 0 was lost: is noticed at the next message, and repaired by a new subscription", async () => {
  const { simulator, start, settled } = await open();
  const fleet = await start({ times: { resyncMs: 60_000 } });
  await drive(fleet, "base-01", "Table 1");
  simulator().control.apply({ kind: "stream", effect: "drop", robotId: "base-01", count: 2 });
  simulator().control.happen({ robotId: "base-01", kind: "sequence-reset" });
  simulator().control.clearFaults();
  await fleet.port.call("CreateMission", navigate("base-01", "Table 2"), 5_000);
  await fleet.until("the reset was noticed", () => fleet.figure("sequence_regressions") > 0);
  await settled(fleet);
});

const messageFaults: ReadonlyArray<readonly [string, Fault]> = [
  ["dropped", { kind: "stream", effect: "drop", count: 5 }],
  ["repeated", { kind: "stream", effect: "repeat", count: 20 }],
  ["reordered", { kind: "stream", effect: "reorder", count: 5 }],
];

test.each(messageFaults)("%s messages lose nothing for long", async (_, fault) => {
  const { simulator, start, settled } = await open();
  const fleet = await start();
  simulator().control.apply(fault);
  await fleet.port.call("CreateMission", navigate("base-01", "Table 1"), 5_000);
  await fleet.port.call("CreateMission", navigate("serve-01", "Table 2"), 5_000);
  await fleet.until("the fault is used up", () => simulator().control.faults().length === 0);
  await settled(fleet);
});

test("a repeat is a proof of life, and no news", async () => {
  const { simulator, start } = await open();
  const fleet = await start({ times: { resyncMs: 60_000, streamSilenceMs: 60_000 } });
  simulator().control.apply({
    kind: "stream",
    effect: "repeat",
    stream: "SubscribeMissionStatus",
    count: 50,
  });
  await drive(fleet, "base-01", "Table 1");
  const told = fleet.events.flatMap((event) =>
    event.kind === "mission" && event.robotId === "base-01" ? [event.stamp.sequence] : [],
  );
  expect(new Set(told).size).toBe(told.length);
  expect(fleet.figure("messages_repeated")).toBeGreaterThan(0);
  expect(fleet.events.some((event) => event.kind === "confirmed" && event.aspect === "mission")).toBe(true);
});

test("streams beyond the service's limit for one connection get connections of their own", async () => {
  const { start, settled, simulator } = await open({ maxConcurrentStreams: 3 });
  const fleet = await start();
  await fleet.until("all streams are open", () => fleet.health().state === "up");
  expect(fleet.figure("stream_limit")).toBe(3);
  expect(fleet.figure("connections")).toBeGreaterThanOrEqual(2);
  simulator().control.apply({ kind: "end-streams", how: "unavailable" });
  await drive(fleet, "base-01", "Table 1");
  await settled(fleet);
});

test.each(["SubscribeMissionStatus", "SubscribeConveyorStatus"])(
  "INTERNAL when a stream is opened (%s): it is opened again",
  async (operation) => {
    const { startUnsettled, settled, simulator } = await open();
    simulator().control.apply({ kind: "command", operation, effect: "internal-before", count: 3 });
    const fleet = await startUnsettled();
    await fleet.until("the fault is used up", () => simulator().control.faults().length === 0);
    await settled(fleet);
    await fleet.until("all is well", () => fleet.health().state === "up");
  },
);
