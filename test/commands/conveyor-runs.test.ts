import { describe, expect, it } from "vitest";
import type { FleetEvent } from "../../src/domain/event.ts";
import type { Quality } from "../../src/domain/observed.ts";
import { createLive } from "../../src/platform/live.ts";
import { createAlarmConditions } from "../../src/state/alarm-conditions.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import {
  belt,
  type CommandsHarness,
  createHarness,
  LOST,
  mission,
  missions,
  OK,
  plc,
} from "./commands-harness.ts";
import {
  beating,
  refused,
  rigAtDock,
  rights,
  roll,
  rolling,
  STOP,
  scada,
  shows,
  standing,
  stations,
  stopsOf,
} from "./conveyor-runs-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

describe("a conveyor that a station has started is owed a stop when its lease ends", () => {
  const ends: ReadonlyArray<readonly [string, (harness: CommandsHarness) => unknown, string]> = [
    [
      "the robot leaves",
      (it) => it.see(missions("AMR01", it.clock.nowMs(), mission("n", "X"))),
      "the robot has left the station",
    ],
    ["the robot is out of sight", (it) => it.quality.set("AMR01", "offline"), "the robot is out of sight"],
    [
      "its owner releases it",
      (it) => it.dispatcher.stations.release("Dock", plc, "AMR01"),
      "the station released the robot",
    ],
    [
      "an engineer ends it",
      (it) => it.dispatcher.stations.override(scada, "AMR01"),
      "an engineer ended the lease",
    ],
    [
      "a reload takes the right",
      (it) => {
        it.setRights([{ source: plc, role: "observer" }]);
        it.dispatcher.reviewRights(() => false);
      },
      "the owner of the lease may no longer use the station",
    ],
    [
      "another station takes the robot over",
      async (it) => {
        it.dispatcher.stations.release("Dock", plc, "AMR01");
        await it.see(missions("AMR01", it.clock.nowMs(), mission("p", "P1", { state: "STATE_SUCCEEDED" })));
        expect(await it.dispatcher.stations.ask("Press", scada, "AMR01")).toBeNull();
      },
      "the station released the robot",
    ],
  ];
  it.each(ends)("when %s", async (_, end, reason) => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.stations.heartbeat("Dock", plc);
    await end(harness);
    await harness.clock.settle(1_500);
    expect(stopsOf(harness)[0]).toBe(STOP);
    expect(standing(harness)).toMatchObject([{ source: { kind: "robot", robotId: "AMR01" } }]);
    expect(standing(harness)[0]?.text).toBe(
      `AMR01 may still turn conveyor 1 (${reason}): the gateway sends stops until it is seen to stand`,
    );
    await shows(harness, "STOP");
    expect(standing(harness)).toEqual([]);
    const sent = stopsOf(harness).length;
    await harness.clock.settle(60_000);
    expect(stopsOf(harness)).toHaveLength(sent);
  });

  it("when the heartbeat lapses", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    await harness.clock.settle(7_000);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).toBeNull();
    expect(stopsOf(harness)[0]).toBe(STOP);
    expect(standing(harness)[0]?.text).toContain("the station's heartbeat has lapsed");
    await shows(harness, "STOP");
    const ended = harness.alarms().find(({ code }) => code === "CONVEYOR_NOT_STOPPED");
    expect(ended).toMatchObject({ isActive: false });
  });

  it("is sent each second until a good value shows that it stands, and ten seconds apart after a minute", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(0);
    const answerAll = async () => {
      for (const call of harness.calls) await call.answer(refused);
    };
    await answerAll();
    for (let second = 0; second < 10; second += 1) {
      await harness.clock.settle(1_000);
      await answerAll();
    }
    expect(stopsOf(harness).length).toBeGreaterThanOrEqual(9);
    for (let second = 0; second < 50; second += 1) {
      await harness.clock.settle(1_000);
      await answerAll();
    }
    const before = stopsOf(harness).length;
    for (let second = 0; second < 60; second += 1) {
      await harness.clock.settle(1_000);
      await answerAll();
    }
    expect(stopsOf(harness).length - before).toBeGreaterThanOrEqual(5);
    expect(stopsOf(harness).length - before).toBeLessThanOrEqual(8);
    expect(standing(harness)).toHaveLength(1);
    // A value that is not good shows nothing.
    const stale = belt("AMR01", harness.clock.nowMs(), 1, "OPERATION_STATE_STOP");
    if (stale.kind === "conveyor")
      await harness.see({ ...stale, observed: { ...stale.observed, quality: "stale" } });
    expect(standing(harness)).toHaveLength(1);
    await shows(harness, "STOP");
    expect(standing(harness)).toEqual([]);
  });

  it("a service that does not answer has three of its stops at most", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(12_000);
    expect(stopsOf(harness)).toHaveLength(3);
  });

  it("goes at once to a robot that is back, though three of its stops still hang", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    const shown = (quality: Quality) => {
      harness.quality.set("AMR01", quality);
      return harness.see({ kind: "robot", robotId: "AMR01", family: "cart", quality });
    };
    await shown("offline");
    await harness.clock.settle(8_000);
    expect(stopsOf(harness)).toHaveLength(3);
    // Twice the same is one return.
    for (const _time of [1, 2]) await shown("good");
    expect(stopsOf(harness)).toHaveLength(4);
    // Those from before its return do not count.
    await harness.clock.settle(8_000);
    expect(stopsOf(harness)).toHaveLength(6);
  });

  it("goes first of all when the service is reached again", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.fleetLink(false);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(30_000);
    expect(stopsOf(harness)).toEqual([]);
    harness.dispatcher.fleetLink(true);
    await harness.clock.settle(50);
    expect(stopsOf(harness)).toEqual([STOP]);
  });

  it("is not owed any more when somebody starts it anew, and is again when that start is refused", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(0);
    await harness.call(1).answer(refused);
    await roll(harness, { source: scada });
    const start = harness.calls.findLastIndex(({ operation }) => operation === "RollBelts");
    const sent = stopsOf(harness).length;
    await harness.clock.settle(3_000);
    expect(stopsOf(harness)).toHaveLength(sent);
    await harness.call(start).answer(refused);
    await harness.clock.settle(1_000);
    expect(stopsOf(harness).length).toBeGreaterThan(sent);
    await roll(harness, { source: scada });
    const again = harness.calls.findLastIndex(({ operation }) => operation === "RollBelts");
    await harness.call(again).answer(OK);
    const later = stopsOf(harness).length;
    await harness.clock.settle(30_000);
    expect(stopsOf(harness)).toHaveLength(later);
    expect(standing(harness)).toEqual([]);
  });

  it("a start of which nobody knows whether it acts keeps the debt until it cannot act any more", async () => {
    const harness = await rigAtDock();
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    await roll(harness);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(0);
    await harness.call(1).answer(OK);
    // It stands, but the start may act up to its deadline of 15 s.
    await shows(harness, "STOP");
    expect(standing(harness)).toHaveLength(1);
    await harness.call(0).answer(LOST);
    await harness.clock.settle(16_000);
    expect(standing(harness)).toHaveLength(1);
    await shows(harness, "STOP");
    expect(standing(harness)).toEqual([]);
  });

  it("a stop without an answer is no second alarm; a hold's is one", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(0);
    await harness.call(1).answer(LOST);
    await harness.clock.settle(20_000);
    const conditions = createAlarmConditions(harness.alarmRegistry, createLive({ low: 20, critical: 10 }));
    const active = () => harness.alarms().flatMap(({ code, isActive }) => (isActive ? [code] : []));
    const unknown = harness.events.filter(
      (event) => event.kind === "command" && event.outcome.outcome === "unknown",
    );
    expect(unknown.length).toBeGreaterThan(0);
    for (const event of unknown) conditions.handleEvent(event);
    expect(active()).toEqual(["CONVEYOR_NOT_STOPPED"]);
    const ofHold = { source: { protocol: "gateway", name: "fleetgate" }, requestId: "s1.hold1" } as const;
    for (const event of unknown) conditions.handleEvent({ ...event, command: ofHold } as FleetEvent);
    expect(active()).toEqual(["CONVEYOR_NOT_STOPPED", "OUTCOME_UNKNOWN"]);
  });

  it("a stop of the station is repeated if it came before the start can act no more", async () => {
    const harness = await rigAtDock();
    await harness.dispatcher.stations.ask("Dock", plc, "AMR01");
    await roll(harness);
    await harness.send("StopBelts", { robot: "AMR01", belts: [1] });
    await harness.call(1).answer(OK);
    expect(standing(harness)[0]?.text).toContain("an earlier start command may still take effect");
    await harness.clock.settle(50);
    expect(stopsOf(harness)).toEqual([STOP, STOP]);
  });

  it("a stop of the station itself settles it", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    await harness.send("StopBelts", { robot: "AMR01", belts: [1] });
    await harness.call(1).answer(OK);
    harness.dispatcher.stations.release("Dock", plc, "AMR01");
    await harness.clock.settle(30_000);
    expect(harness.calls).toHaveLength(2);
  });
});

