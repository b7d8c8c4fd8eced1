import fc from "fast-check";
import { expect, it } from "vitest";
import { createFeed, type QueueLimits } from "../../src/delivery/feed.ts";
import { changeKey, type StateChange } from "../../src/domain/change.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { createFakeState, event } from "./fake-state.ts";

/** What may happen to a feed and its reader. */
type Step =
  | { readonly kind: "change"; readonly robotId: string }
  | { readonly kind: "event" }
  | { readonly kind: "take"; readonly arrives: boolean }
  | { readonly kind: "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.nat(7).map((robot) => ({ kind: "change" as const, robotId: `r${robot}` })),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "event" as const }) },
  { weight: 4, arbitrary: fc.boolean().map((arrives) => ({ kind: "take" as const, arrives })) },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
);

const bounds: fc.Arbitrary<QueueLimits> = fc.record({
  changes: fc.integer({ min: 1, max: 10 }),
  events: fc.integer({ min: 1, max: 6 }),
  perTurn: fc.integer({ min: 1, max: 5 }),
});

/** A feed, the truth behind it, and a reader that remembers what it was shown. Values only ever grow. */
function createScene(limits: QueueLimits, readsAgain: boolean) {
  const state = createFakeState();
  const source = readsAgain ? state : { ...state, current: <T>(change: T) => change };
  const feed = createFeed("mqtt", limits, { state: source, clock: createManualClock(), log: silentLog });
  const truth = new Map<string, number>();
  const shown = new Map<string, number>();
  const arrived: number[] = [];
  let value = 0;
  let offered = 0;

  return {
    feed,
    truth,
    shown,
    arrived,
    offered: () => offered,
    change(robotId: string) {
      value += 1;
      truth.set(robotId, value);
      for (const change of state.set(robotId, value).changes) feed.pushChange(changeKey(change), change);
    },
    event() {
      offered += 1;
      feed.pushEvent(event(String(offered)));
    },
    take(arrives: boolean) {
      const slice = feed.take();
      expect(slice.changes.length).toBeLessThanOrEqual(limits.perTurn);
      expect(slice.events.length).toBeLessThanOrEqual(limits.perTurn);
      for (const change of slice.changes) {
        if (change.kind !== "battery") continue;
        const { chargePercent } = change.observed.value;
        expect(chargePercent).toBeGreaterThanOrEqual(shown.get(change.robotId) ?? 0);
        shown.set(change.robotId, chargePercent);
      }
      if (!arrives) return;
      arrived.push(...slice.events.map((one) => Number(one.eventId)));
      feed.release(slice);
    },
  };
}

it("shows nothing older after something newer, stays bounded, loses nothing uncounted, ends with the truth", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), bounds, fc.boolean(), (steps, limits, readsAgain) => {
      const scene = createScene(limits, readsAgain);
      for (const one of steps) {
        if (one.kind === "change") scene.change(one.robotId);
        else if (one.kind === "event") scene.event();
        else if (one.kind === "take") scene.take(one.arrives);
        else scene.feed.setOpen(true);
        // At most the keys, one snapshot of the eight robots and the mark that one is due.
        expect(scene.feed.figures().changesQueued).toBeLessThanOrEqual(limits.changes + 8 + 1);
        expect(scene.feed.figures().eventsQueued).toBeLessThanOrEqual(limits.events);
      }
      while (scene.feed.hasWork()) scene.take(true);
      expect(scene.shown).toEqual(scene.truth);
      expect(scene.arrived).toEqual([...new Set(scene.arrived)].sort((a, b) => a - b));
      expect(scene.arrived.length + (scene.feed.figures().eventsDropped ?? 0)).toBe(scene.offered());
    }),
    { numRuns: 500 },
  );
});

it("hands out the quality of the moment, not the one of the time it was queued", () => {
  const state = createFakeState();
  const clock = createManualClock();
  const feed = createFeed("mqtt", { changes: 9, events: 9, perTurn: 9 }, { state, clock, log: silentLog });
  feed.take();
  for (const change of state.set("r1", 50, "good").changes) feed.pushChange(changeKey(change), change);
  state.set("r1", 50, "stale");
  expect(feed.take().changes).toMatchObject([{ observed: { quality: "stale" } }]);
});

it("counts the values that an overflow dropped, and shows the newest all the same", () => {
  const state = createFakeState();
  const clock = createManualClock();
  const feed = createFeed("mqtt", { changes: 2, events: 9, perTurn: 9 }, { state, clock, log: silentLog });
  feed.take();
  for (const robotId of ["r1", "r2", "r3"]) {
    for (const change of state.set(robotId, 7).changes) feed.pushChange(changeKey(change), change);
  }
  expect(feed.figures().changesSkipped).toBe(3);
  expect(feed.take().changes).toHaveLength(3);
});

it.each<StateChange>([
  { kind: "task_chain_evicted", chainId: 7 },
  { kind: "station_removed", station: "dock" },
])(
  "says that something was removed while nobody was connected, and again until it has arrived: %j",
  (gone) => {
    const state = createFakeState();
    const clock = createManualClock();
    const feed = createFeed("mqtt", { changes: 9, events: 9, perTurn: 9 }, { state, clock, log: silentLog });
    feed.take();
    feed.setOpen(false);
    feed.pushChange(changeKey(gone), gone);
    feed.setOpen(true);
    expect(feed.take().changes).toEqual([gone]);
    feed.setOpen(true);
    const slice = feed.take();
    expect(slice.changes).toEqual([gone]);
    feed.release(slice);
    feed.setOpen(true);
    expect(feed.take().changes).toEqual([]);
  },
);
