import { expect, it } from "vitest";
import type { Stop } from "../../src/domain/stops.ts";
import { stopRequest } from "../../src/fleet/operations/row.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";

const catalogue = createCatalogue();

it.each([
  [{ kind: "pause_mission", missionId: "m-1" }, "UpdateMission", "mission m-1"],
  [{ kind: "pause_chain", amrId: 101 }, "PauseRobot", "robot"],
  [{ kind: "stop_conveyors", indexes: [2] }, "ControlConveyor", "conveyor 2"],
] as const)("%j is a stop of the catalogue", (stop: Stop, name, whatStops) => {
  const { operation, request } = stopRequest("cart-1", stop);
  expect(operation).toBe(name);
  const parsed = catalogue.get(operation)?.parse(request);
  expect(parsed).toMatchObject({ ok: true, request: { effect: "stops", switches: [whatStops] } });
});

it("pauses a task chain at once, not at the next waypoint", () => {
  const { request } = stopRequest("cart-1", { kind: "pause_chain", amrId: 101 });
  expect(request).toEqual({ amrId: 101, stopNow: true });
});
