import {
  type CallMethodResultOptions,
  CallRequest,
  DataType,
  type ISessionContext,
  type OPCUAServer,
  StatusCodes,
  type Variant,
} from "node-opcua";
import type { Commander, CommandRecords, Envelope, EnvelopeRequest } from "../../../contracts/commander.ts";
import type { DescribedOperation, OperationManual } from "../../../contracts/operation-manual.ts";
import type { CommandStage } from "../../../domain/command.ts";
import { errorId } from "../../../domain/errors.ts";
import { clip } from "../../../domain/foreign-text.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { type Clock, noLaterThan } from "../../../platform/clock.ts";
import { describeError } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { type MethodModel, methodFolders } from "../model/method.ts";
import { robotType } from "../model/robot.ts";
import type { Folder, MethodHandler, MethodNode, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import { sourceOf } from "../security.ts";
import { operationMethod, outputs, queryOutcome } from "./method-models.ts";
import type { SlotCommand } from "./slot-command.ts";
import type { MissionRobot } from "./slot-operation.ts";
import { outcomeNumber, outcomeText, stageNumbers } from "./slot-tags.ts";
import { type TypedMethod, typedMethods } from "./typed-methods.ts";

/** Of a request id in a line of the log, because its sender chose it. */
const LONGEST_LOGGED_ID = 128;

/** The dependencies of methods. */
export interface MethodParts {
  readonly commander: Commander;
  readonly records: Pick<CommandRecords, "recall">;
  readonly catalogue: OperationManual;
  readonly clock: Clock;
  readonly log: Log;
  /** Aborted when the gateway stops: nobody waits for outcomes any more. */
  readonly signal: AbortSignal;
  /** The account of the caller; null: it may not call. */
  readonly accountOf: (context: ISessionContext) => Account | null;
  /** How long this caller may be kept waiting from now on, in milliseconds. */
  readonly waitMs: (context: ISessionContext) => number;
}

/** Methods for clients that can call. */
export interface Methods {
  /** Gives a robot's object the methods with typed arguments. `know` is asked when one is called. */
  addRobot(robot: Folder, know: () => MissionRobot): void;
}

const SCOPE = "call";
const noRobot: SlotCommand = { problem: "it is a method of a robot: call it on the robot's object" };
/** A later expiry is refused: somebody has written a constant. */
const LONGEST_EXPIRY_MS = 3_600_000;
/** The value that OPC UA sends for no time, in milliseconds: 1601-01-01 (OPC UA Part 6, DateTime). */
const NO_TIME_MS = Date.UTC(1601, 0, 1);

/** Adds the folder `Operations` with a method for each operation, and `QueryOutcome`. */
export function addMethods(builder: NodeBuilder, parts: MethodParts): Methods {
  const folders = {
    Operations: builder.root("Operations", methodFolders.Operations),
    RobotMethods: builder.root("RobotMethods", methodFolders.RobotMethods),
  };
  const robots = new Map<string, () => MissionRobot>();
  const ofRobots: MethodNode[] = [];

  function addMethod(model: MethodModel, handle: MethodHandler): void {
    const method = builder.method(folders[model.folder], model, handle);
    if (model.isOfRobots) ofRobots.push(method);
  }

  function add(model: MethodModel, run: Run): void {
    addMethod(model, (values, context) => guarded(model.name, context, values, null, run));
  }

  function addTyped(typed: TypedMethod): void {
    addMethod(typed, (values, context, objectPath) => {
      const robot = robots.get(objectPath)?.() ?? null;
      const run = runTyped(typed, values, robot);
      return guarded(typed.name, context, values, robot?.robotId ?? null, run);
    });
  }

  /** A call that cannot be executed counts as an unreadable request, and is audited. */
  function runTyped(typed: TypedMethod, values: readonly Variant[], robot: MissionRobot | null): Run {
    return (call, waitMs) => {
      const given = values.map(({ value }) => value);
      const command = robot === null ? noRobot : typed.command(given, robot);
      return "request" in command
        ? submitCall(parts, call, command.operation, { json: command.request }, waitMs)
        : submitCall(parts, call, typed.operation, { unreadable: problemOf(command) }, waitMs);
    };
  }

  /** An error of a handler becomes an answer and a log line: node-opcua would report it to nobody. */
  async function guarded(
    name: string,
    context: ISessionContext,
    values: readonly Variant[],
    robotId: RobotId | null,
    run: Run,
  ): Promise<CallMethodResultOptions> {
    const account = parts.accountOf(context);
    if (account === null) return { statusCode: StatusCodes.BadUserAccessDenied };
    const [requestId = "", , text = ""] = values.map(({ value }) => String(value ?? ""));
    const progress: Progress = { stage: "idle" };
    const expiresAtMs = timeOf(values[1]);
    try {
      return await run({ account, requestId, expiresAtMs, text, robotId, progress }, parts.waitMs(context));
    } catch (error) {
      if (parts.signal.aborted) return pending(progress.stage);
      const failed = {
        method: name,
        robotId,
        id: clip(requestId, LONGEST_LOGGED_ID),
        cause: describeError(error),
      };
      parts.log.error(failed, "a method failed inside the gateway");
      return answered(ending("unknown", "INTERNAL_FAULT", "the gateway failed; look at the robot", false));
    }
  }

  function runOperation({ name }: DescribedOperation): Run {
    return (call, waitMs) => submitCall(parts, call, name, { text: call.text }, waitMs);
  }

  const runQuery: Run = ({ account, requestId, progress }, waitMs) => {
    const onStage = (stage: CommandStage) => {
      progress.stage = stage;
    };
    const recalled = parts.records.recall(sourceOf(account), `${SCOPE}/${requestId}`, onStage);
    const found = recalled.then(
      (outcome) => outcome ?? refusal("UNKNOWN_REQUEST", "no command of yours with this RequestId is known"),
    );
    return inTime(parts.clock, found, waitMs, progress);
  };

  for (const operation of parts.catalogue.values()) add(operationMethod(operation), runOperation(operation));
  add(queryOutcome, runQuery);
  for (const typed of typedMethods) addTyped(typed);
  for (const method of ofRobots) builder.declare(robotType, method);

  return {
    addRobot(robot, know) {
      robots.set(robot.path, know);
      for (const method of ofRobots) builder.share(robot, method);
    },
  };
}

function submitCall(
  parts: MethodParts,
  { account, requestId, expiresAtMs, robotId, progress }: Call,
  operation: string,
  request: EnvelopeRequest,
  waitMs: number,
): Promise<CallMethodResultOptions> {
  const envelope: Envelope = {
    source: sourceOf(account),
    requestId,
    // Separate from the ids of slots, which no method call may use in advance.
    scope: SCOPE,
    operation,
    request,
    calledOn: robotId,
    expiry: { atMs: expiresAtMs, lacks: lackOf(expiresAtMs, parts.clock.nowMs()) },
    origin: account.origin ?? {},
  };
  const onStage = (stage: CommandStage) => {
    progress.stage = stage;
  };
  const ended = account.isDryRun
    ? parts.commander.check(envelope)
    : parts.commander.submit(envelope, parts.signal, onStage);
  return inTime(parts.clock, ended, waitMs, progress);
}

/** The outcome, or the stage if the caller must not wait any longer. */
async function inTime(clock: Clock, outcome: Promise<Outcome>, waitMs: number, progress: Progress) {
  const reported = await noLaterThan(clock, waitMs, outcome, null);
  return reported === null ? pending(progress.stage) : answered(reported);
}

function problemOf(command: SlotCommand): string {
  return "problem" in command ? command.problem : "it is no request of the fleet service";
}

interface Call {
  readonly account: Account;
  readonly requestId: string;
  /** Null: the caller gave none. */
  readonly expiresAtMs: number | null;
  readonly text: string;
  readonly robotId: RobotId | null;
  readonly progress: Progress;
}

/** The stage of a command, for an answer that cannot wait for its outcome. */
interface Progress {
  stage: keyof typeof stageNumbers;
}
type Run = (call: Call, waitMs: number) => Promise<CallMethodResultOptions>;

/** A call may have been delayed for any time: only its sender knows how long it is wanted. */
function lackOf(expiresAtMs: number | null, nowMs: number): string | null {
  if (expiresAtMs === null) return "give ExpiresAt, as 10 s from now";
  const isFar = expiresAtMs - nowMs > LONGEST_EXPIRY_MS;
  return isFar ? "ExpiresAt is more than an hour ahead: give 10 s from now" : null;
}

/** Null: the client gave no time. */
function timeOf(variant: Variant | undefined): number | null {
  const value: unknown = variant?.value;
  return value instanceof Date && value.getTime() > NO_TIME_MS ? value.getTime() : null;
}

function answered(outcome: Outcome): CallMethodResultOptions {
  return result(
    outcomeNumber(outcome.outcome),
    errorId(outcome.code),
    outcomeText(outcome),
    outcome.retrySafe,
    outcome.responseJson ?? "",
    false,
  );
}

function pending(stage: keyof typeof stageNumbers): CallMethodResultOptions {
  return result(stageNumbers[stage], 0, "", false, "", true);
}

/** Always with status Good: some clients drop the outputs otherwise. */
function result(
  ...values: readonly [number, number, string, boolean, string, boolean]
): CallMethodResultOptions {
  const outputArguments = outputs.map(({ type }, index) => ({
    dataType: DataType[type],
    value: values[index],
  }));
  return { statusCode: StatusCodes.Good, outputArguments };
}

/** The longest wait, for any timeout of the client. */
const LONGEST_MS = 4_000;
/** The share of the client's timeout: the answer needs time on its way, too. */
const SHARE = 0.5;

/**
 * How long the caller of a method may still be kept waiting: a share of its client's timeout. All methods of
 * one request share it, because the server executes them one after the other.
 */
export function watchMethodWait(server: OPCUAServer, clock: Clock): (context: ISessionContext) => number {
  const deadlines = new WeakMap<object, number>();
  server.on("request", (request) => {
    if (!(request instanceof CallRequest)) return;
    const session = server.engine.getSession(request.requestHeader.authenticationToken);
    if (session === null) return;
    const { timeoutHint } = request.requestHeader;
    const waitMs = timeoutHint === 0 ? LONGEST_MS : Math.min(LONGEST_MS, timeoutHint * SHARE);
    deadlines.set(session, clock.monotonicMs() + waitMs);
  });
  return ({ session }) => {
    const deadlineMs = session === undefined ? undefined : deadlines.get(session);
    return deadlineMs === undefined ? LONGEST_MS : Math.max(0, deadlineMs - clock.monotonicMs());
  };
}
