import { randomUUID } from "node:crypto";
import { text as readAll } from "node:stream/consumers";
import { Command } from "commander";
import { nearest } from "../config/issues.ts";
import type { Problem } from "../contracts/operation.ts";
import type { DescribedOperation } from "../contracts/operation-manual.ts";
import { badRequest, idUnasked, jsonFault, type Outcome, unknownOperation } from "../domain/outcome.ts";
import { createCatalogue } from "../fleet/operations.ts";
import { replyJson } from "../models/reply.ts";
import { isJsonObject, type Json, type JsonObject } from "../platform/json.ts";
import { readJson } from "../platform/strict-json.ts";
import {
  askGateway,
  CallFailed,
  type ControlOptions,
  exitWith,
  finish,
  finishDone,
  outcomeOf,
  print,
  sendCommand,
} from "./control-client.ts";
import { exitCodes, malformed } from "./exit.ts";
import { findSocket, socketOptions } from "./installed.ts";
import { operationList, operationPage } from "./operation-facts.ts";
import { positive } from "./option.ts";
import { complain } from "./readable.ts";
import { stopSignal } from "./stop-signal.ts";

interface Options extends ControlOptions {
  readonly robot?: string;
  readonly id?: string;
  readonly expiresIn?: number;
  readonly list?: boolean;
  readonly override?: string;
}

/** `fleetgate call`: sends a command to the gateway of this machine and prints its outcome. */
export function callCommand(): Command {
  const command = new Command("call").description(
    "send a command to the gateway of this machine, and print its outcome",
  );
  return socketOptions(command)
    .argument("[operation]", "its name, one of those that --list prints")
    .argument("[request]", "its request in proto3 JSON; - reads it from standard input", "{}")
    .option("--robot <id>", "the robot; it is put into the operation's field for it")
    .option(
      "--id <id>",
      "the command's identity: a repetition with the same id is the same command, and never sent twice",
    )
    .option("--expires-in <seconds>", "refuse to send it later than this after its receipt", positive)
    .option("--json", "print JSON, one object a line")
    .option("--list", "list the operations, or describe one")
    .option(
      "--override <robot>",
      "instead of an operation: end any station's lease of a robot (for engineers)",
    )
    .action((operation: string | undefined, request: string, options: Options) =>
      exitWith(() => run(operation, request, options)),
    );
}

async function run(name: string | undefined, request: string, options: Options): Promise<number> {
  const manual = createCatalogue();
  if (options.list === true && name === undefined) return print(operationList(manual), exitCodes.ok);
  if (options.override !== undefined) return await override(options.override, name, options);
  if (name === undefined) throw malformed("name an operation; fleetgate call --list names them all");
  const id = options.id ?? randomUUID();
  const operation = manual.get(name);
  if (operation === undefined) {
    const meant = nearest(name, [...manual.keys()]);
    const advice =
      meant === undefined ? "fleetgate call --list has all operations" : `the nearest operation is ${meant}`;
    complain(advice);
    return refuse(id, unknownOperation(name), options);
  }
  if (options.list === true) return print(operationPage(operation), exitCodes.ok);
  return await call(operation, request === "-" ? await readAll(process.stdin) : request, id, options);
}

/** Checks the request as far as possible here, then sends it. */
async function call(
  operation: DescribedOperation,
  text: string,
  id: string,
  options: Options,
): Promise<number> {
  const signal = stopSignal();
  const socketPath = await findSocket(options);
  const robot = await findRobot(operation, options, socketPath, signal);
  const read = readRequest(operation, text, robot);
  // A malformed request with an id of the user's own is still sent: the gateway knows whether the id is that
  // of an earlier command.
  if (!read.ok && (read.request === null || options.id === undefined)) {
    return refuse(id, badRequest(read.problem), options);
  }
  const { expiresIn } = options;
  const body: JsonObject = {
    operation: operation.name,
    request: read.request,
    ...(expiresIn === undefined ? {} : { expires_in_ms: Math.ceil(expiresIn * 1000) }),
  };
  if (options.json !== true) print(`id ${id}`, 0);
  const onStage = (stage: JsonObject) =>
    void print(options.json === true ? JSON.stringify(stage) : String(stage.stage), 0);
  try {
    return finish(await sendCommand(socketPath, id, body, onStage, signal), options);
  } catch (error) {
    if (!(error instanceof CallFailed) || !error.wasSent) throw error;
    throw new CallFailed(`${error.message}; ask again with --id ${id}`, true, { cause: error });
  }
}

