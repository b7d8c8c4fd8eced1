import type { CallEnding } from "../../contracts/fleet-port.ts";
import type { RepeatRule } from "../../contracts/operation.ts";
import type { CommandStage, Effect } from "../../domain/command.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { decideEnding, endingAfterRepeats } from "./ending.ts";

/** How far a command has come in its lane. */
export type WorkPhase =
  /** Behind another one. */
  | "waiting"
  /** First in the lane; what must be known before the call is being asked for. */
  | "preparing"
  /** The record that it was sent is being synced; the call follows. */
  | "leaving"
  /** The call is out. */
  | "sent"
  /** Between two sendings of what may be repeated. */
  | "pausing"
  /** The ending is unknown; evidence is sought. */
  | "seeking";

/** A command as its lane sees it. */
export interface Work {
  readonly id: string;
  readonly effect: Effect;
  readonly repeat: RepeatRule;
  readonly needsBaseline: boolean;
  readonly phase: WorkPhase;
  /** Whether a record of it is on the disk. */
  readonly isRecorded: boolean;
  readonly hasBaseline: boolean;
  /** The last ending that left open whether the robot acts; null while there was none. */
  readonly unknown: Extract<CallEnding, { kind: "unknown" }> | null;
}

/**
 * One physical robot's commands: one in flight, a bounded queue behind it. `beside`
 * runs in parallel: stops, which go before everything, and reads, which disturb nothing.
 */
export interface Lane {
  readonly head: Work | null;
  readonly queue: readonly Work[];
  readonly beside: readonly Work[];
  /** Sent by a predecessor of this process: nothing moves before they are looked into. */
  readonly recovered: readonly string[];
}

export interface LaneLimits {
  readonly maxQueue: number;
  readonly maxReads: number;
}

export type LaneInput =
  | { readonly kind: "submitted"; readonly work: Work }
  /** `refused`: why it must not leave any more (expired, not good, leased, shutting down); null when it may. */
  | {
      readonly kind: "recorded";
      readonly id: string;
      readonly as: "accepted" | "sent";
      readonly refused: Outcome | null;
    }
  | { readonly kind: "record_failed"; readonly id: string; readonly message: string }
  /** The disk lets a stop wait too long. */
  | { readonly kind: "record_late"; readonly id: string }
  | { readonly kind: "baseline_known"; readonly id: string }
  | { readonly kind: "ended"; readonly id: string; readonly ending: CallEnding }
  /** The pause before another sending is over. `over`: why there is none, as what follows "not sent"; null when there is. */
  | { readonly kind: "again"; readonly id: string; readonly over: string | null }
  | { readonly kind: "sought"; readonly id: string; readonly outcome: Outcome }
  /** May no longer be sent: `outcome` says why. */
  | { readonly kind: "withdrawn"; readonly id: string; readonly outcome: Outcome };

export type LaneEffect =
  | { readonly kind: "record"; readonly id: string; readonly as: "accepted" | "sent" }
  | { readonly kind: "ask_baseline"; readonly id: string }
  | { readonly kind: "stage"; readonly id: string; readonly stage: CommandStage }
  | { readonly kind: "call"; readonly id: string }
  | { readonly kind: "pause"; readonly id: string }
  /** Evidence is sought; without any, `otherwise` is the outcome. */
  | { readonly kind: "seek"; readonly id: string; readonly otherwise: Outcome }
  | { readonly kind: "finish"; readonly id: string; readonly outcome: Outcome };

export interface LaneStep {
  readonly lane: Lane;
  readonly effects: readonly LaneEffect[];
}

export const emptyLane: Lane = { head: null, queue: [], beside: [], recovered: [] };

/** A new command on its way into a lane. */
export function newWork(id: string, effect: Effect, repeat: RepeatRule, needsBaseline: boolean): Work {
  return {
    id,
    effect,
    repeat,
    needsBaseline,
    phase: "waiting",
    isRecorded: false,
    hasBaseline: false,
    unknown: null,
  };
}

/** Whether nothing is left in the lane, so that it can be forgotten. */
export function isIdle(lane: Lane): boolean {
  return (
    lane.head === null && lane.queue.length === 0 && lane.beside.length === 0 && lane.recovered.length === 0
  );
}

