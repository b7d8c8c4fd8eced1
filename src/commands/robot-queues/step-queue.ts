import type { CallEnding } from "../../contracts/fleet-port.ts";
import { type Outcome, refusal } from "../../domain/outcome.ts";
import { decideEnding, endingAfterRepeats } from "./ending.ts";
import type {
  QueueEffect,
  QueueInput,
  QueueStep,
  RobotQueue,
  RobotQueueLimits,
  Work,
} from "./robot-queue.ts";

/** Applies an input to a queue. Pure. */
export function stepQueue(queue: RobotQueue, input: QueueInput, limits: RobotQueueLimits): QueueStep {
  switch (input.kind) {
    case "submitted":
      return submitted(queue, input.work, limits);
    case "recovered":
      return { queue: { ...queue, recovered: [...queue.recovered, input.id] }, effects: [] };
    case "recorded":
      return recorded(queue, input.id, input.as, input.refused);
    case "record_failed":
      return recordFailed(queue, input.id, input.message);
    case "record_late":
      return leaveBeside(queue, input.id);
    case "baseline_known":
      return baselineKnown(queue, input.id);
    case "ended":
      return ended(queue, input.id, input.ending);
    case "again":
      return again(queue, input.id, input.over);
    case "sought":
      return finish(queue, input.id, input.outcome);
    case "withdrawn":
      return withdrawn(queue, input.id, input.outcome);
  }
}

function submitted(queue: RobotQueue, work: Work, limits: RobotQueueLimits): QueueStep {
  if (work.effect === "stops") return stop(queue, work);
  if (work.effect === "reads") return read(queue, work, limits);
  if (queue.head === null && queue.recovered.length === 0) {
    const step = start(queue, work);
    return work.needsBaseline ? after([{ kind: "record", id: work.id, as: "accepted" }], step) : step;
  }
  if (queue.waiting.length >= limits.maxQueue) {
    const message = `${limits.maxQueue} commands already wait behind the one in flight for this robot`;
    return {
      queue,
      effects: [{ kind: "finish", id: work.id, outcome: refusal("QUEUE_FULL", message) }],
    };
  }
  return {
    queue: { ...queue, waiting: [...queue.waiting, work] },
    effects: [{ kind: "record", id: work.id, as: "accepted" }],
  };
}

/** A stop goes at once, and cancels every start that was not sent. */
function stop(queue: RobotQueue, work: Work): QueueStep {
  const isUnsentStart = (other: Work) =>
    other.effect === "moves" && other.phase !== "sent" && other.phase !== "seeking";
  const canceled = [...(queue.head === null ? [] : [queue.head]), ...queue.waiting].filter(isUnsentStart);
  const outcome = refusal("CANCELED_BY_STOP", `the stop ${work.id} overtook it before it was sent`);
  const head = queue.head !== null && isUnsentStart(queue.head) ? null : queue.head;
  const next = advance({
    ...queue,
    head,
    waiting: queue.waiting.filter((other) => !isUnsentStart(other)),
    beside: [...queue.beside, { ...work, phase: "leaving" }],
  });
  return {
    queue: next.queue,
    effects: [
      { kind: "record", id: work.id, as: "sent" },
      ...canceled.map(({ id }): QueueEffect => ({ kind: "finish", id, outcome })),
      ...next.effects,
    ],
  };
}

function read(queue: RobotQueue, work: Work, limits: RobotQueueLimits): QueueStep {
  if (queue.beside.filter(({ effect }) => effect === "reads").length >= limits.maxReads) {
    const message = `${limits.maxReads} reads are already in flight here`;
    return { queue, effects: [{ kind: "finish", id: work.id, outcome: refusal("QUEUE_FULL", message) }] };
  }
  return {
    queue: { ...queue, beside: [...queue.beside, { ...work, phase: "sent" }] },
    effects: [
      { kind: "report_accepted", id: work.id },
      { kind: "call", id: work.id },
    ],
  };
}

/**
 * Makes a command the one in flight. A command that is sent at once has one record, "sent", and so one sync.
 * After a crash between record and call, evidence is sought for it; it is never sent again.
 */
function start(queue: RobotQueue, work: Work): QueueStep {
  if (!work.needsBaseline) {
    return {
      queue: { ...queue, head: { ...work, phase: "leaving" } },
      effects: [{ kind: "record", id: work.id, as: "sent" }],
    };
  }
  return {
    queue: { ...queue, head: { ...work, phase: "preparing" } },
    effects: [{ kind: "ask_baseline", id: work.id }],
  };
}

/** Starts the next command if the queue is free. */
function advance(queue: RobotQueue): QueueStep {
  const [next, ...waiting] = queue.waiting;
  if (queue.head !== null || queue.recovered.length > 0 || next === undefined) return { queue, effects: [] };
  const step = start(queue, next);
  return { queue: { ...step.queue, waiting }, effects: step.effects };
}

