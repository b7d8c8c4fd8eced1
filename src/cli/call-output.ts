import { outcomeNumbers } from "../domain/outcome.ts";
import type { JsonObject } from "../platform/json.ts";

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
