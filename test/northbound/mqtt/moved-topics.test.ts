import { afterEach, expect, it } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { unknownSight } from "../../../src/domain/station-sight.ts";
import { noCounters } from "../../../src/domain/station-visits.ts";
import { createBroker } from "../../../src/northbound/mqtt/broker/broker.ts";
import { type Placement, underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createLiveTopics } from "../../../src/northbound/mqtt/topics.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import { silentLog } from "../../../src/platform/log.ts";
import type { WriteBehind } from "../../../src/platform/stores/write-behind.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";
import { type PlantBroker, startPlantBroker } from "../../support/plant-broker.ts";
import { newLink } from "./link-harness.ts";
import { base, embedded, external, listen, mqttOptions, noAudit, start } from "./mqtt-harness.ts";

/** Topics that a reload moves while clients are connected. */
const cleanups: Array<() => Promise<unknown> | unknown> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const robot: StateChange = { kind: "robot", robotId: "r1", family: "cart", quality: "good" };
const source = { protocol: "mqtt", name: "e" } as const;
const hold = (eventId: string): FleetEvent => ({
  kind: "hold",
  eventId,
  robotId: "",
  atMs: 0,
  owner: source,
  to: "held",
  by: source,
});
const station = (name: string): StateChange => ({
  kind: "station",
  station: name,
  shown: { sight: unknownSight, counters: noCounters(0) },
});
const placed = (place: string): Placement => ({
  ...underBase,
  station: "plant/{place}/{station}",
  stations: [{ name: "dock", place }],
});

/** A run of the gateway at its own broker, or at one of the plant. */
async function open(first: Placement, tables: WriteBehind | null, plant?: PlantBroker, run = "s1") {
  const placement = createLive(first);
  const options = mqttOptions({
    placement,
    ...(plant === undefined ? {} : { broker: external(plant.url) }),
  });
  const clock = createManualClock();
  const topics = createLiveTopics(options);
  const parts = { topics: topics.topics, clientId: "fleetgate-test", clock: systemClock, log: silentLog };
  const broker = createBroker({ options: embedded, ...parts, audit: noAudit });
  if (plant === undefined) cleanups.push(await start(broker));
  const watcher = await listen(plant?.url ?? `mqtt://127.0.0.1:${broker.port()}`, {}, "#");
  cleanups.push(() => watcher.client.endAsync(true));
  const link = newLink({
    options,
    ...parts,
    sessionId: run,
    clock,
    tables,
    openBroker: plant === undefined ? broker.open : null,
    retained: broker.retained,
  });
  let connection = await link.connect(new AbortController().signal);
  const end = () => connection[Symbol.asyncDispose]();
  cleanups.push(end);
  let looks = 0;
  return {
    watcher,
    clock,
    end,
    show: (...changes: StateChange[]) => connection.write({ changes, events: [] }),
    /** Lets the looks of some seconds happen; what each has asked the broker for is answered. */
    async look(seconds: number) {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000);
        for (let trip = 0; trip < 2; trip += 1) {
          looks += 1;
          const code = `${run}-${looks}`;
          await connection.write({ changes: [], events: [hold(code)] });
          await watcher.receive(({ text }) => text.includes(code));
        }
      }
    },
    /** As a reload does: answers with whether the connection makes room for another. */
    async move(next: Placement): Promise<boolean> {
      placement.replace(next);
      const move = topics.follow();
      if (move.isMoved) broker.topicsMoved();
      link.topicsMoved(move);
      let movesOn = false;
      void connection.movesOn?.then(() => {
        movesOn = true;
      });
      await new Promise(setImmediate);
      if (!movesOn) return false;
      await end();
      connection = await link.connect(new AbortController().signal);
      return true;
    },
    retained: async () => (await broker.retained()).filter((topic) => !topic.startsWith("$")).sort(),
  };
}

it.each([
  ["the gateway's own broker", null],
  ["a broker that keeps them", createMemoryDisk().open()],
])("are published at the new place, and cleared at the old one: %s", async (_where, tables) => {
  const { move, show, watcher, clock, retained } = await open(placed("east"), tables);
  await show(robot, station("dock"));
  await watcher.receive(({ topic }) => topic === "plant/east/dock");
  expect(await move({ ...placed("west"), robot: "site/{robot}" })).toBe(true);
  await show(robot, station("dock"));
  await watcher.receive(({ topic }) => topic === "plant/west/dock");
  await watcher.receive(({ topic, text }) => topic === "site/r1/availability" && text === "good");
  const old = ["plant/east/dock", `${base}/robots/r1/availability`];
  const isCleared = () =>
    old.every((place) => watcher.received.some(({ topic, text }) => topic === place && text === ""));
  await expect
    .poll(() => {
      if (!isCleared()) clock.advance(1_000);
      return isCleared();
    })
    .toBe(true);
  const topics = await retained();
  expect(topics).toContain("plant/west/dock");
  expect(topics).toContain("site/r1/availability");
  expect(topics).toContain(`${base}/status`);
  expect(topics.filter((topic) => topic.includes("east") || topic.includes("/robots/"))).toEqual([]);
});

it("stay where they are when a station comes or goes, and its own come and go", async () => {
  const { move, show, watcher, retained } = await open(placed("east"), null);
  await show(robot, station("dock"));
  const both = [...placed("east").stations, { name: "gate", place: "north" }];
  expect(await move({ ...placed("east"), stations: both })).toBe(false);
  await show(station("gate"));
  await watcher.receive(({ topic }) => topic === "plant/north/gate");
  expect(await move(placed("east"))).toBe(false);
  await show({ kind: "station_removed", station: "gate" });
  await watcher.receive(({ topic, text }) => topic === "plant/north/gate" && text === "");
  expect(await retained()).toContain("plant/east/dock");
});

it("are those of the next start: it clears nothing of a robot that it has not heard yet", async () => {
  const plant = await startPlantBroker();
  cleanups.push(plant.close);
  const tables = createMemoryDisk().open();
  const moved = { ...underBase, robot: "site/{robot}" };
  const first = await open(underBase, tables, plant, "s1");
  await first.show(robot);
  expect(await first.move(moved)).toBe(true);
  await first.show(robot);
  await first.watcher.receive(({ topic }) => topic === "site/r1/availability");
  await first.look(12);
  const isCleared =
    (where: string) =>
    ({ topic, text }: { topic: string; text: string }) =>
      topic === `${where}/r1/availability` && text === "";
  expect(first.watcher.received.some(isCleared(`${base}/robots`))).toBe(true);
  await first.end();

  const second = await open(moved, tables, plant, "s2");
  await second.watcher.receive(({ topic }) => topic === "site/r1/availability");
  await second.show({ ...robot, robotId: "r2" });
  await second.look(12);
  expect(second.watcher.received.filter(isCleared("site"))).toEqual([]);
});
