import type { Command } from "../../northbound/web/api/command.ts";
import type { Emphasis } from "../floor/scene.ts";
import { codeWord, sentence } from "./words.ts";

/**
 * The operation, with the part of its request that distinguishes it: an UpdateMission may pause, resume or
 * cancel, a CreateMission has a goal, and a Hold begins or ends.
 */
export function operationText({ operation, request }: Pick<Command, "operation" | "request">): string {
  const details = request === null ? [] : detailsOf(operation, request);
  return details.length === 0 ? operation : `${operation}: ${details.join(", ")}`;
}

/** The largest number of goals of a request that are named. */
const MOST_DETAILS = 3;
const LONGEST_DETAIL = 60;

/** Of acts (docs/commands.md). Their robot stands beside them. */
const ofActs: Readonly<Record<string, (fields: Readonly<Record<string, unknown>>) => readonly string[]>> = {
  Hold: holdDetails,
  HoldAll: holdDetails,
  AcknowledgeAlarm: ({ alarm_id: id }) => [sentence(`${id}`.replace(/-.*$/, ""))],
  SetOutOfService: ({ out_of_service: isOut }) => [isOut === true ? "out of service" : "in service"],
  LeaseRobot: stationDetails,
  ReleaseRobot: stationDetails,
  ResetCounters: stationDetails,
  Permit: ({ station, permit }) => [`${station}`, permit === true ? "given" : "taken back"],
};

function holdDetails({ hold, user }: Readonly<Record<string, unknown>>): readonly string[] {
  return [hold === true ? "begin" : "lift", ...(user === undefined ? [] : [`of ${user}`])];
}

function stationDetails({ station }: Readonly<Record<string, unknown>>): readonly string[] {
  return [`${station}`];
}

function detailsOf(operation: string, request: string): readonly string[] {
  try {
    const found: string[] = [];
    const fields: unknown = JSON.parse(request);
    const act = ofActs[operation];
    if (act !== undefined) found.push(...act(fields as Readonly<Record<string, unknown>>));
    else collect(fields, found);
    const shown = found.slice(0, MOST_DETAILS).map((detail) => detail.slice(0, LONGEST_DETAIL));
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
    else if (key === "command") found.push(codeWord(part, "COMMAND_"));
    else if (key === "destinationId") found.push(`→ ${part}`);
  }
}

export function sourceText({ protocol, user, on_behalf_of: owner }: Command): string {
  return owner === null ? `${protocol}:${user}` : `${protocol}:${user} for ${owner}`;
}

/** The stage of a command, or its outcome. */
export function commandWord({ outcome, stage }: Command): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  if (outcome === null) return { word: stage, emphasis: "normal" };
  const word = sentence(outcome);
  if (outcome === "unknown") return { word, emphasis: "alarm" };
  return { word, emphasis: outcome === "refused" || outcome === "expired" ? "abnormal" : "normal" };
}

/** The outcome besides its name. For an unknown one, what to look at. */
export function saysText({ outcome, message, meaning, evidence, found_later: later }: Command): string {
  const advice = outcome === "unknown" ? meaning : null;
  const said = [
    withoutEndOf(message, advice),
    advice,
    evidence,
    later === null ? null : `found later: ${later}`,
  ];
  return said.filter((each) => each !== null && each !== "").join("; ");
}

/** The message of an unknown outcome ends with the beginning of the advice. */
function withoutEndOf(message: string | null, advice: string | null): string | null {
  const [doubt = ""] = advice?.split(". ") ?? [];
  return doubt !== "" && message?.endsWith(`; ${doubt}`) ? message.slice(0, -doubt.length - 2) : message;
}
