import type { Catalogue } from "../../src/contracts/operation.ts";
import type { Outcome } from "../../src/domain/outcome.ts";
import { methods } from "../../src/fleet/operations/row.ts";
import type { RecordEntry } from "../../src/simulator/world/record.ts";
import { createRobotPool, type TestRobot } from "../contract/contract-harness.ts";
import { operations, readNames } from "../support/operations.ts";
import { type DaemonHarness, openDaemonHarness } from "./daemon-harness.ts";
import { type Mode, streamsMode } from "./decidability-modes.ts";
import type { DecidabilityRow, FaultName } from "./decidability-table.ts";
import { type Prepared, recipes } from "./prepared-commands.ts";

/** One row that was tried with one fault: what its sender was told, and what the service knows. */
export interface Trial {
  readonly name: string;
  readonly row: DecidabilityRow;
  readonly fault: FaultName;
  readonly outcome: Outcome;
  /** How often the service was given it. */
  readonly sendings: number;
  readonly wasAnsweredOk: boolean;
  readonly hadEffect: boolean;
}

interface Attempt {
  readonly name: string;
  readonly row: DecidabilityRow;
  readonly robot: TestRobot;
  readonly prepared: Prepared;
}

export const nameOf = ({ operation, variant }: DecidabilityRow): string =>
  variant === undefined ? operation : `${operation} ${variant}`;

const START_WITHIN_MS = 10_000;
/** What cannot leave has to be given up within a test. */
const AWAY_START_WITHIN_MS = 1_500;
/** Long enough to leave in, on a machine that has much to do. */
const SHORT_START_WITHIN_MS = 2_000;
/** What changes nothing is not in the service's record. */
const reads: ReadonlySet<string> = new Set(readNames);
/** Longer than a cut takes, and shorter than a call waits. */
const SLOW_CONFIRM_MS = 1_000;
/** Polls of the gateway that may come before a command that leaves at once. */
const MOST_POLLS = 4;
/** More sendings than the gateway makes while it may. */
const ALL_THAT_FOLLOW = 100;
/** A robot that acts late does so a second after the answer. */
const LATE_MS = 1_500;

/** Tries all rows at once, each with a robot of its own, against one service that has this fault. */
export async function tryAll(
  rows: readonly DecidabilityRow[],
  fault: FaultName,
  { catalogue, mode = streamsMode }: { readonly catalogue?: Catalogue; readonly mode?: Mode } = {},
): Promise<readonly Trial[]> {
  const fresh = createRobotPool();
  const chosen = rows.map((row) => {
    const recipe = recipes.get(nameOf(row));
    if (recipe === undefined) throw new Error(`nothing prepares ${nameOf(row)}`);
    return { row, recipe, robot: fresh(recipe.robot) };
  });
  const harness = await openDaemonHarness({
    robots: chosen.map(({ robot }) => robot.id),
    ...mode,
    ...(catalogue === undefined ? {} : { catalogue }),
    simulator: fault === "cut-after" ? { confirmMs: SLOW_CONFIRM_MS } : {},
  });
  try {
    const chosenRobots = chosen.map(({ robot }) => robot);
    await isKnown(harness, chosenRobots, mode);
    const attempts = await Promise.all(
      chosen.map(async ({ row, recipe, robot }) => {
        const prepared = await recipe.prepare(harness.ask, robot);
        return { name: nameOf(row), row, robot, prepared };
      }),
    );
    const hasMissions = attempts.some(({ prepared }) => prepared.missionSeen !== undefined);
    if (mode.hasGrpc || mode.events === "webhook") {
      await Promise.all(attempts.map((attempt) => isSeen(harness, attempt)));
    }
    if (mode.events === "webhook" && hasMissions) await isDelivered(harness, mode);
    const since = harness.simulator.control.record(0).at(-1)?.seq ?? 0;
    const webhooksBefore = await webhookUrls(harness);
    const outcomes = await strike(harness, attempts, fault, since, mode);
    if (fault === "delay-taken-late") await harness.clock.pass(LATE_MS);
    const record = harness.simulator.control.record(since);
    const webhooksAfter = await webhookUrls(harness);
    return attempts.map((attempt, index) => {
      const outcome = outcomes[index];
      if (outcome === undefined) throw new Error(`${attempt.name} has no outcome`);
      const known = knownOf(attempt, record);
      // The record does not tell of webhooks; the service's list does.
      const made = attempt.row.operation === "CreateWebhook" && hasNew(webhooksBefore, webhooksAfter);
      const deleted = attempt.row.operation === "DeleteWebhook" && hasNew(webhooksAfter, webhooksBefore);
      const hadEffect = known.hadEffect || made || deleted;
      return { name: attempt.name, row: attempt.row, fault, outcome, ...known, hadEffect };
    });
  } finally {
    await harness.close();
  }
}

