import { beforeEach, describe, expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import { changeKey } from "../../src/domain/change.ts";
import type { Quality } from "../../src/domain/observed.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createFleetState, type FleetState } from "../../src/state/fleet-state.ts";
import {
  batteryEvent,
  chainEvent,
  conveyor,
  conveyorsEvent,
  missionEvent,
  rosterEvent,
  stamp,
} from "../delivery/fleet-updates.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const times = { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 300_000 };
let clock: ManualClock;
let state: FleetState;

function createState(limits: { maxRobots?: number; maxTaskChains?: number } = {}): FleetState {
  return createFleetState({
    times,
    maxRobots: 100,
    maxTaskChains: 100,
    ...limits,
    sessionId: "s1",
    clock,
    log: silentLog,
  });
}

beforeEach(() => {
  clock = createManualClock();
  state = createState();
});

/** The changes of a batch as `key=quality`. */
function published(batch: Batch): string[] {
  return batch.changes.map((change) => {
    if (change.kind === "task_chain_evicted") return `${changeKey(change)} evicted`;
    const quality = "quality" in change ? change.quality : "observed" in change && change.observed.quality;
    return `${changeKey(change)}=${quality}`;
  });
}

function qualityNow(robotId: string): Quality | undefined {
  return state.robot(robotId)?.quality;
}

const cut = (stream: string) => ({ kind: "stream", stream, state: "lost", atMs: 0 }) as const;
const live = (stream: string) => ({ kind: "stream", stream, state: "live", atMs: 0 }) as const;
const link = (up: boolean) => ({ kind: "link", state: up ? "up" : "down", atMs: 0, cause: "" }) as const;

describe("what a message changes", () => {
  it("introduces the robot, then the value, then the robot's quality", () => {
    expect(published(state.apply(missionEvent("r1", ["m1:RUNNING"])))).toEqual([
      "robot/r1=unknown",
      "mission/r1=good",
      "robot/r1=good",
    ]);
  });

  it("tells a value again that did not change, for its timestamps did", () => {
    state.apply(missionEvent("r1", ["m1:RUNNING"]));
    const batch = state.apply(missionEvent("r1", ["m1:RUNNING"], "missions", 77));
    expect(published(batch)).toEqual(["mission/r1=good"]);
    expect(batch.changes[0]).toMatchObject({ observed: { stamp: { receivedAtMs: 77, sourceTimeMs: 72 } } });
    expect(batch.events).toEqual([]);
  });

  it("knows a robot that is only expected, as unknown", () => {
    state.apply({ kind: "robot", robotId: "r1", family: "cart" });
    expect(state.robots()).toEqual([{ robotId: "r1", family: "cart", quality: "unknown" }]);
    expect(state.snapshot()).toEqual([{ kind: "robot", robotId: "r1", family: "cart", quality: "unknown" }]);
  });

  it("does not forget a family that was known", () => {
    state.apply({ kind: "robot", robotId: "r1", family: "cart" });
    expect(published(state.apply({ kind: "robot", robotId: "r1", family: "unknown" }))).toEqual([]);
    expect(state.robot("r1")?.family).toBe("cart");
  });

  it("tells every conveyor of a message", () => {
    const batch = state.apply(conveyorsEvent("r1", [conveyor(0), conveyor(1)]));
    expect(published(batch)).toContain("conveyor/0/r1=good");
    expect(published(batch)).toContain("conveyor/1/r1=good");
  });

  it("passes enum numbers on that have no name", () => {
    const strange = { kind: "unrecognised", raw: 42 } as const;
    const batch = state.apply(conveyorsEvent("r1", [conveyor(0, { operation: strange })]));
    expect(batch.changes).toContainEqual(
      expect.objectContaining({
        observed: expect.objectContaining({ value: conveyor(0, { operation: strange }) }),
      }),
    );
  });
});

describe("truth over time", () => {
  it("keeps a silent robot good while its stream lives and its snapshot is current", () => {
    state.apply(missionEvent("r1", ["m1:RUNNING"]));
    clock.advance(25_000);
    state.apply(live("missions"));
    clock.advance(25_000);
    state.apply(live("missions"));
    clock.advance(10_000);
    expect(qualityNow("r1")).toBe("good");
    clock.advance(1);
    expect(qualityNow("r1")).toBe("stale");
  });

  it("takes a message of one robot as proof of the stream for all", () => {
    state.apply(missionEvent("r1", []));
    clock.advance(20_000);
    state.apply(missionEvent("r2", []));
    clock.advance(20_000);
    expect(qualityNow("r1")).toBe("good");
  });

  it("tells each transition once: good, stale, lost", () => {
    state.apply(missionEvent("r1", ["m1:RUNNING"]));
    clock.advance(30_000);
    expect(published(state.tick())).toEqual([]);
    clock.advance(1);
    expect(published(state.tick())).toEqual(["mission/r1=stale", "robot/r1=stale"]);
    expect(published(state.tick())).toEqual([]);
    clock.advance(300_000);
    expect(published(state.tick())).toEqual(["mission/r1=lost", "robot/r1=lost"]);
    expect(published(state.tick())).toEqual([]);
  });

  it("shows a value with its own timestamps whatever its quality", () => {
    state.apply(missionEvent("r1", [], "missions", 1_234));
    clock.advance(40_000);
    const change = state.tick().changes.find((one) => one.kind === "mission");
    expect(change).toMatchObject({ observed: { quality: "stale", stamp: { receivedAtMs: 1_234 } } });
  });

  it("says at once that a stream was cut, of the robots behind it and no others", () => {
    state.apply(missionEvent("r1", [], "here"));
    state.apply(missionEvent("r2", [], "there"));
    expect(published(state.apply(cut("here")))).toEqual(["mission/r1=stale", "robot/r1=stale"]);
    expect(qualityNow("r2")).toBe("good");
  });

  it("does not trust a value again because its stream is back, only when the robot confirms it", () => {
    state.apply(missionEvent("r1", []));
    state.apply(cut("missions"));
    clock.advance(1_000);
    expect(published(state.apply(live("missions")))).toEqual([]);
    expect(qualityNow("r1")).toBe("stale");
    const confirmed = {
      kind: "confirmed",
      robotId: "r1",
      aspect: "mission",
      stream: "missions",
      atMs: 0,
    } as const;
    expect(published(state.apply(confirmed))).toEqual(["mission/r1=good", "robot/r1=good"]);
  });

  it("counts the hold from the first cut when the stream comes and goes", () => {
    state.apply(missionEvent("r1", []));
    for (let round = 0; round < 31; round += 1) {
      state.apply(cut("missions"));
      clock.advance(10_000);
      state.apply(live("missions"));
    }
    expect(qualityNow("r1")).toBe("lost");
  });

  it("revives what was only silent, without a new snapshot", () => {
    state.apply(missionEvent("r1", []));
    clock.advance(31_000);
    state.tick();
    expect(published(state.apply(live("missions")))).toEqual(["mission/r1=good", "robot/r1=good"]);
  });

  it("is offline while the link is down, and stale until the robot is heard of again", () => {
    state.apply(missionEvent("r1", []));
    expect(published(state.apply(link(false)))).toEqual(["mission/r1=offline", "robot/r1=offline"]);
    expect(published(state.apply(link(true)))).toEqual(["mission/r1=stale", "robot/r1=stale"]);
    expect(published(state.apply(missionEvent("r1", [])))).toEqual(["mission/r1=good", "robot/r1=good"]);
  });

  it("is offline from the first roster that does not list the robot, and back with the next", () => {
    state.apply(missionEvent("r1", []));
    state.apply(rosterEvent(["r1", "r2"]));
    expect(qualityNow("r1")).toBe("good");
    expect(published(state.apply(rosterEvent(["r2"])))).toEqual(
      expect.arrayContaining(["mission/r1=offline", "presence/r1=offline", "robot/r1=offline"]),
    );
    expect(published(state.apply(rosterEvent(["r1"])))).toEqual(
      expect.arrayContaining(["presence/r1=good", "mission/r1=good", "robot/r1=good"]),
    );
    expect(qualityNow("r2")).toBe("unknown");
  });

  it("tells a presence again only when it is another, and its quality whenever that is", () => {
    const same = rosterEvent(["r1"]);
    expect(published(state.apply(same))).toEqual(expect.arrayContaining(["presence/r1=good"]));
    expect(published(state.apply(same))).toEqual([]);
    expect(published(state.apply(rosterEvent(["r1"])))).toEqual(["presence/r1=good"]);
    const last = rosterEvent(["r1"]);
    state.apply(last);
    clock.advance(61_000);
    expect(published(state.tick())).toContain("presence/r1=stale");
    expect(published(state.apply(last))).toEqual(["presence/r1=good"]);
  });

  it("judges a robot's presence by the first roster after it was heard of, not by an older one", () => {
    state.apply(rosterEvent(["r2"]));
    state.apply(missionEvent("r1", []));
    expect(qualityNow("r1")).toBe("good");
    state.apply(rosterEvent(["r2"]));
    expect(qualityNow("r1")).toBe("offline");
  });

  it("is as bad as the worst of what the robot sent", () => {
    state.apply(missionEvent("r1", []));
    state.apply(batteryEvent("r1", 50));
    expect(published(state.apply(cut("batteries")))).toEqual(["battery/r1=stale", "robot/r1=stale"]);
    expect(published(state.apply(batteryEvent("r1", 49)))).toEqual(["battery/r1=good", "robot/r1=good"]);
  });

  it("judges by the monotonic clock: a wall clock set back revives nothing", () => {
    let wallMs = 1_000_000;
    const skewed = { ...clock, nowMs: () => wallMs };
    state = createFleetState({
      times,
      maxRobots: 1,
      maxTaskChains: 1,
      sessionId: "s1",
      clock: skewed,
      log: silentLog,
    });
    state.apply(missionEvent("r1", []));
    wallMs -= 3_600_000;
    clock.advance(31_000);
    expect(qualityNow("r1")).toBe("stale");
  });

  it("says nothing of a conveyor that is no longer listed, and takes it back", () => {
    state.apply(conveyorsEvent("r1", [conveyor(0), conveyor(1)]));
    expect(published(state.apply(conveyorsEvent("r1", [conveyor(0)])))).toEqual([
      "conveyor/0/r1=good",
      "conveyor/1/r1=lost",
    ]);
    expect(qualityNow("r1")).toBe("good");
    expect(published({ changes: state.snapshot(), events: [] })).toContain("conveyor/1/r1=lost");
    state.apply(conveyorsEvent("r1", [conveyor(0), conveyor(1)]));
    expect(published({ changes: state.snapshot(), events: [] })).toContain("conveyor/1/r1=good");
  });

  it("keeps a task chain good while polls find it unchanged", () => {
    const same = chainEvent(1);
    for (let polls = 0; polls < 3; polls += 1) {
      state.apply(same);
      clock.advance(20_000);
      expect(published(state.tick())).toEqual([]);
    }
    clock.advance(10_001);
    expect(published(state.tick())).toEqual(["task_chain/1=stale"]);
  });

  it("lets a task chain age while it is under way, and not when it is finished", () => {
    state.apply(chainEvent(1));
    state.apply(chainEvent(2, true));
    clock.advance(30_001);
    expect(published(state.tick())).toEqual(["task_chain/1=stale"]);
    expect(published(state.apply(link(false)))).toEqual(["task_chain/1=offline"]);
    expect(published(state.apply(link(true)))).toEqual(["task_chain/1=stale"]);
    expect(published(state.apply(chainEvent(1)))).toEqual(["task_chain/1=good"]);
    state.apply(link(false));
    expect(published(state.apply(link(true)))).toEqual(["task_chain/1=stale"]);
  });
});

describe("the value as it stands now", () => {
  it("is the very same change while nothing is different", () => {
    const [, change] = state.apply(missionEvent("r1", [])).changes;
    expect(change && state.current(change)).toBe(change);
  });

  it("has the quality of now and the newest value", () => {
    const [, first] = state.apply(missionEvent("r1", [])).changes;
    state.apply(missionEvent("r1", ["m1:RUNNING"]));
    clock.advance(31_000);
    expect(first && state.current(first)).toMatchObject({
      kind: "mission",
      observed: { quality: "stale", value: { missions: [{ missionId: "m1" }] } },
    });
  });

  it("is the newest message when two say the same", () => {
    const queue = { missions: [], currentMissionIndex: -1 };
    const say = (receivedAtMs: number) =>
      state.apply({ kind: "mission", robotId: "r1", stream: "m", stamp: stamp(receivedAtMs), queue }).changes;
    const [, first] = say(1);
    say(2);
    expect(first && state.current(first)).toMatchObject({ observed: { stamp: { receivedAtMs: 2 } } });
  });

  it("knows every kind of value", () => {
    state.apply(missionEvent("r1", []));
    state.apply(batteryEvent("r1", 9));
    state.apply(conveyorsEvent("r1", [conveyor(3)]));
    state.apply(rosterEvent(["r1"]));
    state.apply(chainEvent(7));
    const before = state.snapshot();
    expect(before.map((change) => state.current(change))).toEqual(before);
    clock.advance(31_000);
    expect(before.map((change) => state.current(change))).toEqual(state.snapshot());
  });
});

it("counts the robots that the plant was told are good", () => {
  state.apply(missionEvent("r1", ["m1:RUNNING"]));
  state.apply(missionEvent("r2", ["m2:RUNNING"]));
  expect(state.figures()).toMatchObject({ robots: 2, robotsGood: 2 });
  state.apply({ kind: "link", state: "down", atMs: 0, cause: "cut" });
  expect(state.figures()).toMatchObject({ robots: 2, robotsGood: 0 });
});

describe("bounds", () => {
  it("refuses robots beyond the limit, and counts what they sent", () => {
    state = createState({ maxRobots: 1 });
    state.apply(missionEvent("r1", []));
    const batch = state.apply(missionEvent("r2", ["m1:RUNNING"]));
    expect(batch).toEqual({ changes: [], events: [] });
    expect(state.figures()).toMatchObject({ robots: 1, eventsRefused: 1 });
  });

  it("evicts the oldest finished task chain first, and tells of it", () => {
    state = createState({ maxTaskChains: 2 });
    state.apply(chainEvent(1));
    state.apply(chainEvent(2, true));
    expect(published(state.apply(chainEvent(3)))).toEqual(["task_chain/2 evicted", "task_chain/3=good"]);
    expect(state.snapshot().map(changeKey)).toEqual(["task_chain/1", "task_chain/3"]);
    expect(state.figures()).toMatchObject({ taskChains: 2, taskChainsEvicted: 1 });
    expect(published(state.apply(chainEvent(4)))).toEqual(["task_chain/1 evicted", "task_chain/4=good"]);
  });

  it("forgets streams by which nothing comes any more", () => {
    for (let call = 0; call < 50; call += 1) state.apply(missionEvent("r1", [], `missions-${call}`));
    expect(state.figures()).toMatchObject({ streams: 1 });
  });

  it("ignores a confirmation of what never came", () => {
    const event = { kind: "confirmed", robotId: "r9", aspect: "battery", stream: "b", atMs: 0 } as const;
    expect(state.apply(event)).toEqual({ changes: [], events: [] });
    expect(state.robots()).toEqual([]);
  });

  it("takes at most 64 conveyors of a robot over its life, and those for good", () => {
    for (let index = 0; index < 200; index += 1) state.apply(conveyorsEvent("r1", [conveyor(index)]));
    const shown = state.snapshot().flatMap((change) => (change.kind === "conveyor" ? [change.observed] : []));
    expect(shown.map(({ value }) => value.index)).toEqual(Array.from({ length: 64 }, (_, index) => index));
    expect(shown.every(({ quality }) => quality === "lost")).toBe(true);
    expect(state.figures().conveyorsRefused).toBe(136);
  });

  it("takes at most 64 conveyors of a robot", () => {
    const many = Array.from({ length: 70 }, (_, index) => conveyor(index));
    state.apply({ kind: "conveyors", robotId: "r1", stream: "c", stamp: stamp(), conveyors: many });
    expect(state.figures()).toMatchObject({ conveyorsRefused: 6 });
  });
});
