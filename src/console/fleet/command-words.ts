import type { Command } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Emphasis } from "../floor/scene.ts";
import { isEnglish, say, word } from "../texts/texts.ts";
import { codeWord } from "./words.ts";

/**
 * The operation, with the part of its request that distinguishes it: an UpdateMission may pause, resume or
 * cancel, a CreateMission has a goal, and a Hold begins or ends.
 */
export function operationText({ operation, request }: Pick<Command, "operation" | "request">): string {
  const details = request === null ? [] : detailsOf(operation, request);
  // One goal after the other.
  const text = details.join(", ").replaceAll(`, ${ARROW}`, ` ${ARROW}`);
  const name = operationName(operation);
  return details.length === 0 ? name : say("command.detail", { operation: name, details: text });
}

/** Acts and log-ons have words. Operations of the catalogue keep their names, as programs have them. */
function operationName(operation: string): string {
  const name = word(operation);
  return name === operation.toLowerCase() ? operation : name;
}

/** The largest number of goals of a request that are named. */
const MOST_DETAILS = 3;
const LONGEST_DETAIL = 60;
/** Before a goal. */
const ARROW = "→";

/** Of acts (docs/commands.md). Their robot stands beside them. */
const ofActs: Readonly<Record<string, (fields: Readonly<Record<string, unknown>>) => readonly string[]>> = {
  Hold: holdDetails,
  HoldAll: holdDetails,
  AcknowledgeAlarm: alarmDetails,
  CommentAlarm: alarmDetails,
  SetOutOfService: ({ out_of_service: isOut }) => [
    say(isOut === true ? "act.outOfService" : "act.inService"),
  ],
  LeaseRobot: stationDetails,
  ReleaseRobot: stationDetails,
  ResetCounters: stationDetails,
  Permit: ({ station, permit }) => [`${station}`, say(permit === true ? "act.given" : "act.takenBack")],
};

function holdDetails({ hold, user }: Readonly<Record<string, unknown>>): readonly string[] {
  const lifted = user === undefined ? [] : [say("act.of", { user: `${user}` })];
  return [say(hold === true ? "act.begin" : "act.lift"), ...lifted];
}

function alarmDetails({ alarm_id: id }: Readonly<Record<string, unknown>>): readonly string[] {
  return [word(`${id}`.replace(/-.*$/, ""))];
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
    else if (key === "destinationId") found.push(`${ARROW} ${part}`);
  }
}

export function sourceText({ protocol, user, on_behalf_of: owner }: Command): string {
  const source = `${protocol}:${user}`;
  return owner === null ? source : say("command.onBehalf", { source, owner });
}

/** The stage of a command, or its outcome. */
export function commandWord({ outcome, stage }: Command): {
  readonly word: string;
  readonly emphasis: Emphasis;
} {
  const shown = word(outcome ?? stage);
  if (outcome === "unknown") return { word: shown, emphasis: "alarm" };
  return { word: shown, emphasis: outcome === "refused" || outcome === "expired" ? "abnormal" : "normal" };
}

/** The outcome besides its name. For an unknown one, what to look at. */
export function saysText(command: Command): string {
  const { outcome, message, evidence, found_later: later } = command;
  const advice = outcome === "unknown" ? command.meaning : null;
  const said = [
    withoutEndOf(message, advice),
    advice === null ? null : meaningText(command),
    evidence,
    later === null ? null : say("command.foundLater", { found: later }),
  ];
  return said.filter((each) => each !== null && each !== "").join("; ");
}

/** What the outcome means, or the stage. */
export function meaningText({ outcome, stage, meaning, operation }: Command): string {
  if (isEnglish() || meaning === null) return meaning ?? say("command.notFinal");
  if (outcome === "succeeded" && operation in ofActs) return say("meaning.act");
  const known = outcome ?? (stage === "final" ? "unknown" : stage);
  return say(`meaning.${known}`);
}

/** The message of an unknown outcome ends with the beginning of the advice. */
function withoutEndOf(message: string | null, advice: string | null): string | null {
  const [doubt = ""] = advice?.split(". ") ?? [];
  return doubt !== "" && message?.endsWith(`; ${doubt}`) ? message.slice(0, -doubt.length - 2) : message;
}

/** Of these, success says only that the fleet service has taken a mission. */
const missionMakers = ["CreateMission", "CreateMissionWorkflow", "AppendMission", "ChargeRobot"];

export function makesMission(operation: string): boolean {
  return missionMakers.includes(operation);
}

/**
 * What has become of a mission, as far as its robot shows it. Empty: the robot does not show it, or nothing
 * of it yet.
 *
 * @param isSilent nothing has come of the fleet service lately
 */
export function progressText(robot: Robot | null, missionId: string | null, isSilent: boolean): string {
  const progress = robot === null || missionId === null ? "" : stateText(robot, missionId);
  if (progress === "") return "";
  const isOld = isSilent || robot?.mission?.quality !== "good";
  return isOld ? say("reason.last", { word: progress }) : progress;
}

function stateText({ mission, idle }: Robot, missionId: string): string {
  const own = mission?.state?.missions.find((each) => each.mission_id === missionId);
  switch (own?.state) {
    case "STATE_RUNNING":
      return say(idle.reason === "MOVING" ? "asked.drives" : "asked.underWay");
    case "STATE_PAUSED":
      return say("asked.paused");
    case "STATE_SUCCEEDED":
      return say("asked.arrived");
    case "STATE_FAILED":
      return say("asked.failed");
    case "STATE_CANCELED":
      return say("asked.canceled");
    default:
      return "";
  }
}
