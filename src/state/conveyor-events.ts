import { sameCode } from "../domain/coded.ts";
import type { Conveyor } from "../domain/conveyor.ts";
import type { FleetEvent } from "../domain/event.ts";
import type { Stamp } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";
import type { EventIds } from "./event-ids.ts";

/** A message with a cart's conveyors. */
export interface NewConveyors {
  readonly robotId: RobotId;
  /** Null for the first message of this run. */
  readonly before: readonly Conveyor[] | null;
  /** For the first message: the last published state of an earlier run; null: none. */
  readonly published: readonly Conveyor[] | null;
  readonly after: readonly Conveyor[];
  readonly stamp: Stamp;
}

/**
 * The events between two messages of a cart's conveyors: one for each new or changed conveyor. A change while
 * the gateway was down is one jump.
 */
export function conveyorEvents(
  eventIds: EventIds,
  { robotId, before, published, after, stamp }: NewConveyors,
  events: FleetEvent[],
): void {
  const atMs = stamp.receivedAtMs;
  for (let index = 0; index < after.length; index += 1) {
    const to = after[index];
    if (to === undefined) continue;
    const from = earlierSelf(before, to.index, index) ?? earlierSelf(published, to.index, index);
    if (from !== null && sameConveyor(from, to)) continue;
    const eventId = eventIds.of("conveyor", robotId, stamp, textOf(from), textOf(to));
    const jump = published === null ? {} : ({ jump: true } as const);
    events.push({ kind: "conveyor", eventId, robotId, atMs, from, to, ...jump });
  }
}

function textOf(conveyor: Conveyor | null): string {
  return conveyor === null ? "" : JSON.stringify(conveyor);
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
