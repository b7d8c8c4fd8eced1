import { hash } from "node:crypto";
import type { RobotStop } from "../contracts/cluster.ts";
import type { ParsedRequest } from "../contracts/operation.ts";
import { type Command, type CommandStage, commandId } from "../domain/command.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { RobotId } from "../domain/robot.ts";
import { isJsonObject } from "../platform/json.ts";
import type { JournalRecord } from "./journal/journal.ts";

/** A command in hand, from its acceptance to its outcome. */
export interface Job {
  readonly id: string;
  readonly digest: string;
  readonly command: Command;
  /** A stop that began while another member led: that member may have recorded a command of this identity. */
  readonly isUnrecorded: boolean;
  /** As it is sent, with its identity filled in if the operation has a field for it. */
  readonly request: ParsedRequest;
  /** Its robot queue; "" until it is found. */
  queue: string;
  /** The robot's robot_id, also if the request names it by number; null: not known. */
  robotId: RobotId | null;
  /** Its expiry on the monotonic clock: a wall clock that is set back does not delay it. */
  readonly startByMonotonicMs: number;
  /** The newest record of it; null before the first. */
  record: JournalRecord | null;
  /** The answers of the service before the call, for the evidence afterwards. */
  baseline: unknown;
  /** When it was accepted, on the monotonic clock; null: an earlier run has accepted it. */
  readonly acceptedAtMonotonicMs: number | null;
  /** Its number in the order in which commands came to their queues; 0 before that. */
  arrival: number;
  /** How often its call was made, by this run or an earlier one. */
  sendings: number;
  /** When a call of it first had an unknown ending, on the monotonic clock; null while none had. */
  unknownSinceMs: number | null;
  /** The start that left after this stop. If the stop were sent again, it would undo that start. */
  overtakenBy: string | null;
  /**
   * The refusal of a start whose robot was held, or whose permit was lost, before it left. It stays when the
   * hold or the loss is over.
   */
  heldBack: Outcome | null;
  /** When its first call left, in wall time; null: none has left, though its record may say "sent". */
  sentAtMs: number | null;
  /** When its last call left, on the monotonic clock; null: this run has made none. */
  leftAtMs: number | null;
  /** Stops of other members that came while it was under way: sent again before it ends. */
  stopsOwed: RobotStop[];
  /** The same of this member: sent again if its call has broken off, and may have arrived after them. */
  stopsSince: RobotStop[];
  /** The missions that the service named in its answer. */
  missionIds: readonly string[];
  isConcluded: boolean;
  /** The furthest stage so far. */
  stage: CommandStage | null;
  /** Called at each next stage. */
  readonly watchers: Array<(stage: CommandStage) => void>;
  readonly done: Promise<Outcome>;
  readonly settle: (outcome: Outcome) => void;
  /** Stops its expiry timer. */
  disarm: () => void;
}

/**
 * The digest of a command's content. `json` is canonical, so every spelling of a request has the same digest.
 */
export function digestOf(operation: string, json: string): string {
  return hash("sha256", `${operation}\n${json}`, "hex");
}

export function createJob({
  command,
  request,
  digest,
  startByMonotonicMs,
  acceptedAtMonotonicMs = null,
  isUnrecorded = false,
}: Pick<Job, "command" | "request" | "digest" | "startByMonotonicMs"> &
  Partial<Pick<Job, "acceptedAtMonotonicMs" | "isUnrecorded">>): Job {
  let settle: (outcome: Outcome) => void = () => {};
  const done = new Promise<Outcome>((resolve) => {
    settle = resolve;
  });
  return {
    id: commandId(command),
    command,
    request,
    digest,
    startByMonotonicMs,
    acceptedAtMonotonicMs,
    isUnrecorded,
    queue: "",
    robotId: null,
    record: null,
    baseline: null,
    arrival: 0,
    sendings: 0,
    unknownSinceMs: null,
    overtakenBy: null,
    heldBack: null,
    sentAtMs: null,
    leftAtMs: null,
    stopsOwed: [],
    stopsSince: [],
    missionIds: [],
    isConcluded: false,
    stage: null,
    watchers: [],
    done,
    settle,
    disarm: () => {},
  };
}

export function reportStage(job: Job, stage: CommandStage): void {
  job.stage = stage;
  for (const watcher of job.watchers) watcher(stage);
}

/** Adds a watcher, and calls it with the stages that the command has passed already. */
export function watchStages(job: Job, watcher: (stage: CommandStage) => void): void {
  if (job.stage !== null) watcher("accepted");
  if (job.stage === "sent") watcher("sent");
  job.watchers.push(watcher);
}

/** The request with `identity` at `path` if the text there is empty; otherwise unchanged. */
export function fillIdentity(json: string, path: readonly string[], identity: string): unknown {
  return filled(JSON.parse(json), path, identity);
}

function filled(value: unknown, path: readonly string[], identity: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value === undefined || value === "" ? identity : value;
  const object = isJsonObject(value) ? value : {};
  return { ...object, [key]: filled(object[key], rest, identity) };
}
