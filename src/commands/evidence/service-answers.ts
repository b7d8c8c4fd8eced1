import type { FleetPort } from "../../contracts/fleet-port.ts";
import type { EvidenceQuery, EvidenceRule } from "../../contracts/operation.ts";
import type { Log } from "../../platform/log.ts";

export type QueryRule = Extract<EvidenceRule, { kind: "query" }>;

/** Finds evidence in answers of the service. Never rejects. */
export interface ServiceAnswers {
  /** The answers from before the call, condensed; null: they could not be read. */
  baseline(rule: QueryRule): Promise<unknown>;
  /** The evidence in the answers, as one sentence; null: none. */
  evaluate(rule: QueryRule, baseline: unknown): Promise<string | null>;
}

/** @param deadlineMs how long the service has for one answer */
export function createServiceAnswers(port: FleetPort, log: Log, deadlineMs: number): ServiceAnswers {
  async function askAll(queries: readonly EvidenceQuery[]): Promise<readonly unknown[] | null> {
    const answers: unknown[] = [];
    for (const query of queries) {
      const request = query.request(answers);
      if (request === null) return answers;
      const ending = await port.call(request, deadlineMs);
      if (ending.kind !== "ok") return null;
      answers.push(JSON.parse(ending.responseJson));
    }
    return answers;
  }

  return {
    async baseline(rule) {
      if (rule.baseline === undefined) return null;
      try {
        const answers = await askAll(rule.queries);
        return answers === null ? null : rule.baseline(answers);
      } catch (error) {
        log.warn({ err: error }, "an answer of the service could not be kept as the state before a command");
        return null;
      }
    },
    async evaluate(rule, baseline) {
      try {
        const answers = await askAll(rule.queries);
        return answers === null ? null : rule.evaluate(answers, baseline);
      } catch (error) {
        log.warn({ err: error }, "an answer of the service could not be judged as evidence");
        return null;
      }
    },
  };
}
