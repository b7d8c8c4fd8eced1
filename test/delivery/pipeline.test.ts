import { expect, it } from "vitest";
import type { Batch } from "../../src/contracts/link.ts";
import type { Stage, StageName } from "../../src/contracts/stage.ts";
import { createPipeline } from "../../src/delivery/pipeline.ts";
import { createFakeState, event, events } from "./fake-state.ts";

/** A stage that adds its name to what passes. */
const adding = (name: StageName): Stage => ({
  name,
  apply: (batch) => ({ ...batch, events: [...batch.events, event(name)] }),
});

/** The last stage, and the ids of the events of each batch that has reached it. */
function delivery() {
  const delivered: string[][] = [];
  const stage: Stage = {
    name: "delivery",
    apply(batch) {
      delivered.push(batch.events.map(({ eventId }) => eventId));
      return batch;
    },
  };
  return { delivered, stage };
}

it("passes a batch through all stages, in their order", () => {
  const { delivered, stage } = delivery();
  const pipeline = createPipeline(createFakeState(), [adding("holds"), adding("alarms"), stage]);
  pipeline.enter(events("1"));
  expect(delivered).toEqual([["1", "holds", "alarms"]]);
});

it("passes what arises at a stage through those behind it", () => {
  const { delivered, stage } = delivery();
  const stages = [adding("holds"), adding("stations"), adding("alarms"), stage];
  const pipeline = createPipeline(createFakeState(), stages);
  pipeline.enterAfter("stations", events("1"));
  pipeline.enterAfter("delivery", events("2"));
  expect(delivered).toEqual([["1", "alarms"]]);
  expect(() => pipeline.enterAfter("attribution", events("3"))).toThrow("no stage attribution");
});

it("passes what had to wait through the stages behind, and neither twice nor from the start", () => {
  const { delivered, stage } = delivery();
  const waiting: Array<() => void> = [];
  const keeping: Stage = {
    name: "attribution",
    apply(batch, later) {
      waiting.push(() => later(batch));
      return { changes: batch.changes, events: [] };
    },
  };
  const stages = [adding("holds"), keeping, adding("alarms"), stage];
  const pipeline = createPipeline(createFakeState(), stages);
  pipeline.enter(events("1"));
  expect(delivered).toEqual([["alarms"]]);
  for (const pass of waiting) pass();
  expect(delivered).toEqual([["alarms"], ["1", "holds", "alarms"]]);
});

it("lets a stage cause a batch while one passes it", () => {
  const { delivered, stage } = delivery();
  const causing: Stage = {
    name: "attribution",
    apply(batch: Batch) {
      pipeline.enterAfter("attribution", events("caused"));
      return batch;
    },
  };
  const pipeline = createPipeline(createFakeState(), [adding("holds"), causing, adding("alarms"), stage]);
  pipeline.enter(events("1"));
  expect(delivered).toEqual([
    ["caused", "alarms"],
    ["1", "holds", "alarms"],
  ]);
});

it("shows values as the stages do, in the same order", () => {
  const state = createFakeState();
  const { changes } = state.set("r1", 50);
  const doubling: Stage = {
    ...adding("stations"),
    view: (before) => ({
      snapshot: () => [...before.snapshot(), ...before.snapshot()],
      current: before.current,
    }),
  };
  const lost: Stage = {
    ...adding("alarms"),
    view: (before) => ({
      snapshot: () => before.snapshot().slice(1),
      current: (change) => (change.kind === "battery" ? { kind: "station_removed", station: "s" } : change),
    }),
  };
  const pipeline = createPipeline(state, [adding("holds"), doubling, lost, delivery().stage]);
  expect(pipeline.snapshot()).toEqual(changes);
  expect(changes.map(pipeline.current)).toEqual([{ kind: "station_removed", station: "s" }]);
  expect(createPipeline(state, [lost, doubling]).snapshot()).toEqual([]);
});
