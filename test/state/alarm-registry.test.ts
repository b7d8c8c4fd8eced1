import { beforeEach, describe, expect, it } from "vitest";
import type { AlarmCode, AlarmSource } from "../../src/domain/alarm.ts";
import { type AlarmRegistry, createAlarmRegistry, type KeptAlarms } from "../../src/state/alarm-registry.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";

const robot = { kind: "robot", robotId: "cart-01" } as const satisfies AlarmSource;
const gateway = { kind: "gateway" } as const satisfies AlarmSource;
const operator = { protocol: "mqtt", name: "hmi" } as const;
const none: KeptAlarms = { alarms: [], outOfService: [], lastId: 0 };

let clock: ManualClock;
let registry: AlarmRegistry;
let events = 0;

function open(kept = none): AlarmRegistry {
  return createAlarmRegistry(clock, kept, () => `e${++events}`);
}

beforeEach(() => {
  clock = createManualClock();
  events = 0;
  registry = open();
});

const says = (code: AlarmCode, holds: boolean, text = "found", source: AlarmSource = robot) =>
  registry.state(source, code, { holds, text });
const told = () =>
  registry.take().events.map((event) => {
    if (event.kind !== "alarm") throw new Error(`an event of ${event.kind}`);
    return `${event.alarm.code} ${event.from} → ${event.to}`;
  });
const active = (source: AlarmSource = robot) =>
  registry.of(source).map(({ code, isActive, acknowledged }) => {
    return `${code} ${isActive ? "active" : "returned"}${acknowledged === null ? "" : ", acknowledged"}`;
  });
const idOf = (code: AlarmCode) => registry.all().find((alarm) => alarm.code === code)?.id ?? "none";

describe("delays", () => {
  it("raise an alarm when its condition has held for long enough, and not before", () => {
    says("ROBOT_EXCEPTION", true);
    clock.advance(1_999);
    expect(told()).toEqual([]);
    says("ROBOT_EXCEPTION", true);
    clock.advance(1);
    expect(told()).toEqual(["ROBOT_EXCEPTION inactive → active"]);
    expect(active()).toEqual(["ROBOT_EXCEPTION active"]);
  });

  it("raise nothing that has ended before", () => {
    says("ROBOT_EXCEPTION", true);
    clock.advance(1_999);
    says("ROBOT_EXCEPTION", false);
    clock.advance(10_000);
    expect(told()).toEqual([]);
    expect(registry.all()).toEqual([]);
  });

  it("let an alarm return when its condition has been away for long enough", () => {
    says("ROBOT_EXCEPTION", true);
    clock.advance(2_000);
    told();
    says("ROBOT_EXCEPTION", false);
    clock.advance(4_999);
    expect(told()).toEqual([]);
    says("ROBOT_EXCEPTION", true);
    says("ROBOT_EXCEPTION", false);
    clock.advance(4_999);
    expect(told()).toEqual([]);
    clock.advance(1);
    expect(told()).toEqual(["ROBOT_EXCEPTION active → inactive"]);
    expect(active()).toEqual(["ROBOT_EXCEPTION returned"]);
  });
});

describe("acknowledging", () => {
  beforeEach(() => {
    says("ROBOT_LOST", true);
    told();
  });

  it("an active alarm: it stands until it returns", () => {
    registry.acknowledge(idOf("ROBOT_LOST"), operator);
    expect(registry.of(robot)).toMatchObject([{ acknowledged: { by: operator } }]);
    expect(told()).toEqual(["ROBOT_LOST active → acknowledged"]);
    expect(active()).toEqual(["ROBOT_LOST active, acknowledged"]);
    says("ROBOT_LOST", false);
    expect(told()).toEqual(["ROBOT_LOST active → inactive"]);
    expect(registry.all()).toEqual([]);
  });

  it("one that has returned: it is over", () => {
    says("ROBOT_LOST", false);
    told();
    registry.acknowledge(idOf("ROBOT_LOST"), operator);
    expect(told()).toEqual(["ROBOT_LOST inactive → acknowledged"]);
    expect(registry.all()).toEqual([]);
  });

  it("twice is no second event", () => {
    const id = idOf("ROBOT_LOST");
    registry.acknowledge(id, operator);
    told();
    registry.acknowledge(id, { protocol: "mqtt", name: "other" });
    expect(registry.of(robot)).toMatchObject([{ acknowledged: { by: operator } }]);
    expect(told()).toEqual([]);
  });

  it("an id that nobody knows changes nothing", () => {
    registry.acknowledge("ROBOT_LOST-0", operator);
    expect(told()).toEqual([]);
  });

  it("is wanted anew when the alarm comes again, or says something else", () => {
    registry.acknowledge(idOf("ROBOT_LOST"), operator);
    says("ROBOT_LOST", true, "something else");
    expect(told()).toEqual(["ROBOT_LOST active → acknowledged", "ROBOT_LOST active → active"]);
    expect(active()).toEqual(["ROBOT_LOST active"]);
    expect(registry.of(robot)).toMatchObject([{ text: "something else", occurrences: 2 }]);
  });
});