/** What an input does to a lane. Pure: the same lane and input give the same step, whatever the world does. */
export function stepLane(lane: Lane, input: LaneInput, limits: LaneLimits): LaneStep {
  switch (input.kind) {
    case "submitted":
      return submitted(lane, input.work, limits);
    case "recorded":
      return recorded(lane, input.id, input.as, input.refused);
    case "record_failed":
      return recordFailed(lane, input.id, input.message);
    case "record_late":
      return leaveBeside(lane, input.id);
    case "baseline_known":
      return baselineKnown(lane, input.id);
    case "ended":
      return ended(lane, input.id, input.ending);
    case "again":
      return again(lane, input.id, input.over);
    case "sought":
      return finish(lane, input.id, input.outcome);
    case "withdrawn":
      return withdrawn(lane, input.id, input.outcome);
  }
}

function submitted(lane: Lane, work: Work, limits: LaneLimits): LaneStep {
  if (work.effect === "stops") return stop(lane, work);
  if (work.effect === "reads") return read(lane, work, limits);
  if (lane.head === null && lane.recovered.length === 0) {
    const step = start(lane, work);
    return work.needsBaseline ? after([{ kind: "record", id: work.id, as: "accepted" }], step) : step;
  }
  if (lane.queue.length >= limits.maxQueue) {
    const message = `${limits.maxQueue} commands already wait behind the one in flight for this robot`;
    return {
      lane,
      effects: [{ kind: "finish", id: work.id, outcome: refusal("QUEUE_FULL", message) }],
    };
  }
  return {
    lane: { ...lane, queue: [...lane.queue, work] },
    effects: [{ kind: "record", id: work.id, as: "accepted" }],
  };
}

/** Goes at once, and takes with it every start that has not left. */
function stop(lane: Lane, work: Work): LaneStep {
  const isUnsentStart = (other: Work) =>
    other.effect === "moves" && other.phase !== "sent" && other.phase !== "seeking";
  const canceled = [...(lane.head === null ? [] : [lane.head]), ...lane.queue].filter(isUnsentStart);
  const outcome = refusal("CANCELED_BY_STOP", `the stop ${work.id} overtook it before it was sent`);
  const head = lane.head !== null && isUnsentStart(lane.head) ? null : lane.head;
  const next = advance({
    ...lane,
    head,
    queue: lane.queue.filter((other) => !isUnsentStart(other)),
    beside: [...lane.beside, { ...work, phase: "leaving" }],
  });
  return {
    lane: next.lane,
    effects: [
      { kind: "record", id: work.id, as: "sent" },
      ...canceled.map(({ id }): LaneEffect => ({ kind: "finish", id, outcome })),
      ...next.effects,
    ],
  };
}

function read(lane: Lane, work: Work, limits: LaneLimits): LaneStep {
  if (lane.beside.filter(({ effect }) => effect === "reads").length >= limits.maxReads) {
    const message = `${limits.maxReads} reads are already in flight here`;
    return { lane, effects: [{ kind: "finish", id: work.id, outcome: refusal("QUEUE_FULL", message) }] };
  }
  return {
    lane: { ...lane, beside: [...lane.beside, { ...work, phase: "sent" }] },
    effects: [
      { kind: "stage", id: work.id, stage: "accepted" },
      { kind: "stage", id: work.id, stage: "sent" },
      { kind: "call", id: work.id },
    ],
  };
}

/**
 * Makes a command the one in flight. What leaves at once is recorded as sent in one
 * go: one sync a command. A crash in between makes it a thing to look into, never a
 * thing to send again.
 */
function start(lane: Lane, work: Work): LaneStep {
  if (!work.needsBaseline) {
    return {
      lane: { ...lane, head: { ...work, phase: "leaving" } },
      effects: [{ kind: "record", id: work.id, as: "sent" }],
    };
  }
  return {
    lane: { ...lane, head: { ...work, phase: "preparing" } },
    effects: [{ kind: "ask_baseline", id: work.id }],
  };
}

/** Starts the next one when the lane is free. */
function advance(lane: Lane): LaneStep {
  const [next, ...queue] = lane.queue;
  if (lane.head !== null || lane.recovered.length > 0 || next === undefined) return { lane, effects: [] };
  const step = start(lane, next);
  return { lane: { ...step.lane, queue }, effects: step.effects };
}

function recorded(lane: Lane, id: string, as: "accepted" | "sent", refused: Outcome | null): LaneStep {
  const work = findWork(lane, id);
  if (work === undefined) return { lane, effects: [] };
  const stages: LaneEffect[] = work.isRecorded ? [] : [{ kind: "stage", id, stage: "accepted" }];
  const known: Work = { ...work, isRecorded: true };
  if (work.phase === "preparing" && work.hasBaseline) {
    return after(stages, leave(replaceWork(lane, known), known));
  }
  if (work.phase !== "leaving" || as === "accepted") {
    return { lane: replaceWork(lane, known), effects: stages };
  }
  if (refused !== null && work.effect !== "stops") return after(stages, finish(lane, id, refused));
  return after(stages, call(lane, known));
}

