import type { Command } from "../../northbound/web/api/command.ts";
import { codeWord } from "./words.ts";

/**
 * The operation, with the part of its request that distinguishes it: an UpdateMission may pause, resume or
 * cancel, and a CreateMission has a goal.
 */
export function operationText({ operation, request }: Pick<Command, "operation" | "request">): string {
  const details = request === null ? [] : detailsOf(request);
  return details.length === 0 ? operation : `${operation}: ${details.join(", ")}`;
}

/** The largest number of goals of a request that are named. */
const MOST_DETAILS = 3;
const LONGEST_DETAIL = 60;

function detailsOf(request: string): readonly string[] {
  try {
    const found: string[] = [];
    collect(JSON.parse(request), found);
    const shown = found.slice(0, MOST_DETAILS);
    return found.length > shown.length ? [...shown, "…"] : shown;
  } catch {
    return [];
  }
}

/** Collects commands and destinations, wherever the request has them. */
function collect(value: unknown, found: string[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (typeof part !== "string") collect(part, found);
    else if (key === "command") found.push(codeWord(part, "COMMAND_").slice(0, LONGEST_DETAIL));
    else if (key === "destinationId") found.push(`→ ${part.slice(0, LONGEST_DETAIL)}`);
  }
}
