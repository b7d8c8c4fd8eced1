import { expect, test } from "vitest";
import type { FleetUpdate } from "../../src/domain/update.ts";
import { createLog } from "../../src/platform/log.ts";
import { createFleetState } from "../../src/state/fleet-state.ts";
import {
  batteryEvent,
  conveyor,
  conveyorsEvent,
  mission,
  missionEvent,
  stamp,
} from "../delivery/fleet-updates.ts";
import { createManualClock } from "../support/manual-clock.ts";

const times = { streamSilenceMs: 30_000, resyncMs: 60_000, holdMs: 300_000 };
const strange = { kind: "unrecognised", raw: 99 } as const;

function start() {
  const clock = createManualClock();
  const lines: string[] = [];
  const log = createLog("info", { write: (line) => void lines.push(line) });
  const state = createFleetState({ times, maxRobots: 9, maxTaskChains: 9, sessionId: "s", clock, log });
  const qualities = () => [
    ...new Set(state.snapshot().flatMap((change) => ("observed" in change ? [change.observed.quality] : []))),
  ];
  return { clock, lines, state, qualities };
}

function battery(chargePercent: number, change: object = {}): FleetUpdate {
  const update = batteryEvent("r1", chargePercent);
  if (update.kind !== "battery") throw new Error("no battery");
  return { ...update, battery: { ...update.battery, ...change } };
}

function missions(currentMissionIndex: number, ...list: ReturnType<typeof mission>[]): FleetUpdate {
  const queue = { missions: list, currentMissionIndex };
  return { kind: "mission", robotId: "r1", stream: "missions", stamp: stamp(), queue };
}

const running = mission("m1", "STATE_RUNNING");

test.each<[string, FleetUpdate]>([
  ["a charge of -5 %", battery(-5)],
  ["a charge of 2147483647 %", battery(2_147_483_647)],
  ["a battery's state 99", battery(50, { state: strange })],
  ["an index beyond the list", missions(1, running)],
  ["an index before the list", missions(-2, running)],
  ["a mission's state 99", missions(0, mission("m1", strange))],
  ["a goal beyond the list", missions(0, { ...running, currentGoalIndex: 1 })],
  ["a conveyor's state 99", conveyorsEvent("r1", [conveyor(1), conveyor(2, { operation: strange })])],
])(
  "%s is passed on, and not as good: neither is the robot, until it sends what can be true",
  (_name, update) => {
    const { clock, lines, state, qualities } = start();
    state.apply(update);
    expect(qualities()).toEqual(["stale"]);
    expect(state.robot("r1")?.quality).toBe("stale");
    // A snapshot that says the same confirms only that the service says it.
    const kind = update.kind as "mission" | "battery" | "conveyors";
    const stream = "stream" in update ? update.stream : "";
    clock.advance(20_000);
    state.apply({ kind: "confirmed", robotId: "r1", aspect: kind, stream, atMs: 0 });
    state.apply(update);
    expect(qualities()).toEqual(["stale"]);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { robotId: "r1", problem: expect.any(String) },
    ]);
    expect(state.figures()).toMatchObject({ valuesImpossible: 2 });
    clock.advance(280_001);
    state.apply(update);
    expect(qualities()).toEqual(["lost"]);

    const right = {
      battery: battery(50),
      mission: missions(0, running),
      conveyors: conveyorsEvent("r1", [conveyor(1), conveyor(2)]),
    };
    state.apply(right[kind]);
    expect(qualities()).toEqual(["good"]);
    expect(state.robot("r1")?.quality).toBe("good");
  },
);

test.each<[string, FleetUpdate]>([
  ["an empty battery", battery(0)],
  ["a full one", battery(100)],
  ["no mission, and none named", missions(-1)],
  ["no mission, and an index that is not set", missions(0)],
  [
    "all goals done",
    missions(0, { ...running, goals: [{ kind: "destination", destinationId: "A" }], currentGoalIndex: 1 }),
  ],
  ["several missions", missionEvent("r1", ["m1:SUCCEEDED", "m2:RUNNING"])],
])("%s can be true", (_name, update) => {
  const { state, qualities } = start();
  state.apply(update);
  expect(qualities()).toEqual(["good"]);
});
