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
