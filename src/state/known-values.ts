import type { HourName } from "../contracts/trends.ts";
import { currentStateNumber } from "../domain/mission.ts";
import { coordinateOf, type RobotId } from "../domain/robot.ts";
import type { QualityReader } from "./quality-reader.ts";
import type { RobotEntry } from "./robot-entry.ts";

/** A robot and its values. Null: that one is not known to be true. */
export type KnownOfRobot = readonly [RobotId, Readonly<Record<HourName, number | null>>];

/** The charge, in percent, of each robot whose charge is known to be true now. */
export function knownCharges(
  robots: Iterable<RobotEntry>,
  reader: QualityReader,
  nowMs: number,
): ReadonlyMap<RobotId, number> {
  const found = new Map<RobotId, number>();
  for (const robot of robots) {
    const { received } = robot.battery;
    if (received === null || reader.ofCached(robot, robot.battery, nowMs) !== "good") continue;
    found.set(robot.robotId, received.value.chargePercent);
  }
  return found;
}

/** Of each robot, the values that are known to be true now. */
export function* knownValues(
  robots: Iterable<RobotEntry>,
  reader: QualityReader,
  nowMs: number,
): Iterable<KnownOfRobot> {
  for (const robot of robots) {
    const { mission, presence } = robot;
    const queue = reader.ofCached(robot, mission, nowMs) === "good" ? mission.received?.value : undefined;
    const place = reader.ofCached(robot, presence, nowMs) === "good" ? presence.received?.value : undefined;
    const coordinate = (name: "x" | "y" | "theta") =>
      place === undefined ? null : coordinateOf(place, name);
    yield [
      robot.robotId,
      {
        missionState: queue === undefined ? null : currentStateNumber(queue),
        mapId: place?.mapId ?? null,
        ...{ x: coordinate("x"), y: coordinate("y"), heading: coordinate("theta") },
      },
    ];
  }
}
