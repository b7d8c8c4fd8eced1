import { userInfo } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Client } from "undici";
import { outcomeNumbers } from "../domain/outcome.ts";
import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { jsonLine, plain } from "../platform/plain-text.ts";
import { exitCodes, fail, NotPossible } from "./exit.ts";
import type { GatewayLocation } from "./installed.ts";
import { complain, listOf, say } from "./readable.ts";

/** The gateway gave no outcome. `wasSent`: the request may have left, so its outcome is not known. */
export class CallFailed extends Error {
  override readonly name = "CallFailed";
  readonly wasSent: boolean;

  constructor(message: string, wasSent: boolean, options?: ErrorOptions) {
    super(message, options);
    this.wasSent = wasSent;
  }
}

interface GatewayRequest {
  readonly method: "GET" | "PUT" | "DELETE" | "POST";
  /** With its variable parts percent-encoded. */
  readonly path: string;
  readonly body?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the whole answer may take; left out: without a limit. */
  readonly timeoutMs?: number;
}

interface GatewayAnswer {
  readonly status: number;
  readonly body: JsonObject;
}

const LARGEST_ANSWER_BYTES = 32_000_000;
/** A command that takes longer shows its stage. */
const WAIT_SECONDS = 2;
const AGAIN_MS = 500;

/**
 * Asks the gateway of this machine, by HTTP over its control socket, in the name of the user at the terminal.
 * Resolves with any answer, also a problem; rejects with CallFailed.
 */
export async function askGateway(
  socketPath: string,
  request: GatewayRequest,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const { method, path, body, headers = {}, timeoutMs } = request;
  const timeout = timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs);
  const client = new Client("http://localhost", { socketPath, maxResponseSize: LARGEST_ANSWER_BYTES });
  const json = body === undefined ? {} : { "content-type": "application/json" };
  try {
    const answer = await client.request({
      method,
      path,
      headers: { ...headers, ...json, "fleetgate-user": encodeURIComponent(userName()) },
      body: body === undefined ? null : JSON.stringify(body),
      signal: timeout === null ? signal : AbortSignal.any([signal, timeout]),
    });
    const read: unknown = await answer.body.json();
    if (!isJsonObject(read)) throw new CallFailed("the gateway's answer is no JSON object", true);
    return { status: answer.statusCode, body: read };
  } catch (error) {
    if (timeout?.aborted === true && !signal.aborted && !(error instanceof CallFailed)) {
      const message = `the gateway has not answered within ${Number(timeoutMs) / 1_000} s`;
      throw new CallFailed(message, method !== "GET", { cause: error });
    }
    const failed = callFailed(socketPath, error, signal);
    throw method === "GET" ? asRead(failed) : failed;
  } finally {
    await client.destroy();
  }
}

/**
 * Sends a command and waits for its final outcome, in the shape of `replyModel`.
 * @param onStage called with each stage of a command that takes longer
 */
export async function sendCommand(
  socketPath: string,
  id: string,
  body: JsonObject,
  onStage: (stage: JsonObject) => void,
  signal: AbortSignal,
): Promise<JsonObject> {
  const request: GatewayRequest = {
    method: "PUT",
    path: `/api/v1/commands/${encodeURIComponent(id)}`,
    body,
    headers: { prefer: `wait=${WAIT_SECONDS}` },
  };
  let first: GatewayAnswer | null = null;
  let stage: unknown = null;
  while (true) {
    const askedAtMs = performance.now();
    const answer = await askGateway(socketPath, request, signal).catch((error: unknown) => {
      throw first !== null && error instanceof CallFailed
        ? new CallFailed(error.message, true, { cause: error })
        : error;
    });
    // The gateway has taken the command; a refusal of a later request concerns only that request.
    if (first !== null && answer.status >= 400) throw answeredBy(answer, true);
    // The gateway counts this program's second request as a repetition.
    first ??= answer;
    if (answer.status !== 202) return { ...outcomeOf(id, answer), duplicate: first.body.duplicate === true };
    if (answer.body.stage !== stage) onStage({ id, stage: answer.body.stage ?? "" });
    stage = answer.body.stage;
    // The gateway lets no more clients wait. An abort ends the next request.
    if (performance.now() - askedAtMs < AGAIN_MS) await pause(AGAIN_MS, null, { signal }).catch(() => {});
  }
}

/** The outcome in an answer. A problem with an outcome is a refusal; any other becomes a CallFailed. */
export function outcomeOf(id: string | null, { status, body }: GatewayAnswer): JsonObject {
  if (status < 400) return body;
  const { outcome, code, detail = "", retry_safe = false } = body;
  if (outcome === undefined || code === undefined) throw answeredBy({ status, body }, status >= 500);
  return { id, outcome, code, message: detail, retry_safe, response: null, duplicate: false };
}

function answeredBy({ status, body }: GatewayAnswer, wasSent: boolean): CallFailed {
  return new CallFailed(`the gateway answered ${status}: ${String(body.detail ?? "")}`, wasSent);
}

