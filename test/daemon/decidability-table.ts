import type { OutcomeName } from "../../src/domain/outcome.ts";
import { readNames } from "../support/operations.ts";

/**
 * What goes wrong between a command and its answer, and whether the robot acts.
 *
 * - `delay-taken`, `delay-not-taken`, `delay-taken-late`: DEADLINE_EXCEEDED after the
 *   service's wait for the robot, with the effect there, never there, or there only afterwards;
 * - `delay-taken-expired`: the effect is there, and the command's time is over when the
 *   DEADLINE_EXCEEDED comes, so that nothing may be sent again but what may be so late;
 * - `taken-then-failing`: the effect is there, and every sending after it fails with INTERNAL;
 * - `internal-before`, `internal-after`: INTERNAL, without and with the effect;
 * - `cut-before`, `cut-after`: the connection is cut while the request is under way, or
 *   when the service has it and before it answers;
 * - `away`: there is no connection when the command is to leave.
 */
export const faults = [
  "delay-taken",
  "delay-not-taken",
  "delay-taken-late",
  "delay-taken-expired",
  "taken-then-failing",
  "internal-before",
  "internal-after",
  "cut-before",
  "cut-after",
  "away",
] as const;
export type FaultName = (typeof faults)[number];

/** The outcomes that are allowed for a command that met each fault. Whatever is not named is a violation. */
export type Allowed = Readonly<Record<FaultName, readonly OutcomeName[]>>;

/** What is allowed of one request, and why if docs/commands.md, Operations, does not say it. */
export interface DecidabilityRow {
  readonly operation: string;
  /** Which of an operation's requests it is, where they differ in what may be known. */
  readonly variant?: string;
  readonly allowed: Allowed;
  /** Whether it may reach the service more than once. */
  readonly isRepeatable: boolean;
  readonly because: string;
}

const inferred = ["probably_succeeded"] as const;
const unknown = ["unknown"] as const;
const done = ["succeeded"] as const;
const refused = ["refused"] as const;

/** Never repeated, and its effect shows: known wherever there is an effect to see. */
const shown: Allowed = {
  "delay-taken": inferred,
  "delay-not-taken": unknown,
  "delay-taken-late": inferred,
  "delay-taken-expired": inferred,
  "taken-then-failing": inferred,
  "internal-before": unknown,
  "internal-after": inferred,
  "cut-before": unknown,
  "cut-after": inferred,
  away: refused,
};

/** Never repeated, and nothing that the service shows could tell. */
const hidden: Allowed = {
  "delay-taken": unknown,
  "delay-not-taken": unknown,
  "delay-taken-late": unknown,
  "delay-taken-expired": unknown,
  "taken-then-failing": unknown,
  "internal-before": unknown,
  "internal-after": unknown,
  "cut-before": unknown,
  "cut-after": unknown,
  away: refused,
};

/** Sent again until the service says yes, or its time is over; doing it twice is doing it once. */
const repeated: Allowed = {
  "delay-taken": done,
  "delay-not-taken": done,
  "delay-taken-late": done,
  "delay-taken-expired": unknown,
  "taken-then-failing": unknown,
  "internal-before": done,
  "internal-after": done,
  "cut-before": done,
  "cut-after": done,
  away: refused,
};

/** Sent again; a refusal of the repeat, or the state that is seen, says that it was done already. */
const repeatedOnce: Allowed = {
  ...repeated,
  "delay-taken": inferred,
  "internal-after": inferred,
  "cut-after": inferred,
};

/** What is sent again, and can be seen when it may be no longer, or fails for ever. */
const visibly = (allowed: Allowed): Allowed => ({
  ...allowed,
  "delay-taken-expired": inferred,
  "taken-then-failing": inferred,
});

/** The same of what is also sent again when its time is over: the repeat tells, as it does in time. */
const visiblyLate = (allowed: Allowed): Allowed => ({
  ...visibly(allowed),
  "delay-taken-expired": allowed["delay-taken"],
});

