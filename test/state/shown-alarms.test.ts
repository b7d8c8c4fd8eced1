import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import type { Alarm } from "../../src/domain/alarm.ts";
import { ofGateway } from "../../src/domain/alarm.ts";
import type { StateChange } from "../../src/domain/change.ts";
import { createLive } from "../../src/platform/live.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createPlantView } from "../../src/state/plant-view.ts";
import { createManualClock } from "../support/manual-clock.ts";

const robots = Array.from({ length: 1_000 }, (_, index) => `r${index}`);

function shownState(dataDir = mkdtempSync(join(tmpdir(), "alarms-")), log = silentLog) {
  const clock = createManualClock();
  const known: StateChange[] = [];
  const battery = createLive({ low: 20, critical: 10 });
  const state = {
    snapshot: (): readonly StateChange[] => known,
    current: (change: StateChange) => change,
    robots: () => [],
  };
  const shown = createPlantView({
    state,
    holdState: () => ({ isHeld: false, by: [], isStored: true }),
    stations: createLive([{ name: "dock", destinations: ["D1"] }]),
    battery,
    dataDir,
    sessionId: "s1",
    clock,
    log,
  });
  return { shown, clock, dataDir, known, battery };
}

const quality = (robotId: string, value: "good" | "lost"): StateChange => {
  return { kind: "robot", robotId, family: "cart", quality: value };
};
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
    const { shown, known, battery } = shownState();
    const value = { chargePercent: 40, state: "STATE_DISCHARGING" } as const;
    const stamp = { sourceTimeMs: 0, sequence: 1, receivedAtMs: 0 };
    const observed = { value, quality: "good", stamp } as never;
    const charge = { kind: "battery", robotId: "r1", observed } as const;
    shown.withAlarms(batch(quality("r1", "good"), charge));
    known.push(charge);
    expect(shownBy(shown.evaluateBatteries())).toEqual({});
    battery.replace({ low: 45, critical: 10 });
    expect(shownBy(shown.evaluateBatteries())).toEqual({ r1: ["BATTERY_LOW"], all: ["BATTERY_LOW"] });
    // Five percent more end it.
    battery.replace({ low: 35, critical: 10 });
    expect(shownBy(shown.evaluateBatteries())).toMatchObject({ r1: ["BATTERY_LOW"] });
    battery.replace({ low: 34, critical: 10 });
    shown.evaluateBatteries();
    expect(shown.alarmRegistry.holds({ kind: "robot", robotId: "r1" }, "BATTERY_LOW")).toBe(false);
  });
});

describe("a robot's clock", () => {
  const battery = (receivedAtMs: number, isClockWrong?: true): StateChange => ({
    kind: "battery",
    robotId: "r1",
    observed: {
      value: { chargePercent: 80, state: "STATE_DISCHARGING", chargeMethod: "CHARGE_METHOD_NONE" },
      stamp: { sourceTimeMs: 0, sequence: 1, receivedAtMs, ...(isClockWrong && { isClockWrong }) },
      quality: "good",
    },
  });

  it("is an alarm while the robot's newest message has an impossible time", () => {
    const { shown } = shownState();
    expect(shownBy(shown.withAlarms(batch(battery(5, true))))).toMatchObject({ r1: ["ROBOT_CLOCK"] });
    const holds = () => shown.alarmRegistry.holds({ kind: "robot", robotId: "r1" }, "ROBOT_CLOCK");
    shown.withAlarms(batch(battery(4)));
    expect(holds()).toBe(true);
    shown.withAlarms(batch(battery(6)));
    expect(holds()).toBe(false);
  });
});

