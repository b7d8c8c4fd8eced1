import { createInterface } from "node:readline";
import { Client, errors } from "undici";
import { isJsonObject, type JsonObject } from "../../platform/json.ts";
import { readJson } from "../../platform/strict-json.ts";
import { asRead, CallFailed, callFailed, outcomeOf } from "../control-client.ts";

/** The gateway sends a sign of life every 5 s. */
const SILENCE_MS = 15_000;
const ANSWER_MS = 5_000;

/**
 * Follows the events of the gateway. Resolves with the reason why they have ended; rejects with CallFailed
 * when they never began.
 * @param onEvent gets each line that is a JSON object, signs of life too
 * @param silenceMs a gateway that is silent for longer is given up
 */
export async function followEvents(
  socketPath: string,
  path: string,
  onEvent: (event: JsonObject) => void,
  signal: AbortSignal,
  silenceMs: number = SILENCE_MS,
): Promise<string> {
  const client = new Client("http://localhost", {
    socketPath,
    headersTimeout: Math.min(silenceMs, ANSWER_MS),
    bodyTimeout: silenceMs,
  });
  let hasBegun = false;
  let reason = "the gateway closed the connection";
  try {
    const answer = await client.request({ method: "GET", path, signal });
    if (answer.statusCode !== 200) {
      const problem: unknown = await answer.body.json();
      // A problem without a code makes it throw.
      outcomeOf(null, { status: answer.statusCode, body: isJsonObject(problem) ? problem : {} });
    }
    for await (const line of createInterface({ input: answer.body, crlfDelay: Number.POSITIVE_INFINITY })) {
      const read = readJson(line);
      if (!read.ok || !isJsonObject(read.value)) continue;
      hasBegun = true;
      if (read.value.kind === "closed") reason = String(read.value.reason);
      else onEvent(read.value);
    }
    return reason;
  } catch (error) {
    const isSilent = error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError;
    if (isSilent) reason = "the gateway gives no sign of life";
    if (hasBegun) return reason;
    throw isSilent
      ? new CallFailed(reason, false, { cause: error })
      : asRead(callFailed(socketPath, error, signal));
  } finally {
    await client.destroy();
  }
}