/** The user at the terminal, for rights and for the audit log; behind sudo, the user that called it. */
function userName(): string {
  const { SUDO_USER: caller } = process.env;
  return (caller ?? userInfo().username).replaceAll("/", "_");
}

/** For requests that only read: they have no outcome, and change nothing. */
export function asRead({ message, cause }: CallFailed): CallFailed {
  const words = message.replace("; the command goes on", "").replace("told the outcome", "answered");
  return new CallFailed(words, false, { cause });
}

/** Why a request over the socket failed, as a sentence. */
export function callFailed(socketPath: string, error: unknown, signal: AbortSignal): CallFailed {
  const failed = (message: string, wasSent: boolean) => new CallFailed(message, wasSent, { cause: error });
  if (error instanceof CallFailed) return error;
  if (signal.aborted) return failed("interrupted; the command goes on", true);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ECONNREFUSED")
    return failed(`no gateway runs behind ${socketPath}`, false);
  if (code === "EACCES") return failed(`${socketPath} is for the gateway's own user; try with sudo`, false);
  if (code === "EAGAIN") return failed("the gateway has too many clients at this moment; try again", false);
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return failed("the gateway's answer is too long", true);
  if (code === "UND_ERR_SOCKET" || code === "ECONNRESET" || code === "EPIPE")
    return failed("the gateway closed the connection before it told the outcome", true);
  return failed(`the connection to the gateway failed: ${String(error)}`, true);
}

const LIST_MS = 5_000;

/** All pages of `GET /api/v1/<name>` as one answer: `count`, and the list under its name. */
export async function askList(name: string, socketPath: string, signal: AbortSignal): Promise<JsonObject> {
  const items: JsonObject[] = [];
  let query = "";
  while (true) {
    const request = { method: "GET", path: `/api/v1/${name}${query}`, timeoutMs: LIST_MS } as const;
    const page = outcomeOf(null, await askGateway(socketPath, request, signal));
    items.push(...listOf(page, name));
    if (typeof page.next !== "string") return { count: items.length, [name]: items };
    query = `?cursor=${page.next}`;
  }
}

/** The options of every subcommand that talks to a running gateway. */
export interface ControlOptions extends GatewayLocation {
  readonly json?: boolean;
}

/** Prints an outcome; the result is the exit code. */
export function finish(message: JsonObject, { json }: ControlOptions): number {
  return print(json === true ? jsonLine(message) : outcomeText(message), exitCodeOf(message.outcome));
}

/** Prints that a request other than a command was carried out, as an outcome; the result is the exit code. */
export function finishDone(message: string, answer: JsonObject, options: ControlOptions): number {
  // For people, the message is enough.
  const response = options.json === true ? answer : null;
  const done = { outcome: "succeeded", code: "OK", message, retry_safe: true, response, duplicate: false };
  return finish(done, options);
}

/** Runs a subcommand that asks a gateway. Its result, or its failure, is the exit code of this process. */
export async function exitWith(run: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    if (error instanceof CallFailed) process.exitCode = report(error);
    else if (error instanceof NotPossible) process.exitCode = failed(error.message, error.exitCode);
    else fail(error, () => "");
  }
}

/** Prints why there is no outcome; the result is the exit code. A sent request may have been carried out. */
function report({ message, wasSent }: CallFailed): number {
  return failed(message, wasSent ? exitCodeOf("unknown") : exitCodes.failure);
}

function failed(problem: string, exitCode: number): number {
  complain(plain(problem));
  return exitCode;
}

export function print(text: string, exitCode: number): number {
  say(text);
  return exitCode;
}

/**
 * The exit code of an outcome: 0 when it is done, else its number in an OPC UA slot (docs/commands.md,
 * Outcomes).
 */
export function exitCodeOf(outcome: unknown): number {
  switch (outcome) {
    case "succeeded":
    case "probably_succeeded":
    case "checked":
      return 0;
    case "refused":
    case "expired":
      return outcomeNumbers[outcome];
    default:
      return outcomeNumbers.unknown;
  }
}

/** An outcome for people. */
export function outcomeText(message: JsonObject): string {
  const { outcome, code, retry_safe: retrySafe, response, duplicate, evidence } = message;
  const lines = [String(outcome).replace("_", " ")];
  const isDone = exitCodeOf(outcome) === 0;
  if (!isDone) lines[0] += `: ${String(code)}`;
  if (message.message !== "") lines.push(`  ${String(message.message)}`);
  if (evidence !== undefined) lines.push(`  evidence: ${String(evidence)}`);
  if (outcome === "unknown") lines.push(`  ${warningBeside(String(message.message))}`);
  else if (!isDone)
    lines.push(
      `  sending it again ${retrySafe === true ? "can move nothing twice" : "may move something twice"}`,
    );
  if (duplicate === true) lines.push("  this is the recorded outcome of the same command, sent before");
  if (response !== null && response !== undefined) lines.push(JSON.stringify(response, null, 2));
  return lines.join("\n");
}

/** Most messages of unknown outcomes contain the warning already. */
function warningBeside(message: string): string {
  return /may have acted/.test(message)
    ? "look at the robot first"
    : "the robot may have acted, or may act later: look at it first";
}
