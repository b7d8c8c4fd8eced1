import { expect, it } from "vitest";
import {
  conveyorsText,
  nobodyComesText,
  nobodyHereText,
  stepText,
} from "../../../src/console/fleet/station-words.ts";
import type { Station } from "../../../src/northbound/web/api/floor.ts";
import type { Robot } from "../../../src/northbound/web/api/robot.ts";
import { dock } from "../busy-fleet.ts";

/** A station where no robot is, and none comes, as far as its values say. */
function emptyDock(quality: Robot["quality"]): Station {
  const valid = quality === "good";
  const nobody = { robot_here: null, robots_here: 0, arrived: false, next_robot: null } as const;
  const qualities = { conveyors_quality: quality, next_robot_quality: quality };
  return { ...dock, quality, leases: [], state: { ...dock.state, valid, ...nobody, ...qualities } };
}

const saidOf = (station: Station, isSilent: boolean) => [
  nobodyHereText(station, isSilent),
  nobodyComesText(station, isSilent),
  conveyorsText(station, isSilent),
];

it("a station whose values are good says that nobody is there, and that none comes", () => {
  expect(saidOf(emptyDock("good"), false)).toEqual(["nobody", "no robot is known to come", "none"]);
  expect(stepText(emptyDock("good"))).toBe("Nobody is there.");
});

it.each(["stale", "offline", "lost", "unknown"] as const)(
  "a station that is %s claims neither",
  (quality) => {
    expect(saidOf(emptyDock(quality), false)).toEqual(["not known", "not known", `not known (${quality})`]);
    expect(stepText(emptyDock(quality))).toBe("What is there is not known now.");
  },
);

it("a robot whose mission never says that it has arrived is leased, and hands over", () => {
  const here = { ...dock.state, arrived: false };
  const rolling = { ...here, conveyors: [{ index: 1, loaded: false, rolling: true }] };
  expect(stepText({ ...dock, leases: [], state: here })).toBe(
    "cart-1 is here. Its mission does not say that it has arrived.",
  );
  expect(stepText({ ...dock, state: here })).toBe("cart-1 is here, and is leased.");
  expect(stepText({ ...dock, state: rolling })).toBe("cart-1 hands over: its conveyor rolls.");
});

it("while the fleet service is silent, nobody knows who is there or comes", () => {
  expect(saidOf(emptyDock("good"), true)).toEqual(["not known", "not known", "last: none"]);
});

it("a conveyor that is not known is not said to be empty and to stand", () => {
  const conveyors = [{ index: 1, loaded: false, rolling: false }];
  const station = { ...dock, state: { ...dock.state, conveyors } };
  const doubtful = { ...station, state: { ...station.state, conveyors_quality: "stale" as const } };
  expect(conveyorsText(station, false)).toBe("1: empty, stands");
  expect(conveyorsText(station, true)).toBe("last: 1: empty, stands");
  expect(conveyorsText(doubtful, false)).toBe("not known (stale)");
});
