import {
  type CallMethodResultOptions,
  DataType,
  type ISessionContext,
  StatusCodes,
  type Variant,
} from "node-opcua";
import type { DescribedOperation } from "../../../contracts/operation-manual.ts";
import { quoted } from "../../../domain/clip.ts";
import { type Command, roles, type Source } from "../../../domain/command.ts";
import { errorId } from "../../../domain/errors.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import {
  badRequest,
  identityReused,
  idFault,
  idStands,
  isPlainText,
  jsonFault,
} from "../../../domain/refusals.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { isJsonObject, type JsonObject } from "../../../platform/json.ts";
import { describeError } from "../../../platform/log.ts";
import { noLaterThan } from "../../../platform/no-later-than.ts";
import { readJson } from "../../../platform/strict-json.ts";
import type { Folder, MethodNode, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import { commandOf } from "./draft.ts";
import { roleRefusal } from "./role-refusal.ts";
import type { SlotParts } from "./slot-parts.ts";
import { outcomeNumber, outcomeText, stageNumbers } from "./slot-tags.ts";

/** What methods need of the rest of the server. */
export interface MethodParts
  extends Pick<
    SlotParts,
    "commander" | "records" | "ledger" | "catalogue" | "clock" | "log" | "signal" | "startByMs"
  > {
  /** Who calls; null: nobody who may. */
  readonly accountOf: (context: ISessionContext) => Account | null;
  /** How long this caller may be kept waiting from now on, in milliseconds. */
  readonly patienceMs: (context: ISessionContext) => number;
}

/** Methods for clients that can call: one for each operation, shared by every object that has it. */
export interface Methods {
  /** Gives a robot's object the operations that are about one robot, its name filled in. */
  addRobot(robot: Folder, robotId: RobotId): void;
}

const LONGEST_ID = 200;
/** Characters, as many as MQTT takes bytes. */
const LONGEST_REQUEST = 256 * 1024;
const WAITING = "waiting" as const;
const inputs = [
  {
    name: "RequestId",
    dataType: DataType.String,
    text: "Yours, unique: with your user it names the command",
  },
] as const;
const requestInputs = [
  {
    name: "ExpiresAt",
    dataType: DataType.DateTime,
    text: "Not sent after this time; required for what moves a robot",
  },
  { name: "Request", dataType: DataType.String, text: "The request as proto3 JSON" },
] as const;
/** An expiry further ahead is no expiry: somebody has written a constant. */
const LONGEST_EXPIRY_MS = 3_600_000;
/** What OPC UA sends for no time at all, in milliseconds: 1601-01-01 (OPC UA Part 6, DateTime). */
const NO_TIME_MS = Date.UTC(1601, 0, 1);
const outputs = [
  { name: "Outcome", dataType: DataType.Int32, text: "As of slots; final unless Pending" },
  { name: "ErrorId", dataType: DataType.Int32, text: "0, or what was wrong" },
  { name: "ErrorText", dataType: DataType.String, text: "The same for people" },
  { name: "RetrySafe", dataType: DataType.Boolean, text: "Sending it again can move nothing twice" },
  {
    name: "ResponseJson",
    dataType: DataType.String,
    text: "The service's answer; empty when there was none",
  },
  { name: "Pending", dataType: DataType.Boolean, text: "The outcome is not final yet: ask QueryOutcome" },
] as const;

/** Adds the folder `Operations` with a method for each operation, and `QueryOutcome`. */
export function addMethods(builder: NodeBuilder, parts: MethodParts): Methods {
  const folder = builder.root("Operations", "The operations of the fleet service, to be called");
  const robotIds = new Map<string, RobotId>();
  const ofRobots: MethodNode[] = [];

  function add(name: string, summary: string, hasRequest: boolean, run: Run): MethodNode {
    const given = hasRequest ? [...inputs, ...requestInputs] : inputs;
    return builder.method(folder, name, summary, { inputs: given, outputs }, (values, context, objectPath) =>
      guarded(name, context, values, robotIds.get(objectPath) ?? null, run),
    );
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
    const [requestId = "", , text = ""] = values.map(({ value }) => String(value ?? ""));
    const expiresAtMs = timeOf(values[1]);
    const source: Source = { door: "opcua", name: account?.name ?? "" };
    // Apart from the ids of slots, which nobody may take in advance.
    const identity = { source, requestId: `call/${requestId}`, origin: account?.origin ?? {} };
    const hasId = isPlainText(requestId, LONGEST_ID);
    const isKnown = hasId && parts.ledger.knows(source, identity.requestId);
    const refused = (reason: Outcome) => {
      // Of an earlier command nobody may be told that it was not done.
      const outcome = isKnown ? idStands(reason) : reason;
      parts.ledger.refused({ ...identity, operation: name, robotId }, outcome);
      return answered(outcome);
    };
    if (account === null) return { statusCode: StatusCodes.BadUserAccessDenied };
    const progress: Progress = { stage: "idle" };
    try {
      if (!hasId) return refused(refusal("MALFORMED", idFault(requestId, LONGEST_ID)));
      const patienceMs = parts.patienceMs(context);
      return await run({
        account,
        identity,
        isKnown,
        requestId,
        expiresAtMs,
        text,
        robotId,
        refused,
        patienceMs,
        progress,
      });
    } catch (error) {
      if (parts.signal.aborted) return pending(progress.stage);
      parts.log.error({ method: name, cause: describeError(error) }, "a method failed inside the gateway");
      return answered(ending("unknown", "INTERNAL_FAULT", "the gateway failed; look at the robot", false));
    }
  }

  function runOperation(operation: DescribedOperation): Run {
    return async (given) => {
      const { account, identity, isKnown, requestId, text, robotId, refused, patienceMs, progress } = given;
      const { expiresAtMs } = given;
      // What is known is not sent again: its recorded outcome is for whoever sent it, whatever its role is now.
      if (!isKnown && roles.indexOf(account.role) < roles.indexOf(operation.role)) {
        return refused(roleRefusal(account, operation.name, operation.role));
      }
      if (text.length > LONGEST_REQUEST) {
        const message = `has ${text.length} characters; at most ${LONGEST_REQUEST} are read`;
        return refused(badRequest({ path: "", message }));
      }
      const named = namedRequest(text, robotId);
      if (!named.ok) return refused(named.outcome);
      const draft = { operation: operation.name, request: named.request };
      const startByMs = expiresAtMs ?? parts.clock.nowMs() + parts.startByMs;
      const made = commandOf(draft, identity, parts.catalogue, startByMs);
      if ("outcome" in made) return refused(made);
      // A call may have been held up on its way for any time: only its sender knows how long it is wanted.
      const isLate = expiresAtMs !== null && expiresAtMs - parts.clock.nowMs() > LONGEST_EXPIRY_MS;
      if (made.effect === "moves" && !isKnown && (expiresAtMs === null || isLate)) {
        return refused(noExpiry(operation.name, isLate));
      }
      const command = expiresAtMs === null ? made : { ...made, expiresAtMs };
      const submitted = parts.commander.submit(command, parts.signal, (stage) => {
        progress.stage = stage;
      });
      const outcome = await noLaterThan(parts.clock, patienceMs, submitted, null);
      return outcome === null ? pending(progress.stage) : answered(inCallersWords(outcome, requestId));
    };
  }

  for (const operation of parts.catalogue.values()) {
    const method = add(operation.name, operation.summary, true, runOperation(operation));
    if (isOfRobots(operation)) ofRobots.push(method);
  }
  const query = add(
    "QueryOutcome",
    "What became of a command that was called before",
    false,
    async (call) => {
      const { source, requestId } = call.identity;
      const found = await noLaterThan(
        parts.clock,
        call.patienceMs,
        parts.records.recall(source, requestId, (stage) => {
          call.progress.stage = stage;
        }),
        WAITING,
      );
      if (found === WAITING) return pending(call.progress.stage);
      return answered(
        found ?? refusal("UNKNOWN_REQUEST", "no command of yours with this RequestId is known"),
      );
    },
  );
  ofRobots.push(query);

  return {
    addRobot(robot, robotId) {
      robotIds.set(robot.path, robotId);
      for (const method of ofRobots) builder.share(robot, method);
    },
  };
}

interface Call {
  readonly account: Account;
  readonly identity: Pick<Command, "source" | "requestId" | "origin">;
  /** An earlier command has this identity. */
  readonly isKnown: boolean;
  /** The caller's own. */
  readonly requestId: string;
  /** Null: the caller gave none. */
  readonly expiresAtMs: number | null;
  readonly text: string;
  readonly robotId: RobotId | null;
  /** Answers what the door itself refuses, for the audit log too. */
  readonly refused: (outcome: Outcome) => CallMethodResultOptions;
  readonly patienceMs: number;
  readonly progress: Progress;
}

/** How far the command has come, for an answer that cannot wait for its outcome. */
interface Progress {
  stage: keyof typeof stageNumbers;
}
type Run = (call: Call) => Promise<CallMethodResultOptions>;

function noExpiry(name: string, isLate: boolean): Outcome {
  const given = isLate ? "ExpiresAt is more than an hour ahead: give" : "give ExpiresAt, as";
  return refusal("NO_EXPIRY", `${name} moves a robot: ${given} 10 s from now`);
}

/** Null where a client gave no time. */
function timeOf(variant: Variant | undefined): number | null {
  const value: unknown = variant?.value;
  return value instanceof Date && value.getTime() > NO_TIME_MS ? value.getTime() : null;
}

/** Whether an object that knows its robot's id can fill it in: some operations name theirs by another number. */
function isOfRobots({ robotField }: DescribedOperation): boolean {
  return robotField?.by === "id" && robotField.path.length === 1;
}

/** The caller does not know under which id, derived from its own, the command would have been recorded. */
function inCallersWords(outcome: Outcome, requestId: string): Outcome {
  if (outcome.code !== "IDENTITY_REUSED") return outcome;
  return { ...outcome, message: identityReused(requestId).message };
}

type NamedRequest =
  | { readonly ok: true; readonly request: JsonObject }
  | { readonly ok: false; readonly outcome: Outcome };

/** The request with the robot's name in it, or what is wrong with it. An empty text is an empty request. */
function namedRequest(text: string, robotId: RobotId | null): NamedRequest {
  const read = readJson(text.trim() === "" ? "{}" : text);
  if (!read.ok) return { ok: false, outcome: badRequest(jsonFault(read)) };
  const json = read.value;
  if (!isJsonObject(json))
    return { ok: false, outcome: badRequest({ path: "", message: "must be an object" }) };
  if (robotId === null) return { ok: true, request: json };
  const names = ["robotId", "robot_id"].filter((key) => Object.hasOwn(json, key) && json[key] !== null);
  if (names.length === 0) {
    const { robot_id: _unset, ...rest } = json;
    return { ok: true, request: { ...rest, robotId } };
  }
  const other = names.find((key) => typeof json[key] === "string" && json[key] !== robotId);
  // What else may be wrong with the name is for the operation to say.
  if (other === undefined) return { ok: true, request: json };
  const message = `is ${quoted(String(json[other]))}, and the method is called on ${quoted(robotId)}`;
  return { ok: false, outcome: badRequest({ path: other, message }) };
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
