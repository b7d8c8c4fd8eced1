import { sameCode } from "../domain/coded.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { RobotId } from "../domain/robot.ts";
import type { EventContext } from "./event-context.ts";

/**
 * The events between two messages of a cart's conveyors: one for each conveyor that is new or changed, and an
 * alarm when one begins or ceases to be in error.
 */
export function conveyorEvents(
  context: EventContext,
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
    events.push({ kind: "conveyor", eventId: context.nextEventId(), robotId, atMs, from, to });
    const wasInError = from?.health === "HEALTH_STATE_ERROR";
    const isInError = to.health === "HEALTH_STATE_ERROR";
    if (wasInError === isInError) continue;
    const text = `conveyor ${to.index} ${isInError ? "reports an error" : "reports no error any more"}`;
    events.push(context.alarm(robotId, atMs, `CONVEYOR_ERROR_${to.index}`, isInError, text));
  }
  if (before === null) return;
  for (const gone of before) {
    if (gone.health !== "HEALTH_STATE_ERROR" || after.some((there) => there.index === gone.index)) continue;
    const text = `conveyor ${gone.index} is no longer listed`;
    events.push(context.alarm(robotId, atMs, `CONVEYOR_ERROR_${gone.index}`, false, text));
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