function recordFailed(lane: Lane, id: string, message: string): LaneStep {
  const work = findWork(lane, id);
  if (work === undefined || work.phase === "sent" || work.phase === "seeking") return { lane, effects: [] };
  // The disk may hold up what moves, never what stops.
  if (work.effect === "stops") return leaveBeside(lane, id);
  return finish(lane, id, refusal("JOURNAL_FAILED", `it was not sent: the journal failed (${message})`));
}

function leaveBeside(lane: Lane, id: string): LaneStep {
  const work = lane.beside.find((other) => other.id === id);
  if (work?.phase !== "leaving") return { lane, effects: [] };
  return after([{ kind: "stage", id, stage: "accepted" }], call(lane, { ...work, isRecorded: true }));
}

function baselineKnown(lane: Lane, id: string): LaneStep {
  const work = lane.head;
  if (work?.id !== id || work.phase !== "preparing") return { lane, effects: [] };
  const known = { ...work, hasBaseline: true };
  return work.isRecorded ? leave(lane, known) : { lane: replaceWork(lane, known), effects: [] };
}

function leave(lane: Lane, work: Work): LaneStep {
  return {
    lane: replaceWork(lane, { ...work, phase: "leaving" }),
    effects: [{ kind: "record", id: work.id, as: "sent" }],
  };
}

function call(lane: Lane, work: Work): LaneStep {
  return {
    lane: replaceWork(lane, { ...work, phase: "sent" }),
    effects: [
      { kind: "stage", id: work.id, stage: "sent" },
      { kind: "call", id: work.id },
    ],
  };
}

function ended(lane: Lane, id: string, ending: CallEnding): LaneStep {
  const work = findWork(lane, id);
  if (work?.phase !== "sent") return { lane, effects: [] };
  const decision = decideEnding(work, ending);
  const unknown = ending.kind === "unknown" ? ending : work.unknown;
  switch (decision.kind) {
    case "final":
      return finish(lane, id, decision.outcome);
    case "again":
      return {
        lane: replaceWork(lane, { ...work, phase: "pausing", unknown }),
        effects: [{ kind: "pause", id }],
      };
    case "seek":
      return seek(lane, { ...work, unknown }, decision.otherwise);
  }
}

function again(lane: Lane, id: string, over: string | null): LaneStep {
  const work = findWork(lane, id);
  if (work?.phase !== "pausing") return { lane, effects: [] };
  if (over === null) {
    return { lane: replaceWork(lane, { ...work, phase: "sent" }), effects: [{ kind: "call", id }] };
  }
  const decision = endingAfterRepeats(work, over);
  return decision.kind === "final"
    ? finish(lane, id, decision.outcome)
    : seek(lane, work, decision.otherwise);
}

function seek(lane: Lane, work: Work, otherwise: Outcome): LaneStep {
  return {
    lane: replaceWork(lane, { ...work, phase: "seeking" }),
    effects: [{ kind: "seek", id: work.id, otherwise }],
  };
}

function withdrawn(lane: Lane, id: string, outcome: Outcome): LaneStep {
  const work = findWork(lane, id);
  if (work === undefined || work.effect === "stops") return { lane, effects: [] };
  const isUnsent = work.phase === "waiting" || work.phase === "preparing" || work.phase === "leaving";
  return isUnsent ? finish(lane, id, outcome) : { lane, effects: [] };
}

/** Takes a command out of the lane and lets the next one start. */
function finish(lane: Lane, id: string, outcome: Outcome): LaneStep {
  const without: Lane = {
    head: lane.head?.id === id ? null : lane.head,
    queue: lane.queue.filter((work) => work.id !== id),
    beside: lane.beside.filter((work) => work.id !== id),
    recovered: lane.recovered.filter((other) => other !== id),
  };
  return after([{ kind: "finish", id, outcome }], advance(without));
}

function after(effects: readonly LaneEffect[], step: LaneStep): LaneStep {
  return { lane: step.lane, effects: [...effects, ...step.effects] };
}

function findWork(lane: Lane, id: string): Work | undefined {
  if (lane.head?.id === id) return lane.head;
  return lane.beside.find((work) => work.id === id) ?? lane.queue.find((work) => work.id === id);
}

function replaceWork(lane: Lane, work: Work): Lane {
  const replace = (other: Work) => (other.id === work.id ? work : other);
  return {
    ...lane,
    head: lane.head === null ? null : replace(lane.head),
    queue: lane.queue.map(replace),
    beside: lane.beside.map(replace),
  };
}
