import { sameCode } from "../domain/coded.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { NextEventId } from "./event-ids.ts";

/**
 * The events between two messages of a cart's conveyors: one for each conveyor that is new or changed.
 */
export function conveyorEvents(
  nextEventId: NextEventId,
  robotId: RobotId,
  before: readonly Conveyor[] | null,
  after: readonly Conveyor[],
  atMs: number,
  events: FleetEvent[],
): void {
  for (let place = 0; place < after.length; place += 1) {
    const to = after[place];
    if (to === undefined) continue;
    const from = earlierSelf(before, to.index, place);
    if (from !== null && sameConveyor(from, to)) continue;
    events.push({ kind: "conveyor", eventId: nextEventId(), robotId, atMs, from, to });
  }
}

function earlierSelf(before: readonly Conveyor[] | null, index: number, place: number): Conveyor | null {
  if (before === null) return null;
  const there = before[place];
  if (there?.index === index) return there;
  return before.find((conveyor) => conveyor.index === index) ?? null;
}

function sameConveyor(a: Conveyor, b: Conveyor): boolean {
  return (
    sameCode(a.operation, b.operation) &&
    sameCode(a.payload, b.payload) &&
    sameCode(a.health, b.health) &&
    sameCode(a.installation, b.installation)
  );
}
