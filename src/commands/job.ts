import { hash } from "node:crypto";
import type { ParsedRequest } from "../contracts/operation.ts";
import { type Command, type CommandStage, commandId } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { isJsonObject } from "../platform/json.ts";
import type { JournalRecord } from "./journal/journal.ts";

/** A command in hand: what its queue, the journal and those who wait for it have in common. */
export interface Job {
  readonly id: string;
  readonly digest: string;
  readonly command: Command;
  /** As it is sent, an identity filled in. */
  readonly request: ParsedRequest;
  /** Set when its place is found, before it goes any further. */
  queue: string;
  /** By robot_id, also where the request names it by number; null when that is not known. */
  robotId: RobotId | null;
  /** The expiry on the clock that never jumps: a wall clock set back must not stretch it. */
  readonly startByMonotonicMs: number;
  /** The newest record of it; null before the first. */
  record: JournalRecord | null;
  /** What the service said before the call, for the evidence afterwards. */
  baseline: unknown;
  /** Which of all it is, in the order in which they came to their queues; 0 before. */
  arrival: number;
  /** How often its call was made, here or by a predecessor. */
  sendings: number;
  /** When a call of it first ended without saying what became of it, on the monotonic clock; null while none has. */
  unknownSinceMs: number | null;
  /** The start that has left after this stop and undoes it: sent again, the stop would undo the later command. */
  overtakenBy: string | null;
  /** The refusal of a start that a hold met before it left, also when the hold is lifted again; null where none did. */
  heldBack: Outcome | null;
  /** The missions that the service named in its answer. */
  missionIds: readonly string[];
  isConcluded: boolean;
  /** The furthest stage, and who wants to hear of the next. */
  stage: CommandStage | null;
  readonly watchers: Array<(stage: CommandStage) => void>;
  readonly done: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
  /** Stops its expiry timer. */
  disarm: () => void;
}

/** Names a command's content: the same for every spelling, as `json` is canonical. */
export function digestOf(operation: string, json: string): string {
  return hash("sha256", `${operation}\n${json}`, "hex");
}

export function createJob(parts: {
  readonly command: Command;
  readonly request: ParsedRequest;
  readonly digest: string;
  readonly startByMonotonicMs: number;
}): Job {
  let settle: (outcome: Outcome) => void = () => {};
  const done = new Promise<Outcome>((resolve) => {
    settle = resolve;
  });
  return {
    id: commandId(parts.command),
    ...parts,
    queue: "",
    robotId: null,
    record: null,
    baseline: null,
    arrival: 0,
    sendings: 0,
    unknownSinceMs: null,
    overtakenBy: null,
    heldBack: null,
    missionIds: [],
    isConcluded: false,
    stage: null,
    watchers: [],
    done,
    settle,
    disarm: () => {},
  };
}

/** Tells everyone who watches how far the command has come. */
export function tellStage(job: Job, stage: CommandStage): void {
  job.stage = stage;
  for (const watcher of job.watchers) watcher(stage);
}

/** Tells somebody who comes later how far the command has come already, and then what follows. */
export function watchStages(job: Job, watcher: (stage: CommandStage) => void): void {
  if (job.stage !== null) watcher("accepted");
  if (job.stage === "sent") watcher("sent");
  job.watchers.push(watcher);
}

/** The request with `identity` at `path`, where the text there is empty; otherwise unchanged. */
export function fillIdentity(json: string, path: readonly string[], identity: string): string {
  const parsed: unknown = JSON.parse(json);
  return JSON.stringify(filled(parsed, path, identity));
}

function filled(value: unknown, path: readonly string[], identity: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value === undefined || value === "" ? identity : value;
  const object = isJsonObject(value) ? value : {};
  return { ...object, [key]: filled(object[key], rest, identity) };
}
