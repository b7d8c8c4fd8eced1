import { expect, test } from "vitest";
import { newFleetState } from "../support/fleet-state.ts";
import { createManualClock } from "../support/manual-clock.ts";

const map = (readAtMs: number) => ({ readAtMs, json: "{}", bytes: 2 });

test("the newest answer of each map is in the snapshot, and the same one is told once", () => {
  const state = newFleetState(createManualClock());
  const apply = (mapId: number, answer: ReturnType<typeof map> | null) =>
    state.apply({ kind: "map", mapId, map: answer }).changes;
  expect(apply(1, map(1))).toEqual([{ kind: "map", mapId: 1, map: map(1) }]);
  expect(apply(1, map(1))).toEqual([]);
  const [older] = apply(1, map(2));
  apply(1, map(3));
  expect(older && state.current(older)).toEqual({ kind: "map", mapId: 1, map: map(3) });
  expect(apply(2, null)).toEqual([]);
  apply(1, null);
  expect(state.snapshot()).toEqual([{ kind: "map", mapId: 1, map: null }]);
});

test("a service that invents maps fills no memory", () => {
  const state = newFleetState(createManualClock());
  for (let mapId = 1; mapId <= 1_000; mapId += 1) state.apply({ kind: "map", mapId, map: map(1) });
  expect(state.snapshot()).toHaveLength(50);
});
