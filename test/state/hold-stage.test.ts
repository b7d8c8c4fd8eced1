import { expect, it } from "vitest";
import type { StateChange } from "../../src/domain/change.ts";
import { createHoldStage } from "../../src/state/hold-stage.ts";
import { createFakeHolds } from "../support/fake-holds.ts";

const plc = { protocol: "opcua", name: "plc" } as const;

function robot(robotId: string): StateChange {
  return { kind: "robot", robotId, family: "cart", quality: "good" };
}

/** The stage, the view behind it, and what it adds to these robots. */
function open(...robotIds: string[]) {
  const holds = createFakeHolds();
  const stage = createHoldStage((robotId) => holds.holdState(robotId));
  const before = { snapshot: () => robotIds.map(robot), current: (change: StateChange) => change };
  const apply = (...changes: StateChange[]) =>
    stage.apply({ changes, events: [] }, () => expect.fail("a hold waits for nothing"));
  apply(...robotIds.map(robot));
  return { holds, stage, apply, view: stage.view?.(before) ?? expect.fail("it has no view") };
}

const short = (changes: readonly StateChange[]) =>
  changes.flatMap((change) =>
    "hold" in change ? [`${"robotId" in change ? change.robotId : "all"} ${change.hold.by}`] : [],
  );

it("adds to a snapshot what holds each robot, and all of them", () => {
  const { holds, view } = open("r1", "r2");
  holds.hold({ source: plc, robotId: "r2", isHeld: true });
  expect(short(view.snapshot())).toEqual(["all ", "r1 ", "r2 opcua:plc"]);
  expect(view.snapshot().filter(({ kind }) => kind === "robot")).toHaveLength(2);
});

it("adds it to the batch in which a robot is heard of first, and to no later one", () => {
  const { stage, apply } = open();
  expect(short(apply(robot("r3")).changes)).toEqual(["r3 "]);
  const batch = { changes: [robot("r3")], events: [] };
  expect(stage.apply(batch, () => {})).toBe(batch);
});

it("tells a hold on all robots for each robot", () => {
  const { holds, stage } = open("r1");
  holds.hold({ source: plc, robotId: null, isHeld: true });
  expect(short(stage.changesOf(null))).toEqual(["all opcua:plc", "r1 opcua:plc (all)"]);
  expect(short(stage.changesOf("r1"))).toEqual(["r1 opcua:plc (all)"]);
});

it("shows what waited as it is now: the very same where nothing is different", () => {
  const { holds, stage, view } = open("r1");
  const [before] = stage.changesOf("r1");
  if (before === undefined) throw new Error("nothing is told");
  expect(view.current(before)).toBe(before);
  holds.hold({ source: plc, robotId: "r1", isHeld: true });
  expect(short([view.current(before)])).toEqual(["r1 opcua:plc"]);
  holds.isStored = false;
  expect(view.current(before)).toMatchObject({ hold: { isStored: false } });
  expect(view.current(robot("r1"))).toEqual(robot("r1"));
});