/** Waits until every robot may be moved where that can be, its number is known, and webhooks are wanted. */
async function isKnown(
  { fleet, state }: DaemonHarness,
  robots: readonly TestRobot[],
  { hasGrpc, events }: Mode,
): Promise<void> {
  const isGood = ({ id }: TestRobot) => state.robot(id)?.quality === "good";
  if (hasGrpc) await fleet.until("every robot is good", () => robots.every(isGood));
  await fleet.event("roster");
  if (events === "webhook") {
    await fleet.until("the service is to deliver", () => fleet.figure("webhook_subscriptions_made") === 2);
  }
}

/** Waits until missions come by webhook alone: some have been delivered, and their stream rests. */
async function isDelivered({ fleet }: DaemonHarness, { hasGrpc }: Mode): Promise<void> {
  await fleet.until("missions are delivered", () => fleet.figure("webhook_sources_proven") === 1);
  if (hasGrpc) await fleet.until("their stream is suspended", () => fleet.figure("streams_suspended") === 1);
}

/** Waits until the gateway has seen what the service had to be told first. */
async function isSeen({ fleet }: DaemonHarness, { robot, prepared }: Attempt): Promise<void> {
  const { missionSeen } = prepared;
  if (missionSeen === undefined) return;
  await fleet.event(
    "mission",
    ({ robotId, queue }) =>
      robotId === robot.id &&
      queue.missions.some(
        ({ missionId, state }) => missionId === missionSeen.missionId && state === missionSeen.state,
      ),
  );
}

/** Sends all at once, and lets the fault strike at its moment. */
async function strike(
  harness: DaemonHarness,
  attempts: readonly Attempt[],
  fault: FaultName,
  since: number,
  { transport }: Mode,
): Promise<readonly Outcome[]> {
  const { fleet, grpcWire, httpsWire } = harness;
  const failures = fleet.figure("poll_failures");
  const submitAll = (startWithinMs = START_WITHIN_MS) =>
    Promise.all(
      attempts.map(({ row, prepared }) => harness.submit(row.operation, prepared.request, startWithinMs)),
    );
  switch (fault) {
    case "cut-before":
    case "cut-after":
      return cutDuring(harness, attempts, submitAll, transport, fault === "cut-after" ? since : null);
    case "away":
      await Promise.all([grpcWire.unplug(), httpsWire.unplug()]);
      await fleet.until("the loss is noticed", () =>
        transport === "grpc"
          ? (fleet.health().detail?.includes("for commands") ?? false)
          : fleet.figure("poll_failures") > failures,
      );
      return submitAll(AWAY_START_WITHIN_MS);
    case "delay-taken-expired":
      return holdBeyondExpiry(harness, attempts, submitAll);
    case "taken-then-failing":
      befall(harness, attempts, "delay-taken");
      befall(harness, attempts, "internal-before", new Set(), ALL_THAT_FOLLOW);
      return submitAll(SHORT_START_WITHIN_MS);
    default:
      befall(harness, attempts, fault);
      return submitAll();
  }
}

/** What the service itself does to a call that it is told to fail. */
type ServiceFault = Exclude<
  FaultName,
  "cut-before" | "cut-after" | "away" | "delay-taken-expired" | "taken-then-failing"
>;

/**
 * The service does this to the next call of each (or to so many), and to the next few of those that are
 * polled.
 */
function befall(
  { simulator }: DaemonHarness,
  attempts: readonly Attempt[],
  effect: ServiceFault,
  polled: ReadonlySet<string> = new Set(),
  times = 1,
): void {
  for (const { row, robot } of attempts) {
    // The faults of what is answered without a robot meet every sender.
    const whose = operations.get(row.operation)?.robotless === true ? {} : { robotId: robot.id };
    const count = polled.has(row.operation) ? MOST_POLLS : times;
    simulator.control.apply({ kind: "command", operation: row.operation, effect, count, ...whose });
  }
}

/** Lets all go when they have left the dispatcher in time, and their time is over. */
async function holdBeyondExpiry(
  harness: DaemonHarness,
  attempts: readonly Attempt[],
  submitAll: (startWithinMs: number) => Promise<readonly Outcome[]>,
): Promise<readonly Outcome[]> {
  const { gate, fleet, clock } = harness;
  const tried = new Set(attempts.map(({ row }) => row.operation));
  gate.shut((operation) => tried.has(operation));
  const outcomes = submitAll(SHORT_START_WITHIN_MS);
  const expired = clock.pass(SHORT_START_WITHIN_MS);
  await fleet.until("all are about to leave", () => gate.waiting() === leavingOf(attempts).length);
  await expired;
  // Not before: the gateway's own polls must not meet it. One may even so, and leaves it to the command too.
  befall(harness, attempts, "delay-taken", reads);
  gate.open();
  return outcomes;
}

