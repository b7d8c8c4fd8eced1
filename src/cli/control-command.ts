import type { JsonObject } from "../platform/json.ts";
import { jsonLine, plain } from "../platform/plain-text.ts";
import { exitCodeOf, outcomeText } from "./call-output.ts";
import { CallFailed } from "./control-client.ts";
import { exitCodes, fail, NotPossible } from "./exit.ts";
import type { GatewayLocation } from "./installed.ts";

/** The options of every subcommand that talks to a running gateway. */
export interface ControlOptions extends GatewayLocation {
  readonly json?: boolean;
}

/** Prints an outcome; the result is the exit code. */
export function finish(message: JsonObject, { json }: ControlOptions): number {
  const lines = outcomeText(message).split("\n");
  // The service and robots choose some of the words.
  const text = json === true ? jsonLine(message) : lines.map(plain).join("\n");
  return print(text, exitCodeOf(message.outcome));
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
    else if (error instanceof NotPossible) process.exitCode = say(error.message, error.exitCode);
    else fail(error, () => "");
  }
}

/** Prints why there is no outcome; the result is the exit code. A sent request may have been carried out. */
function report({ message, wasSent }: CallFailed): number {
  return say(message, wasSent ? exitCodeOf("unknown") : exitCodes.failure);
}

function say(problem: string, exitCode: number): number {
  process.stderr.write(`fleetgate: ${plain(problem)}\n`);
  return exitCode;
}

export function print(text: string, exitCode: number): number {
  process.stdout.write(`${text}\n`);
  return exitCode;
}
