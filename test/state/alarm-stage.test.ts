import { describe, expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { type Alarm, ofGateway } from "../../src/domain/alarm.ts";
import type { StateChange } from "../../src/domain/change.ts";
import { createLive } from "../../src/platform/live.ts";
import { createAlarmRegistry } from "../../src/state/alarm-registry.ts";
import { createAlarmStage } from "../../src/state/alarm-stage.ts";
import { createAlarmStore } from "../../src/state/alarm-store.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createMemoryDisk } from "../support/memory-tables.ts";

const robots = Array.from({ length: 1_000 }, (_, index) => `r${index}`);

function openAlarms(disk = createMemoryDisk()) {
  const clock = createManualClock();
  const known: StateChange[] = [];
  const battery = createLive({ low: 20, critical: 10 });
  const tables = disk.open();
  const store = createAlarmStore(tables);
  let events = 0;
  const registry = createAlarmRegistry(clock, store.load(), () => `e${++events}`);
  const stage = createAlarmStage(registry, store, battery);
  const before = { snapshot: () => known, current: (change: StateChange) => change };
  const view = stage.view?.(before) ?? expect.fail("it has no view");
  const apply = (batch: Batch) => stage.apply(batch, () => expect.fail("an alarm waits for nothing"));
  return { stage, apply, view, registry, disk, tables, clock, known, battery };
}

const quality = (robotId: string, value: "good" | "lost"): StateChange => {
  return { kind: "robot", robotId, family: "cart", quality: value };
};
const noSight = { here: null, next: null, quality: "good" };
const dock = { kind: "station", station: "dock", shown: { sight: noSight } } as unknown as StateChange;
const batch = (...changes: readonly StateChange[]): Batch => ({ changes, events: [] });
const codes = (alarms: readonly Alarm[]) => alarms.map(({ code }) => code);

/** The alarms of each source that a batch shows. */
function shownBy({ changes }: Batch): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    changes.flatMap((change): Array<[string, readonly string[]]> => {
      switch (change.kind) {
        case "alarms":
          return [["all", codes(change.alarms)]];
        case "robot_alarms":
          return [[change.robotId, codes(change.alarms)]];
        case "station_alarms":
          return [[change.station, codes(change.alarms)]];
        default:
          return [];
      }
    }),
  );
}

describe("limits of batteries that change", () => {
  it("raise and end alarms by the values that are known", () => {
    const { stage, apply, registry, battery } = openAlarms();
    const value = { chargePercent: 40, state: "STATE_DISCHARGING" } as const;
    const stamp = { sourceTimeMs: 0, sequence: 1, receivedAtMs: 0 };
    const observed = { value, quality: "good", stamp } as never;
    const charge = { kind: "battery", robotId: "r1", observed } as const;
    const review = () => {
      stage.reviewBatteries([quality("r1", "good"), charge]);
      return shownBy(apply(batch()));
    };
    apply(batch(quality("r1", "good"), charge));
    expect(review()).toEqual({});
    battery.replace({ low: 45, critical: 10 });
    expect(review()).toEqual({ r1: ["BATTERY_LOW"], all: ["BATTERY_LOW"] });
    // Five percent more end it.
    battery.replace({ low: 35, critical: 10 });
    expect(review()).toMatchObject({ r1: ["BATTERY_LOW"] });
    battery.replace({ low: 34, critical: 10 });
    review();
    expect(registry.holds({ kind: "robot", robotId: "r1" }, "BATTERY_LOW")).toBe(false);
  });
});

describe("a robot's clock", () => {
  const DAY_MS = 86_400_000;
  const mission = (receivedAtMs: number): StateChange => ({
    kind: "mission",
    robotId: "r1",
    observed: {
      value: { missions: [], currentMissionIndex: -1 },
      stamp: { sourceTimeMs: 0, sequence: 1, receivedAtMs },
      quality: "good",
    },
  });
  const battery = (receivedAtMs: number, isClockWrong?: true): StateChange => ({
    kind: "battery",
    robotId: "r1",
    observed: {
      value: { chargePercent: 80, state: "STATE_DISCHARGING", chargeMethod: "CHARGE_METHOD_NONE" },
      stamp: { sourceTimeMs: 0, sequence: 1, receivedAtMs, ...(isClockWrong && { isClockWrong }) },
      quality: "good",
    },
  });

  const holdsIn = ({ registry }: ReturnType<typeof openAlarms>) =>
    registry.holds({ kind: "robot", robotId: "r1" }, "ROBOT_CLOCK");

  it("is an alarm while the robot's newest message has an impossible time", () => {
    const alarms = openAlarms();
    const wrong = battery(5, true);
    expect(shownBy(alarms.apply(batch(wrong)))).toMatchObject({ r1: ["ROBOT_CLOCK"] });
    expect(holdsIn(alarms)).toBe(true);
    alarms.apply(batch(mission(6)));
    expect(holdsIn(alarms)).toBe(false);
    // As when its quality was bad for a while: it is no newer message.
    alarms.apply(batch(wrong));
    expect(holdsIn(alarms)).toBe(false);
  });

  it("is judged by what comes after the wall clock was set back, too", () => {
    const alarms = openAlarms();
    alarms.apply(batch(battery(DAY_MS, true)));
    alarms.apply(batch(battery(5)));
    expect(holdsIn(alarms)).toBe(false);
    alarms.apply(batch(battery(6, true)));
    expect(holdsIn(alarms)).toBe(true);
  });
});