describe("the longest run", () => {
  it("of a start through a station ends it, whatever the heartbeat does", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    await beating(harness, 17);
    expect(stopsOf(harness)).toEqual([]);
    await beating(harness, 3);
    expect(stopsOf(harness)[0]).toBe(STOP);
    expect(harness.dispatcher.stations.leaseOf("AMR01")).not.toBeNull();
    expect(standing(harness)[0]?.text).toContain("it has run for maxRunMs");
  });

  it("may be another for one conveyor of a station", async () => {
    const harness = await createHarness({ stations, options: { rights } });
    await harness.see(missions("AMR01", 0, mission("m", "P1", { state: "STATE_SUCCEEDED" })));
    await harness.dispatcher.stations.ask("Press", plc, "AMR01");
    await roll(harness, { station: "Press" });
    await harness.call(0).answer(OK);
    await harness.clock.settle(2_000);
    expect(stopsOf(harness)).toEqual([]);
    await harness.clock.settle(2_500);
    expect(stopsOf(harness)[0]).toBe(STOP);
  });

  it("of another start is that of conveyors.maxRunMs, or none", async () => {
    const free = await rigAtDock();
    await roll(free, { source: scada });
    await free.call(0).answer(OK);
    await free.clock.settle(600_000);
    expect(stopsOf(free)).toEqual([]);
    const limited = await rigAtDock({ options: { rights, maxRunMs: 30_000 } });
    await roll(limited, { source: scada });
    await limited.call(0).answer(OK);
    await limited.clock.settle(29_000);
    expect(stopsOf(limited)).toEqual([]);
    await limited.clock.settle(2_500);
    expect(stopsOf(limited)[0]).toBe(STOP);
  });
});