function recorded(
  queue: RobotQueue,
  id: string,
  as: "accepted" | "sent",
  refused: Outcome | null,
): QueueStep {
  const work = findWork(queue, id);
  if (work === undefined) return { queue, effects: [] };
  const stages: QueueEffect[] = work.isRecorded ? [] : [{ kind: "report_accepted", id }];
  const known: Work = { ...work, isRecorded: true };
  if (work.phase === "preparing" && work.hasBaseline) {
    return after(stages, leave(replaceWork(queue, known), known));
  }
  if (work.phase !== "leaving" || as === "accepted") {
    return { queue: replaceWork(queue, known), effects: stages };
  }
  if (refused !== null && work.effect !== "stops") return after(stages, finish(queue, id, refused));
  return after(stages, call(queue, known));
}

function recordFailed(queue: RobotQueue, id: string, message: string): QueueStep {
  const work = findWork(queue, id);
  if (work === undefined || work.phase === "sent" || work.phase === "seeking") return { queue, effects: [] };
  // The disk may delay a start, never a stop.
  if (work.effect === "stops") return leaveBeside(queue, id);
  return finish(queue, id, refusal("JOURNAL_FAILED", `it was not sent: the journal failed (${message})`));
}

function leaveBeside(queue: RobotQueue, id: string): QueueStep {
  const work = queue.beside.find((other) => other.id === id);
  if (work?.phase !== "leaving") return { queue, effects: [] };
  return after([{ kind: "report_accepted", id }], call(queue, { ...work, isRecorded: true }));
}

function baselineKnown(queue: RobotQueue, id: string): QueueStep {
  const work = queue.head;
  if (work?.id !== id || work.phase !== "preparing") return { queue, effects: [] };
  const known = { ...work, hasBaseline: true };
  return work.isRecorded ? leave(queue, known) : { queue: replaceWork(queue, known), effects: [] };
}

function leave(queue: RobotQueue, work: Work): QueueStep {
  return {
    queue: replaceWork(queue, { ...work, phase: "leaving" }),
    effects: [{ kind: "record", id: work.id, as: "sent" }],
  };
}

function call(queue: RobotQueue, work: Work): QueueStep {
  return {
    queue: replaceWork(queue, { ...work, phase: "sent" }),
    effects: [{ kind: "call", id: work.id }],
  };
}

function ended(queue: RobotQueue, id: string, ending: CallEnding): QueueStep {
  const work = findWork(queue, id);
  if (work?.phase !== "sent") return { queue, effects: [] };
  const decision = decideEnding(work, ending);
  const unknown = ending.kind === "unknown" ? ending : work.unknown;
  switch (decision.kind) {
    case "final":
      return finish(queue, id, decision.outcome);
    case "again":
      return {
        queue: replaceWork(queue, { ...work, phase: "pausing", unknown }),
        effects: [{ kind: "pause", id }],
      };
    case "seek":
      return seek(queue, { ...work, unknown }, decision.otherwise);
  }
}

function again(queue: RobotQueue, id: string, over: string | null): QueueStep {
  const work = findWork(queue, id);
  if (work?.phase !== "pausing") return { queue, effects: [] };
  if (over === null) {
    return { queue: replaceWork(queue, { ...work, phase: "sent" }), effects: [{ kind: "call", id }] };
  }
  const decision = endingAfterRepeats(work, over);
  return decision.kind === "final"
    ? finish(queue, id, decision.outcome)
    : seek(queue, work, decision.otherwise);
}

function seek(queue: RobotQueue, work: Work, otherwise: Outcome): QueueStep {
  return {
    queue: replaceWork(queue, { ...work, phase: "seeking" }),
    effects: [{ kind: "seek", id: work.id, otherwise }],
  };
}

function withdrawn(queue: RobotQueue, id: string, outcome: Outcome): QueueStep {
  const work = findWork(queue, id);
  if (work === undefined || work.effect === "stops") return { queue, effects: [] };
  const isUnsent = work.phase === "waiting" || work.phase === "preparing" || work.phase === "leaving";
  return isUnsent ? finish(queue, id, outcome) : { queue, effects: [] };
}

/** Removes a command from the queue and starts the next one. */
function finish(queue: RobotQueue, id: string, outcome: Outcome): QueueStep {
  const without: RobotQueue = {
    head: queue.head?.id === id ? null : queue.head,
    waiting: queue.waiting.filter((work) => work.id !== id),
    beside: queue.beside.filter((work) => work.id !== id),
    recovered: queue.recovered.filter((other) => other !== id),
  };
  return after([{ kind: "finish", id, outcome }], advance(without));
}

function after(effects: readonly QueueEffect[], step: QueueStep): QueueStep {
  return { queue: step.queue, effects: [...effects, ...step.effects] };
}

function findWork(queue: RobotQueue, id: string): Work | undefined {
  if (queue.head?.id === id) return queue.head;
  return queue.beside.find((work) => work.id === id) ?? queue.waiting.find((work) => work.id === id);
}

function replaceWork(queue: RobotQueue, work: Work): RobotQueue {
  const replace = (other: Work) => (other.id === work.id ? work : other);
  return {
    ...queue,
    head: queue.head === null ? null : replace(queue.head),
    waiting: queue.waiting.map(replace),
    beside: queue.beside.map(replace),
  };
}
