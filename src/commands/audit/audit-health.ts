import type { Health } from "../../platform/component.ts";
import type { LineFile } from "../../platform/line-file.ts";

/**
 * Commands go on if the audit log cannot be written: an operator who must not send without a record sees it
 * here.
 */
export function auditHealth(audit: LineFile): Health {
  const problem = audit.problem();
  const figures = { ...audit.figures() };
  if (problem === null) return { state: "up", figures };
  return { state: "degraded", detail: `lines of the audit log are lost: ${problem}`, figures };
}
