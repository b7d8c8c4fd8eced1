import {
  type CallMethodResultOptions,
  DataType,
  type ISessionContext,
  StatusCodes,
  type Variant,
} from "node-opcua";
import type { Envelope, EnvelopeRequest } from "../../../contracts/commander.ts";
import type { DescribedOperation } from "../../../contracts/operation-manual.ts";
import type { CommandStage, Source } from "../../../domain/command.ts";
import { errorId } from "../../../domain/errors.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Clock } from "../../../platform/clock.ts";
import { describeError } from "../../../platform/log.ts";
import { noLaterThan } from "../../../platform/no-later-than.ts";
import { argumentTexts, methodTexts } from "../model/method.ts";
import { robotType } from "../model/robot.ts";
import type { Text } from "../model/text.ts";
import type { Folder, MethodNode, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import type { Draft } from "./draft.ts";
import type { MissionRobot } from "./slot-operation.ts";
import type { SlotParts } from "./slot-parts.ts";
import { outcomeNumber, outcomeText, stageNumbers } from "./slot-tags.ts";
import { type TypedMethod, typedMethods } from "./typed-methods.ts";

/** What methods need of the rest of the server. */
export interface MethodParts
  extends Pick<SlotParts, "commander" | "records" | "catalogue" | "clock" | "log" | "signal"> {
  /** Who calls; null: nobody who may. */
  readonly accountOf: (context: ISessionContext) => Account | null;
  /** How long this caller may be kept waiting from now on, in milliseconds. */
  readonly waitMs: (context: ISessionContext) => number;
}

/** Methods for clients that can call: one for each operation, shared by every object that has it. */
export interface Methods {
  /**
   * Gives a robot's object the operations that are about one robot, its name filled in, and the methods with
   * typed arguments. `know` is asked when one is called.
   */
  addRobot(robot: Folder, robotId: RobotId, know: () => MissionRobot): void;
}

const SCOPE = "call";
const { String: STRING, DateTime: DATE_TIME, Int32: INT32, Boolean: BOOLEAN } = DataType;
const inputs = [argument("RequestId", STRING)];
const expiryInput = argument("ExpiresAt", DATE_TIME);
const requestInput = argument("Request", STRING);
const noRobot: Draft = { problem: "it is a method of a robot: call it on the robot's object" };
/** An expiry further ahead is no expiry: somebody has written a constant. */
const LONGEST_EXPIRY_MS = 3_600_000;
/** What OPC UA sends for no time at all, in milliseconds: 1601-01-01 (OPC UA Part 6, DateTime). */
const NO_TIME_MS = Date.UTC(1601, 0, 1);
const outputs = [
  argument("Outcome", INT32),
  argument("ErrorId", INT32),
  argument("ErrorText", STRING),
  argument("RetrySafe", BOOLEAN),
  argument("ResponseJson", STRING),
  argument("Pending", BOOLEAN),
];

/** Adds the folder `Operations` with a method for each operation, and `QueryOutcome`. */
export function addMethods(builder: NodeBuilder, parts: MethodParts): Methods {
  const folder = builder.root("Operations", {
    en: "The operations of the fleet service, to be called",
    de: "Die Operationen des Flottendienstes, als Methoden",
  });
  const typedFolder = builder.root("RobotMethods", {
    en: "The methods of a robot, to be called on its object",
    de: "Die Methoden eines Roboters, an seinem Objekt aufzurufen",
  });
  const robots = new Map<string, { readonly robotId: RobotId; readonly know: () => MissionRobot }>();
  const ofRobots: MethodNode[] = [];

  function add(name: string, summary: Text | string, hasRequest: boolean, run: Run): MethodNode {
    const given = hasRequest ? [...inputs, expiryInput, requestInput] : inputs;
    return builder.method(folder, name, summary, { inputs: given, outputs }, (values, context, objectPath) =>
      guarded(name, context, values, robots.get(objectPath)?.robotId ?? null, run),
    );
  }

  function addTyped(typed: TypedMethod): MethodNode {
    const given = [...inputs, expiryInput, ...typed.inputs];
    const { name, text } = typed;
    return builder.method(
      typedFolder,
      name,
      text,
      { inputs: given, outputs },
      (values, context, objectPath) => {
        const robot = robots.get(objectPath)?.know() ?? null;
        return guarded(name, context, values, robot?.robotId ?? null, runTyped(typed, values, robot));
      },
    );
  }

  /** Nothing that can be done is a request that cannot be read: it has its place in the audit log. */
  function runTyped(typed: TypedMethod, values: readonly Variant[], robot: MissionRobot | null): Run {
    return (call, waitMs) => {
      const given = values.slice(2).map(({ value }) => value);
      const draft = robot === null ? noRobot : typed.draft(given, robot);
      if (!("request" in draft)) {
        return submitCall(parts, call, typed.operation, { unreadable: problemOf(draft) }, waitMs);
      }
      // The draft names its robot, by whichever of its names the operation has.
      return submitCall(parts, { ...call, robotId: null }, draft.operation, { json: draft.request }, waitMs);
    };
  }

  /** Whatever a handler does wrong is an answer, and in the log: node-opcua would tell nobody. */
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
      parts.log.error({ method: name, cause: describeError(error) }, "a method failed inside the gateway");
      return answered(ending("unknown", "INTERNAL_FAULT", "the gateway failed; look at the robot", false));
    }
  }

  function runOperation({ name }: DescribedOperation): Run {
    return (call, waitMs) => submitCall(parts, call, name, { text: call.text }, waitMs);
  }

  const queryOutcome: Run = ({ account, requestId, progress }, waitMs) => {
    const onStage = (stage: CommandStage) => {
      progress.stage = stage;
    };
    const recalled = parts.records.recall(sourceOf(account), `${SCOPE}/${requestId}`, onStage);
    const found = recalled.then(
      (outcome) => outcome ?? refusal("UNKNOWN_REQUEST", "no command of yours with this RequestId is known"),
    );
    return inTime(parts.clock, found, waitMs, progress);
  };

  for (const operation of parts.catalogue.values()) {
    const method = add(operation.name, operation.summary, true, runOperation(operation));
    if (isOfRobots(operation)) ofRobots.push(method);
  }
  ofRobots.push(add("QueryOutcome", methodTexts.QueryOutcome, false, queryOutcome));
  ofRobots.push(...typedMethods.map(addTyped));
  for (const method of ofRobots) builder.declare(robotType, method);

  return {
    addRobot(robot, robotId, know) {
      robots.set(robot.path, { robotId, know });
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
    // Apart from the ids of slots, which nobody may take in advance.
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

/** The outcome, or the stage when the caller must not wait any longer. */
async function inTime(clock: Clock, outcome: Promise<Outcome>, waitMs: number, progress: Progress) {
  const told = await noLaterThan(clock, waitMs, outcome, null);
  return told === null ? pending(progress.stage) : answered(told);
}

function problemOf(draft: Draft): string {
  return "problem" in draft ? draft.problem : "it is no request of the fleet service";
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

/** How far the command has come, for an answer that cannot wait for its outcome. */
interface Progress {
  stage: keyof typeof stageNumbers;
}
type Run = (call: Call, waitMs: number) => Promise<CallMethodResultOptions>;

/** A call may have been held up on its way for any time: only its sender knows how long it is wanted. */
function lackOf(expiresAtMs: number | null, nowMs: number): string | null {
  if (expiresAtMs === null) return "give ExpiresAt, as 10 s from now";
  const isFar = expiresAtMs - nowMs > LONGEST_EXPIRY_MS;
  return isFar ? "ExpiresAt is more than an hour ahead: give 10 s from now" : null;
}

function sourceOf({ name }: Account): Source {
  return { protocol: "opcua", name };
}

/** Null where a client gave no time. */
function timeOf(variant: Variant | undefined): number | null {
  const value: unknown = variant?.value;
  return value instanceof Date && value.getTime() > NO_TIME_MS ? value.getTime() : null;
}

/**
 * Whether an object that knows its robot's id can fill it in: some operations name theirs by another number.
 */
function isOfRobots({ robotField }: DescribedOperation): boolean {
  return robotField?.by === "id" && robotField.path.length === 1;
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

/** Always of status Good: some clients lose the outputs of anything else. */
function result(
  ...values: readonly [number, number, string, boolean, string, boolean]
): CallMethodResultOptions {
  const outputArguments = outputs.map(({ dataType }, index) => ({ dataType, value: values[index] }));
  return { statusCode: StatusCodes.Good, outputArguments };
}

function argument(name: keyof typeof argumentTexts, dataType: DataType) {
  return { name, dataType, text: argumentTexts[name] };
}