/**
 * Commands over HTTPS have a connection each, made for them: without one, nothing has
 * left, and that is certain.
 */
export const overHttps = (allowed: Allowed): Allowed => ({ ...allowed, "cut-before": refused });

const never = (operation: string, allowed: Allowed, because: string, variant?: string): DecidabilityRow => ({
  operation,
  allowed,
  isRepeatable: false,
  because,
  ...(variant === undefined ? {} : { variant }),
});

const again = (operation: string, allowed: Allowed, because: string, variant?: string): DecidabilityRow => ({
  ...never(operation, allowed, because, variant),
  isRepeatable: true,
});

const newMission = "exactly one new mission of owner api with its type and goals appears for the robot";

/** The commands that stand in a queue of their own, and what may be said of each after each fault. */
export const commandTable: readonly DecidabilityRow[] = [
  never("CreateMission", shown, newMission),
  never("AppendMission", shown, newMission),
  never("CreateMissionWorkflow", shown, newMission),
  never("ChargeRobot", shown, newMission),
  again("UpdateMission", visiblyLate(repeatedOnce), "a mission that has ended needs no canceling", "CANCEL"),
  again("UpdateMission", visibly(repeatedOnce), "the mission is seen as paused, and was not", "PAUSE"),
  never("UpdateMission", shown, "the mission is seen as running, and was not", "RESUME"),
  never("UpdateMission", shown, "the mission is seen as succeeded, and was not", "FINISH"),
  never("SkipGoal", hidden, "a goal that was skipped looks like one that was reached"),
  again("ControlConveyor", visiblyLate(repeated), "a conveyor that stands may be told to stop", "STOP"),
  never("ControlConveyor", hidden, "ROLLING does not tell clockwise from counter-clockwise", "CW"),
  never("ControlConveyor", hidden, "ROLLING does not tell clockwise from counter-clockwise", "CCW"),
  never(
    "AddTaskChain",
    // The service answers it without waiting for a robot: whether its answer or the cut comes first.
    overHttps({ ...shown, "cut-after": ["succeeded", "probably_succeeded"] }),
    "a chain is found that carries its identity as taskSeq",
  ),
  never("ReassignTaskByAmrId", overHttps(shown), "QueryTaskChain shows the new tasks"),
  never("ReassignTaskByTaskChainId", overHttps(shown), "QueryTaskChain shows the new tasks"),
  never("FinishTaskChain", overHttps(shown), "QueryTaskChain shows the confirmation as completed"),
  never(
    "CancelTaskChain",
    overHttps({
      ...shown,
      // A stop does not wait: when its effect comes first, the state before it was never seen.
      "delay-taken": ["probably_succeeded", "unknown"],
      "delay-taken-expired": ["probably_succeeded", "unknown"],
      "taken-then-failing": ["probably_succeeded", "unknown"],
      "internal-after": ["probably_succeeded", "unknown"],
      "cut-after": ["probably_succeeded", "unknown"],
    }),
    "QueryTaskChain shows the chain as ended, where it was seen under way",
  ),
  again(
    "PauseRobot",
    // Over HTTPS what did not leave is tried again, so a cut before is no end of it.
    { ...repeated, "delay-taken": unknown, "internal-after": unknown, "cut-after": unknown },
    "the repeat is refused, which does not tell a paused robot from one without a chain",
  ),
  never("ResumeRobot", overHttps(hidden), "the interface names no state of a paused robot"),
  never("CreateWebhook", shown, "ListWebhooks shows one more of its address"),
];

/**
 * What wants no baseline and no robot's queue: the reads, whose `cut-after` is after the
 * service has answered, and what would wait behind CreateWebhook in the fleet's queue.
 */
export const freeTable: readonly DecidabilityRow[] = [
  again("DeleteWebhook", repeatedOnce, "NOT_FOUND on the repeat: it is gone"),
  ...readNames.map((name) => again(name, repeated, "it changes nothing, so it is asked again")),
];
