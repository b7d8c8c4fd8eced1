import { expect, it } from "vitest";
import type { AlarmCode, AlarmSource } from "../../src/domain/alarm.ts";
import { ofGateway } from "../../src/domain/alarm.ts";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { TableFollower } from "../../src/platform/stores/write-behind.ts";
import { createAlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createAlarmStore } from "../../src/state/alarm-store.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk } from "../support/memory-tables.ts";

const clock = createManualClock();
const robot: AlarmSource = { kind: "robot", robotId: "r1" };
const by = { protocol: "web", name: "eva" } as const;

/** The alarms of one box. The leader's tables reach the follower. */
function openBox(disk = createMemoryDisk()) {
  const followers = new Map<string, TableFollower>();
  let role: "leads" | "follows" | "alone" = "alone";
  const shared = {
    isLeading: () => role === "leads",
    isFollowing: () => role === "follows",
    follow: (name: string, follower: TableFollower) => void followers.set(name, follower),
  };
  const store = createAlarmStore({ ...disk.open(), shared });
  const events: FleetEvent[] = [];
  const eventId = ({ alarm, to }: { alarm: { id: string; occurrences: number }; to: string }) =>
    `${alarm.id}.${alarm.occurrences}.${to}`;
  const registry = createAlarmRegistry(clock, store.load(), eventId, shared);
  store.follow(registry, () => {});
  const state = (code: AlarmCode, holds: boolean, source: AlarmSource = robot, text = "it is so") =>
    registry.state(source, code, { holds, text });
  return {
    ...{ registry, disk, state },
    /** The events since the last call. */
    take() {
      const { events: taken, changes } = registry.take();
      events.push(...taken);
      if (changes !== null) store.keep(changes);
      return events.splice(0).map((event) => event.kind === "alarm" && [event.alarm.code, event.to]);
    },
    ids: (source: AlarmSource) => registry.of(source).map(({ id }) => id),
    lead() {
      role = "leads";
      for (const follower of followers.values()) follower.lead();
    },
    /** All that the leader has, now. */
    async follow(leader: { readonly disk: ReturnType<typeof createMemoryDisk> }) {
      role = "follows";
      await new Promise(setImmediate);
      for (const [name, follower] of followers) {
        const own = [...leader.disk.records].filter(([key]) => key.startsWith(`${name}/`));
        follower.all(new Map(own.map(([key, value]) => [key.slice(name.length + 1), value])));
      }
    },
  };
}

it("a standby shows the leader's alarms, and goes on with them when it leads", async () => {
  const [a, b] = [openBox(), openBox()];
  a.lead();
  await b.follow(a);
  for (const box of [a, b]) {
    box.state("BATTERY_CRITICAL", true);
    box.take();
  }
  clock.advance(3_000);
  expect(a.take()).toEqual([["BATTERY_CRITICAL", "active"]]);
  expect(b.take()).toEqual([]);
  expect(b.ids(robot)).toEqual([]);
  await b.follow(a);
  expect(b.take()).toEqual([["BATTERY_CRITICAL", "active"]]);
  expect(b.ids(robot)).toEqual(a.ids(robot));

  a.registry.acknowledge(a.ids(robot)[0] ?? "", by);
  a.take();
  await b.follow(a);
  expect(b.take()).toEqual([["BATTERY_CRITICAL", "acknowledged"]]);
  b.lead();
  clock.advance(60_000);
  expect(b.take()).toEqual([]);
  expect(b.registry.of(robot)).toEqual(a.registry.of(robot));
  b.state("BATTERY_CRITICAL", false);
  clock.advance(60_000);
  expect(b.take()).toEqual([["BATTERY_CRITICAL", "inactive"]]);
  expect(b.ids(robot)).toEqual([]);
});

it("an alarm that was acknowledged away is not raised again by a successor that sees its condition", async () => {
  const [a, b] = [openBox(), openBox()];
  a.lead();
  await b.follow(a);
  for (const box of [a, b]) box.state("MISSION_FAILED", true);
  a.take();
  await b.follow(a);
  b.take();
  a.registry.acknowledge(a.ids(robot)[0] ?? "", by);
  a.take();
  await b.follow(a);
  b.lead();
  clock.advance(60_000);
  b.take();
  expect(b.ids(robot)).toEqual([]);
  b.state("MISSION_FAILED", true, robot, "another one");
  b.take();
  expect(b.ids(robot)).toHaveLength(1);
});

it("what only the leader has found, and what is put out of service, is known to the successor", async () => {
  const [a, b] = [openBox(), openBox()];
  a.lead();
  a.state("OUTCOME_UNKNOWN", true, ofGateway);
  a.state("FOREIGN_MISSIONS", true);
  a.registry.putOutOfService("r2", true);
  a.take();
  await b.follow(a);
  b.take();
  expect(b.ids(ofGateway)).toEqual(a.ids(ofGateway));
  expect(b.registry.isOutOfService("r2")).toBe(true);
  b.lead();
  b.take();
  expect(b.ids(ofGateway)).toEqual(a.ids(ofGateway));
  // Its condition is found anew, or is over.
  expect(b.registry.of(robot)).toMatchObject([{ code: "FOREIGN_MISSIONS", isActive: false }]);
});

it("what a gateway that ran alone has kept about its box is not shared", async () => {
  const disk = createMemoryDisk();
  const alone = createAlarmStore(disk.open());
  const registry = createAlarmRegistry(clock, alone.load(), () => "e");
  registry.state(ofGateway, "DISK_FULL", { holds: true, text: "it is full" });
  registry.state(robot, "ROBOT_LOST", { holds: true, text: "it is lost" });
  const { changes } = registry.take();
  alone.keep(changes ?? expect.fail("nothing has changed"));
  await new Promise(setImmediate);
  const member = openBox(disk);
  expect(member.registry.all().map(({ code }) => code)).toEqual(["ROBOT_LOST"]);
  member.lead();
  await new Promise(setImmediate);
  expect([...disk.records.keys()].filter((key) => key.includes("DISK_FULL"))).toEqual([]);
});

it("an alarm about a box is that box's own", async () => {
  const [a, b] = [openBox(), openBox()];
  a.lead();
  a.state("DISK_FULL", true, ofGateway);
  a.take();
  await b.follow(a);
  b.state("CERTIFICATE_EXPIRES", true, ofGateway);
  expect(b.take()).toEqual([["CERTIFICATE_EXPIRES", "active"]]);
  await b.follow(a);
  expect(b.registry.of(ofGateway).map(({ code }) => code)).toEqual(["CERTIFICATE_EXPIRES"]);
  await new Promise(setImmediate);
  const keys = [...a.disk.records.keys()];
  expect(keys.filter((key) => key.includes("DISK_FULL"))).toMatchObject([
    expect.stringMatching(/^box-alarms/),
  ]);
});
