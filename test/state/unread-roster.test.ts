import { expect, it } from "vitest";
import type { FleetUpdate } from "../../src/domain/update.ts";
import { missionEvent, rosterEvent } from "../delivery/fleet-updates.ts";
import { newFleetState } from "../support/fleet-state.ts";
import { createManualClock } from "../support/manual-clock.ts";

it("a robot that is listed unreadably is not absent, and its place is not confirmed by it", () => {
  const clock = createManualClock();
  const state = newFleetState(clock);
  const unread = (...robotIds: readonly string[]): FleetUpdate => ({
    kind: "roster",
    atMs: clock.nowMs(),
    robots: [],
    unread: robotIds,
  });
  const presence = () => state.snapshot().find((change) => change.kind === "presence")?.observed.quality;
  state.apply(missionEvent("r1", ["m1:RUNNING"]));
  state.apply(rosterEvent(["r1"]));
  state.apply(unread("r1", "nobody"));
  expect(state.robot("r1")?.quality).toBe("good");
  expect(state.robot("nobody")).toBeUndefined();
  state.apply(rosterEvent([]));
  expect(state.robot("r1")?.quality).toBe("offline");
  expect(state.apply(unread("r1")).changes).toContainEqual(
    expect.objectContaining({ kind: "robot", quality: "good" }),
  );
  for (let second = 0; second < 61; second += 1) {
    clock.advance(1_000);
    state.apply(unread("r1"));
    state.apply({ kind: "stream", stream: "missions", state: "live", atMs: 0 });
  }
  expect(presence()).toBe("stale");
});

it("a place is as old as the list that confirmed it last", () => {
  const clock = createManualClock();
  const state = newFleetState(clock);
  expect([state.listAgeMs(), state.placeAge("r1")]).toEqual([null, null]);
  state.apply(rosterEvent(["r1", "r2"]));
  clock.advance(2_000);
  state.apply(rosterEvent(["r2"]));
  clock.jump(-60_000);
  clock.advance(500);
  expect(state.listAgeMs()).toBe(500);
  expect(state.placeAge("r1")).toEqual({ ageMs: 2_500, isListed: false });
  expect(state.placeAge("r2")).toEqual({ ageMs: 500, isListed: true });
  expect(["r1", "r2", "nobody"].map(state.isListed)).toEqual([false, true, false]);
  state.apply({ kind: "roster", atMs: 0, robots: [], unread: ["r2"] });
  expect(state.placeAge("r2")).toEqual({ ageMs: 500, isListed: false });
  expect(["r1", "r2", "nobody"].map(state.isListed)).toEqual([false, false, false]);
  expect(state.placeAge("nobody")).toBeNull();
});