describe("commenting", () => {
  const shown = () =>
    registry.of(robot).map(({ revision, comment }) => `${revision} ${comment?.by.name}: ${comment?.text}`);

  it("shows the newest comment and its user, and is no event", () => {
    says("ROBOT_LOST", true);
    told();
    registry.comment(idOf("ROBOT_LOST"), operator, "in the workshop");
    expect(registry.take()).toMatchObject({ sources: [robot], events: [] });
    expect(shown()).toEqual([`2 ${operator.name}: in the workshop`]);
    registry.comment(idOf("ROBOT_LOST"), { protocol: "mqtt", name: "other" }, "back at noon");
    expect(shown()).toEqual(["3 other: back at noon"]);
  });

  it("comes with an acknowledgement, which without a comment keeps the earlier one", () => {
    says("ROBOT_LOST", true);
    told();
    registry.comment(idOf("ROBOT_LOST"), operator, "in the workshop");
    registry.acknowledge(idOf("ROBOT_LOST"), operator);
    expect(shown()).toEqual([`3 ${operator.name}: in the workshop`]);
    says("ROBOT_LOST", true, "something else");
    registry.acknowledge(idOf("ROBOT_LOST"), operator, "seen");
    expect(shown()).toEqual([`5 ${operator.name}: seen`]);
  });

  it("of an id that nobody knows changes nothing", () => {
    registry.comment("ROBOT_LOST-0", operator, "in the workshop");
    expect(registry.take()).toEqual({ sources: [], events: [], changes: null });
  });
});

it("numbers every change of an alarm", () => {
  const revisions = () => registry.of(robot).map(({ revision }) => revision);
  says("ROBOT_EXCEPTION", true);
  clock.advance(2_000);
  told();
  expect(revisions()).toEqual([1]);
  says("ROBOT_EXCEPTION", true, "something else");
  told();
  expect(revisions()).toEqual([2]);
  says("ROBOT_EXCEPTION", false);
  clock.advance(5_000);
  told();
  expect(revisions()).toEqual([3]);
  expect(registry.of(robot)).toMatchObject([{ changedAtMs: clock.nowMs() }]);
});

it("the same alarm that comes again before it is acknowledged is counted, under its id", () => {
  says("ROBOT_LOST", true);
  told();
  const id = idOf("ROBOT_LOST");
  says("ROBOT_LOST", false);
  told();
  clock.advance(60_000);
  says("ROBOT_LOST", true);
  expect(told()).toEqual(["ROBOT_LOST inactive → active"]);
  expect(registry.of(robot)).toMatchObject([{ id, occurrences: 2, returnedAtMs: null }]);
});

it("an outcome that nobody knows stands until it is acknowledged", () => {
  says("OUTCOME_UNKNOWN", true, "nobody can tell of c1");
  told();
  clock.advance(3_600_000);
  expect(told()).toEqual([]);
  registry.acknowledge(idOf("OUTCOME_UNKNOWN"), operator);
  expect(registry.all()).toEqual([]);
});