describe("a cut link", () => {
  it("is one alarm, and five messages at most, with 1,000 robots", () => {
    const { apply, registry, clock } = openAlarms();
    apply(batch(...robots.map((robotId) => quality(robotId, "good"))));
    registry.state(ofGateway, "FLEET_LINK_DOWN", { holds: true, text: "cut" });
    clock.advance(10_000);
    const raised = apply(batch());
    clock.advance(300_000);
    const lost = apply(batch(...robots.map((robotId) => quality(robotId, "lost"))));
    const later = apply(batch());
    const more = [raised, lost, later].flatMap(({ changes, events }) => [
      ...changes.filter(({ kind }) => kind !== "robot"),
      ...events,
    ]);
    expect(more.length).toBeLessThanOrEqual(5);
    expect(codes(registry.all())).toEqual(["FLEET_LINK_DOWN"]);
  });

  it("that is mended raises what is still wrong", () => {
    const { apply, registry, clock } = openAlarms();
    registry.state(ofGateway, "FLEET_LINK_DOWN", { holds: true, text: "cut" });
    clock.advance(10_000);
    apply(batch(quality("r1", "lost"), quality("r2", "lost")));
    registry.state(ofGateway, "FLEET_LINK_DOWN", { holds: false, text: "" });
    apply(batch(quality("r2", "good")));
    clock.advance(10_000);
    apply(batch());
    apply(batch());
    expect(codes(registry.all())).toEqual(["FLEET_LINK_DOWN", "ROBOT_LOST"]);
  });
});

describe("what northbounds show", () => {
  it("is told for each robot, also that it has no alarm", () => {
    const { apply } = openAlarms();
    expect(shownBy(apply(batch(quality("r1", "good"))))).toEqual({ r1: [] });
    expect(shownBy(apply(batch(quality("r1", "good"))))).toEqual({});
    expect(shownBy(apply(batch(quality("r1", "lost"))))).toEqual({
      r1: ["ROBOT_LOST"],
      all: ["ROBOT_LOST"],
    });
  });

  it("is whole in a snapshot, and current in what was queued", () => {
    const { apply, view, known } = openAlarms();
    known.push(quality("r1", "lost"), dock);
    const [, queued] = apply(batch(quality("r1", "good"))).changes;
    apply(batch(quality("r1", "lost")));
    expect(shownBy({ changes: view.snapshot(), events: [] })).toEqual({
      r1: ["ROBOT_LOST"],
      dock: [],
      all: ["ROBOT_LOST"],
    });
    if (queued === undefined) throw new Error("nothing was queued");
    expect(shownBy(batch(view.current(queued)))).toEqual({ r1: ["ROBOT_LOST"] });
  });
});

describe("a restart", () => {
  it("finds the alarms, who acknowledged them, and the robots out of service", async () => {
    const first = openAlarms();
    first.apply(batch(quality("r1", "lost")));
    const [alarm] = first.registry.all();
    first.registry.acknowledge(alarm?.id ?? "", { protocol: "mqtt", name: "hmi" }, "seen");
    first.registry.putOutOfService("r9", true);
    first.apply(batch());
    await first.tables.flushed();
    const { registry } = openAlarms(first.disk);
    expect(registry.all()).toMatchObject([
      {
        ...{ id: alarm?.id, code: "ROBOT_LOST", isActive: true, revision: 2 },
        ...{ acknowledged: { by: { name: "hmi" } }, comment: { text: "seen" } },
      },
    ]);
    expect(registry.isOutOfService("r9")).toBe(true);
  });

  it("writes only what is new", async () => {
    const { apply, registry, disk, tables } = openAlarms();
    apply(batch(...robots.map((robotId) => quality(robotId, "lost"))));
    await tables.flushed();
    expect(disk.records.size).toBe(robots.length + 1);
    const [alarm] = registry.all();
    registry.acknowledge(alarm?.id ?? "", { protocol: "mqtt", name: "hmi" });
    apply(batch());
    await tables.flushed();
    expect(disk.writes.at(-1)).toEqual([`alarms/${alarm?.id}`]);
  });

  it("knows nothing of alarms that are over, and of robots that are back in service", async () => {
    const { apply, registry, disk, tables } = openAlarms();
    apply(batch(quality("r1", "lost"), quality("r2", "lost")));
    registry.putOutOfService("r9", true);
    apply(batch());
    const [alarm] = registry.of({ kind: "robot", robotId: "r1" });
    registry.acknowledge(alarm?.id ?? "", { protocol: "mqtt", name: "hmi" });
    registry.putOutOfService("r9", false);
    apply(batch(quality("r1", "good")));
    await tables.flushed();
    const [other] = registry.all();
    expect([...disk.records.keys()].sort()).toEqual(["alarm-ids/last", `alarms/${other?.id}`]);
    expect(other?.source).toEqual({ kind: "robot", robotId: "r2" });
  });

  it.each([{ id: 1 }, 7, null])(
    "with a damaged alarm (%j) begins with none, and keeps the rest",
    (record) => {
      const disk = createMemoryDisk();
      disk.records.set("alarms/a1", record).set("out-of-service/r9", true).set("alarm-ids/last", 7);
      const { registry } = openAlarms(disk);
      expect(registry.kept()).toEqual({ alarms: [], outOfService: ["r9"], lastId: 7 });
    },
  );
});

it("a command of which a standby knows no outcome is no alarm: the leader tells it", () => {
  const { apply, registry } = openAlarms();
  const told = (code: string) => {
    const command = {
      source: { protocol: "mqtt", name: "scada" },
      requestId: "c1",
      operation: "CreateMission",
    };
    const outcome = { outcome: "unknown", code, message: "", retrySafe: false };
    const event = { kind: "command", robotId: "r1", operation: "CreateMission", command, outcome } as never;
    apply({ changes: [], events: [event] });
    return codes(registry.all());
  };
  expect(told("STANDBY")).toEqual([]);
  expect(told("OUTCOME_UNKNOWN")).toEqual(["OUTCOME_UNKNOWN"]);
});