describe("a cut link", () => {
  it("is one alarm, and five messages at most, with 1,000 robots", () => {
    const { shown, clock } = shownState();
    shown.withAlarms(batch(...robots.map((robotId) => quality(robotId, "good"))));
    shown.alarmRegistry.state(ofGateway, "FLEET_LINK_DOWN", { holds: true, text: "cut" });
    clock.advance(10_000);
    const raised = shown.withAlarms(batch());
    clock.advance(300_000);
    const lost = shown.withAlarms(batch(...robots.map((robotId) => quality(robotId, "lost"))));
    const later = shown.withAlarms(batch());
    const more = [raised, lost, later].flatMap(({ changes, events }) => [
      ...changes.filter(({ kind }) => kind !== "robot"),
      ...events,
    ]);
    expect(more.length).toBeLessThanOrEqual(5);
    expect(codes(shown.alarmRegistry.all())).toEqual(["FLEET_LINK_DOWN"]);
  });

  it("that is mended raises what is still wrong", () => {
    const { shown, clock } = shownState();
    shown.alarmRegistry.state(ofGateway, "FLEET_LINK_DOWN", { holds: true, text: "cut" });
    clock.advance(10_000);
    shown.withAlarms(batch(quality("r1", "lost"), quality("r2", "lost")));
    shown.alarmRegistry.state(ofGateway, "FLEET_LINK_DOWN", { holds: false, text: "" });
    shown.withAlarms(batch(quality("r2", "good")));
    clock.advance(10_000);
    shown.withAlarms(batch());
    shown.withAlarms(batch());
    expect(codes(shown.alarmRegistry.all())).toEqual(["FLEET_LINK_DOWN", "ROBOT_LOST"]);
  });
});

describe("what northbounds show", () => {
  it("is told for each robot, also that it has no alarm", () => {
    const { shown } = shownState();
    expect(shownBy(shown.withAlarms(batch(quality("r1", "good"))))).toEqual({ r1: [] });
    expect(shownBy(shown.withAlarms(batch(quality("r1", "good"))))).toEqual({});
    expect(shownBy(shown.withAlarms(batch(quality("r1", "lost"))))).toEqual({
      r1: ["ROBOT_LOST"],
      all: ["ROBOT_LOST"],
    });
  });

  it("is whole in a snapshot, and current in what was queued", () => {
    const { shown } = shownState();
    const [, queued] = shown.withAlarms(batch(quality("r1", "good"))).changes;
    shown.withAlarms(batch(quality("r1", "lost")));
    expect(shownBy({ changes: shown.snapshot(), events: [] })).toEqual({
      r1: ["ROBOT_LOST"],
      dock: [],
      all: ["ROBOT_LOST"],
    });
    if (queued === undefined) throw new Error("nothing was queued");
    expect(shownBy(batch(shown.current(queued)))).toEqual({ r1: ["ROBOT_LOST"] });
  });
});

describe("a restart", () => {
  it("finds the alarms, who acknowledged them, and the robots out of service", async () => {
    const first = shownState();
    first.shown.withAlarms(batch(quality("r1", "lost")));
    const [alarm] = first.shown.alarmRegistry.all();
    first.shown.alarmRegistry.acknowledge(alarm?.id ?? "", { protocol: "mqtt", name: "hmi" });
    first.shown.alarmRegistry.putOutOfService("r9", true);
    first.shown.withAlarms(batch());
    await first.shown.settled();
    const { shown } = shownState(first.dataDir);
    expect(shown.alarmRegistry.all()).toMatchObject([
      { id: alarm?.id, code: "ROBOT_LOST", isActive: true, acknowledged: { by: { name: "hmi" } } },
    ]);
    expect(shown.alarmRegistry.isOutOfService("r9")).toBe(true);
  });

  it.each(["", "{", "[1]", '{"alarms":[{"id":1},7,null],"outOfService":[3],"lastId":"x"}'])(
    "with a damaged file (%s) begins with no alarm",
    (text) => {
      const { dataDir } = shownState();
      writeFileSync(join(dataDir, "alarms.json"), text);
      const { shown } = shownState(dataDir);
      expect(shown.alarmRegistry.kept()).toEqual({ alarms: [], outOfService: [], lastId: 0 });
      expect(readFileSync(join(dataDir, "alarms.json"), "utf8")).toBe(text);
    },
  );
});