describe("a failed mission", () => {
  beforeEach(() => {
    says("MISSION_FAILED", true, "mission m1 failed");
    told();
  });

  it("stands until the robot's next mission, acknowledged or not", () => {
    says("MISSION_FAILED", false);
    expect(told()).toEqual(["MISSION_FAILED active → inactive"]);
    expect(registry.all()).toEqual([]);
  });

  it("is over when it is acknowledged, though the queue still lists it; another one is not", () => {
    registry.acknowledge(idOf("MISSION_FAILED"), operator);
    says("MISSION_FAILED", true, "mission m1 failed");
    expect(told()).toEqual(["MISSION_FAILED active → acknowledged"]);
    expect(registry.all()).toEqual([]);
    says("MISSION_FAILED", true, "mission m2 failed");
    expect(told()).toEqual(["MISSION_FAILED inactive → active"]);
  });
});

it("one cause is one alarm: a cut link is, the robots that are lost with it are not", () => {
  says("FLEET_LINK_DOWN", true, "no connection", gateway);
  says("ROBOT_LOST", true);
  clock.advance(10_000);
  expect(told()).toEqual(["FLEET_LINK_DOWN inactive → active"]);
  says("FLEET_LINK_DOWN", false, "", gateway);
  clock.advance(9_999);
  expect(told()).toEqual([]);
  clock.advance(1);
  // What is still so when the link is back is a cause of its own.
  expect(told()).toEqual(["FLEET_LINK_DOWN active → inactive", "ROBOT_LOST inactive → active"]);
});

it("the alarms of a robot out of service rest, and come back with it where they still hold", () => {
  says("ROBOT_LOST", true);
  says("MISSION_FAILED", true);
  told();
  registry.putOutOfService("cart-01", true);
  says("MISSION_FAILED", false);
  says("ROBOT_EXCEPTION", true);
  clock.advance(60_000);
  expect(told()).toEqual(["ROBOT_LOST active → inactive", "MISSION_FAILED active → inactive"]);
  expect(active()).toEqual([]);
  registry.putOutOfService("cart-01", false);
  expect(told().sort()).toEqual(["ROBOT_EXCEPTION inactive → active", "ROBOT_LOST inactive → active"]);
});

describe("a restart", () => {
  function restart(): void {
    registry = open(JSON.parse(JSON.stringify(registry.kept())));
  }

  it("keeps what stands, and who has acknowledged it", () => {
    says("ROBOT_LOST", true);
    says("MISSION_FAILED", true);
    told();
    registry.acknowledge(idOf("ROBOT_LOST"), operator);
    const before = registry.all();
    restart();
    expect(registry.all()).toEqual(before);
    expect(told()).toEqual([]);
  });

  it("ends what is found to have ended meanwhile", () => {
    says("ROBOT_LOST", true);
    told();
    restart();
    says("ROBOT_LOST", false);
    expect(told()).toEqual(["ROBOT_LOST active → inactive"]);
  });

  it("lets go of an alarm whose robot is never heard of again, with a second acknowledgement", () => {
    says("ROBOT_LOST", true);
    told();
    const id = idOf("ROBOT_LOST");
    registry.acknowledge(id, operator);
    restart();
    registry.acknowledge(id, operator);
    expect(registry.all()).toEqual([]);
  });

  it("names no new alarm as an old one, also when both are of one moment", () => {
    says("ROBOT_LOST", true);
    told();
    const old = idOf("ROBOT_LOST");
    restart();
    registry.state({ kind: "robot", robotId: "cart-02" }, "ROBOT_LOST", { holds: true, text: "" });
    told();
    expect(new Set(registry.all().map(({ id }) => id))).toContain(old);
    expect(new Set(registry.all().map(({ id }) => id)).size).toBe(2);
  });
});

it("shows the most severe first, and tells each source that has changed once", () => {
  says("BATTERY_LOW", true);
  says("ROBOT_LOST", true);
  says("DISK_FULL", true, "no room", gateway);
  expect(registry.take().sources).toEqual([robot, gateway]);
  expect(registry.of(robot).map(({ code }) => code)).toEqual(["ROBOT_LOST", "BATTERY_LOW"]);
  expect(registry.take()).toEqual({ sources: [], events: [], changes: null });
  expect(registry.all().map(({ code }) => code)).toEqual(["DISK_FULL", "ROBOT_LOST", "BATTERY_LOW"]);
});