describe("the end of the gateway", () => {
  it("stops what stations have started, and keeps the lease", async () => {
    const harness = await rigAtDock();
    await rolling(harness);
    const closed = harness.dispatcher.close(8_000);
    await harness.clock.settle(0);
    expect(stopsOf(harness)).toEqual([STOP]);
    expect(standing(harness)[0]?.text).toContain("the gateway shuts down");
    expect(harness.dispatcher.stations.leaseOf("AMR01")).not.toBeNull();
    const late = await harness.send("StopBelts", { robot: "AMR01" });
    expect(late.outcome).toMatchObject({ code: "SHUTTING_DOWN" });
    await harness.call(1).answer(refused);
    await harness.clock.settle(2_000);
    expect(stopsOf(harness).length).toBeGreaterThan(1);
    for (const call of harness.calls) await call.answer(OK);
    await harness.clock.settle(1_000);
    await closed;
  });

  it("a start first stops what the record says is turning, without waiting for heartbeats; the lease goes on", async () => {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const journal = () =>
      openJournalOn(syncing(disk), { keepMs: 3_600_000, keepCount: 1_000 }, noRunningTime);
    await rolling(await rigAtDock({ clock, journal: journal() }));
    disk.crash();
    const next = await createHarness({
      stations,
      options: { rights },
      clock,
      journal: journal(),
      isLinkUp: false,
    });
    await next.clock.settle(2_000);
    expect(next.calls).toEqual([]);
    next.dispatcher.fleetLink(true);
    await next.clock.settle(50);
    expect(stopsOf(next)).toEqual([STOP]);
    expect(next.dispatcher.stations.leaseOf("AMR01")).toMatchObject({ station: "Dock" });
    expect(standing(next)[0]?.text).toContain("the gateway has restarted");
    await shows(next, "STOP");
    expect(standing(next)).toEqual([]);
    disk.crash();
    const third = await createHarness({ stations, options: { rights }, clock, journal: journal() });
    await third.clock.settle(60_000);
    expect(third.calls).toEqual([]);
  });

  it("a start whose outcome the crash took is stopped too", async () => {
    const disk = createLossyDisk();
    const clock = createManualClock();
    const journal = () =>
      openJournalOn(syncing(disk), { keepMs: 3_600_000, keepCount: 1_000 }, noRunningTime);
    const first = await rigAtDock({ clock, journal: journal() });
    await first.dispatcher.stations.ask("Dock", plc, "AMR01");
    await roll(first);
    disk.crash();
    const next = await createHarness({ stations, options: { rights }, clock, journal: journal() });
    await next.clock.settle(50);
    expect(stopsOf(next)).toEqual([STOP]);
  });
});
