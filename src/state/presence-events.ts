import type { FleetEvent } from "../domain/event.ts";
import type { Presence } from "../domain/presence.ts";
import type { EventContext } from "./event-context.ts";
import type { RobotEntry } from "./robot-entry.ts";

const LONGEST_TEXT = 500;

/** An alarm when the exceptions that a robot reports begin, change or end. The entry keeps the last text. */
export function presenceEvents(
  context: EventContext,
  robot: RobotEntry,
  presence: Presence,
  atMs: number,
  events: FleetEvent[],
): void {
  const text = exceptionText(presence.info.amr_exception);
  if (text === robot.exceptionText) return;
  robot.exceptionText = text;
  const active = text !== null;
  events.push(
    context.alarm(robot.robotId, atMs, "ROBOT_EXCEPTION", active, text ?? "the robot reports no exception"),
  );
}

/**
 * What amr_exception says, as one text; null while it says nothing. The interface document does not
 * show the elements of its lists, so they are passed on as JSON.
 */
function exceptionText(exception: unknown): string | null {
  if (typeof exception !== "object" || exception === null) return null;
  const { exception: texts, exception_codes: codes, level } = exception as Record<string, unknown>;
  const nothing = isEmpty(texts) && isEmpty(codes) && (typeof level !== "number" || level === 0);
  if (nothing) return null;
  const text = JSON.stringify({ level: level ?? null, codes: codes ?? [], exceptions: texts ?? [] });
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT - 1)}…` : text;
}

function isEmpty(list: unknown): boolean {
  return !Array.isArray(list) || list.length === 0;
}