/** What the table refuses in a mode never leaves. */
function leavingOf(attempts: readonly Attempt[]): readonly Attempt[] {
  return attempts.filter(({ row }) => row.allowed["delay-taken"].join() !== "refused");
}

/**
 * Cuts the wires when requests are under way, or (`since`: the record's end before them)
 * when the service has them. What is known before a command leaves is asked for first.
 */
async function cutDuring(
  harness: DaemonHarness,
  attempts: readonly Attempt[],
  submitAll: () => Promise<readonly Outcome[]>,
  transport: Mode["transport"],
  since: number | null,
): Promise<readonly Outcome[]> {
  const { simulator, gate, grpcWire, httpsWire, fleet } = harness;
  const leaving = leavingOf(attempts);
  const commands = leaving.filter(({ row }) => !reads.has(row.operation));
  // A read is held where it is tried itself, and passes where it is asked for what is known before a command.
  const tried = new Set(attempts.map(({ row }) => row.operation));
  gate.shut((operation) => tried.has(operation));
  const outcomes = submitAll();
  await fleet.until("all are about to leave", () => gate.waiting() === leaving.length);
  const accepted = httpsWire.accepted();
  const overHttps = commands.filter(
    ({ row }) => transport === "rest" || methods.get(row.operation)?.hasGrpc === false,
  );
  if (since === null) {
    for (const wire of [grpcWire, httpsWire]) wire.stall();
    gate.open();
    await fleet.until(
      "requests are on their wires",
      () =>
        httpsWire.withheld() > 0 &&
        httpsWire.accepted() - accepted >= overHttps.length &&
        (transport === "rest" || grpcWire.withheld() > 0),
    );
  } else {
    grpcWire.stall("answers");
    gate.open();
    await fleet.until("the service has them all", () =>
      commands.every((attempt) => knownOf(attempt, simulator.control.record(since)).sendings > 0),
    );
  }
  for (const wire of [grpcWire, httpsWire]) {
    wire.cut();
    wire.resume();
  }
  return outcomes;
}

/** What the service's own record says of a command. */
function knownOf(
  { row, robot }: Attempt,
  record: readonly RecordEntry[],
): Pick<Trial, "sendings" | "wasAnsweredOk" | "hadEffect"> {
  const calls = new Set<number>();
  let wasAnsweredOk = false;
  let hadEffect = false;
  for (const { fact, robotId } of record) {
    if (fact.what === "received" && fact.operation === row.operation) {
      if (robotId === robot.id || robotId === "") calls.add(fact.callId);
    } else if (fact.what === "answered" && calls.has(fact.callId)) {
      wasAnsweredOk ||= fact.code === "OK";
    } else if ("by" in fact && calls.has(Number(fact.by.replace("call:", "")))) {
      hadEffect = true;
    }
  }
  return { sendings: calls.size, wasAnsweredOk, hadEffect };
}

async function webhookUrls({ simulator }: DaemonHarness): Promise<readonly string[]> {
  const answer = await simulator.rest("POST", "/v1/webhook/list", {});
  const { webhooks = [] } = answer.json() as { webhooks?: ReadonlyArray<{ url: string }> };
  return webhooks.map(({ url }) => url);
}

function hasNew(before: readonly string[], after: readonly string[]): boolean {
  return after.some((url) => !before.includes(url));
}

/** What is wrong with a trial: an outcome that the table does not allow, or that the record contradicts. */
export function violations({ name, row, fault, outcome, ...known }: Trial): readonly string[] {
  const told = `${name} after ${fault} was told ${outcome.outcome} (${outcome.code}: ${outcome.message})`;
  const found: string[] = [];
  if (!row.allowed[fault].includes(outcome.outcome)) {
    found.push(`${told}, allowed is ${row.allowed[fault].join(" or ")}`);
  }
  if (!row.isRepeatable && known.sendings > 1) found.push(`${told}, and was sent ${known.sendings} times`);
  if (reads.has(row.operation)) return found;
  const contradiction = contradictionOf(outcome, known, fault === "cut-before");
  if (contradiction !== null) found.push(`${told}, and ${contradiction}`);
  return found;
}

function contradictionOf(
  { outcome, evidence }: Outcome,
  { sendings, wasAnsweredOk, hadEffect }: Pick<Trial, "sendings" | "wasAnsweredOk" | "hadEffect">,
  mayHaveLeft: boolean,
): string | null {
  switch (outcome) {
    case "succeeded":
      return wasAnsweredOk ? null : "the service never answered OK";
    case "probably_succeeded":
      if (evidence === null || evidence === "") return "gives no evidence";
      return hadEffect ? null : "nothing happened";
    case "refused":
      return hadEffect ? "it had its effect" : null;
    case "expired":
    case "checked":
      return sendings === 0 ? null : "it was sent";
    case "unknown":
      return sendings === 0 && !mayHaveLeft ? "it had never left" : null;
  }
}