/** Ends the lease of a robot, of any station. It may be repeated without harm, so it needs no id. */
async function override(robot: string, operation: string | undefined, options: Options): Promise<number> {
  if (operation !== undefined) throw malformed("--override takes no operation");
  const path = `/api/v1/robots/${encodeURIComponent(robot)}/lease`;
  const answer = await askGateway(await findSocket(options), { method: "DELETE", path }, stopSignal());
  if (answer.status >= 400) return finish(outcomeOf(null, answer), options);
  const { station, owner } = answer.body;
  const message =
    station === null ? "no station leased it" : `station ${String(station)} leased it for ${String(owner)}`;
  return finishDone(message, answer.body, options);
}

/** The robot as the operation names it: by id, or by the service's number. */
async function findRobot(
  operation: DescribedOperation,
  { robot }: Options,
  socketPath: string,
  signal: AbortSignal,
): Promise<string | number | null> {
  if (robot === undefined) return null;
  if (!needsNumber(operation, robot)) return robot;
  const ask: JsonObject = { operation: "GetOnlineRobots", request: {} };
  const { response, message } = await sendCommand(socketPath, randomUUID(), ask, () => {}, signal).catch(
    asUnsent,
  );
  const number = numberOf(response, robot);
  if (number !== null) return number;
  const why = response === null ? String(message) : "no robot that is online has the name";
  throw new CallFailed(
    `--robot: ${operation.name} needs the number of ${robot}, and ${why}; give the number`,
    false,
  );
}

/** A failed read has changed nothing. */
function asUnsent(error: unknown): never {
  throw error instanceof CallFailed ? new CallFailed(error.message, false, { cause: error }) : error;
}

/** Prints a refusal of a request that was not sent. */
function refuse(id: string, outcome: Outcome, options: Options): number {
  const reported = options.id === undefined ? outcome : idUnasked(outcome);
  return finish(JSON.parse(replyJson(id, reported)), options);
}

/** A valid request of the operation, or what is wrong with it. */
export type CallRequest =
  | { readonly ok: true; readonly request: JsonObject }
  /** `request` can still be sent, to ask the gateway about its id; null: the text could not be read. */
  | { readonly ok: false; readonly problem: Problem; readonly request: JsonObject | null };

/** Reads a request as typed, and checks it like the gateway, before anything is sent. */
export function readRequest(
  operation: DescribedOperation,
  text: string,
  robot: string | number | null,
): CallRequest {
  const json = parse(text);
  if (!json.ok) return json;
  const named = robot === null ? json : nameRobot(operation, json.request, robot);
  if (!named.ok) return named;
  const parsed = operation.parse(named.request);
  return parsed.ok ? named : { ok: false, problem: parsed.problem, request: named.request };
}

/**
 * Whether the operation names robots by number and `robot` is a name, so that its number must be looked up.
 */
export function needsNumber(operation: DescribedOperation, robot: string): boolean {
  return operation.robotField?.by === "number" && !/^\d+$/.test(robot);
}

function parse(text: string): CallRequest {
  const read = readJson(text);
  if (!read.ok) return { ok: false, problem: jsonFault(read), request: null };
  return isJsonObject(read.value) ? { ok: true, request: read.value } : refused("", "must be an object");
}

/** The request with the robot in the operation's field, spelt like the other fields. */
function nameRobot(operation: DescribedOperation, request: JsonObject, robot: string | number): CallRequest {
  const { robotField } = operation;
  if (robotField === null) return refused("", `--robot: ${operation.name} names no robot`);
  return setAt(request, robotField.path, robotField.by === "number" ? Number(robot) : String(robot), []);
}

function setAt(
  object: JsonObject,
  [first = "", ...rest]: readonly string[],
  value: string | number,
  above: readonly string[],
): CallRequest {
  const snake = first.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const key = Object.hasOwn(object, snake) ? snake : first;
  const path = [...above, key].join(".");
  const there: Json | undefined = Object.hasOwn(object, key) ? object[key] : undefined;
  if (rest.length === 0) {
    if (there !== undefined && there !== null && there !== value)
      return refused(path, `is ${JSON.stringify(there)}, and --robot says ${JSON.stringify(value)}`);
    return { ok: true, request: { ...object, [key]: value } };
  }
  if (there !== undefined && !isJsonObject(there)) return refused(path, "should be an object");
  const inner = setAt(there ?? {}, rest, value, [...above, key]);
  return inner.ok ? { ok: true, request: { ...object, [key]: inner.request } } : inner;
}

function refused(path: string, message: string): CallRequest {
  return { ok: false, problem: { path, message }, request: null };
}

/** The number of a robot in the answer of GetOnlineRobots; null: no robot in it has the name. */
export function numberOf(answer: unknown, robot: string): number | null {
  const robots = isJsonObject(answer) ? answer.robots : undefined;
  if (!Array.isArray(robots)) return null;
  const found: unknown = robots.find((each) => isJsonObject(each) && each.name === robot);
  const number = isJsonObject(found) ? Number(found.id) : Number.NaN;
  return Number.isInteger(number) ? number : null;
}
