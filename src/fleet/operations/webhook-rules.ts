import type { EvidenceRule } from "../../contracts/operation.ts";
import {
  CreateWebhookRequestSchema,
  DeleteWebhookRequestSchema,
  ListWebhooksRequestSchema,
} from "../../wire/fleet/v1/service_pb.js";
import { listIn, valueIn } from "./answers.ts";
import { requestOf } from "./request.ts";
import { fleetSubject, never, noEvidence, type Rule, reading, repeatable, rule } from "./rule.ts";

/**
 * Webhooks send data out, and list the secrets of their headers: for engineers only.
 */
export const webhookRules: ReadonlyMap<string, Rule> = new Map([
  [
    "CreateWebhook",
    {
      ...rule(
        CreateWebhookRequestSchema,
        "engineer",
        ["url", "event_type", "selector"],
        ({ url, eventType }) => ({
          effect: "changes",
          subject: fleetSubject,
          repeat: never,
          evidence: newWebhook(url, eventType),
        }),
      ),
      // A receiver recognises its caller by the headers.
      secretMaps: [["options", "headers"]],
    },
  ],
  ["ListWebhooks", rule(ListWebhooksRequestSchema, "engineer", [], () => reading(fleetSubject))],
  [
    "DeleteWebhook",
    rule(DeleteWebhookRequestSchema, "engineer", ["id"], () => ({
      effect: "changes",
      subject: fleetSubject,
      repeat: repeatable("NOT_FOUND"),
      evidence: noEvidence,
    })),
  ],
]);

/** ListWebhooks before and after the call: exactly one new subscription of this address and event type. */
function newWebhook(url: string, eventType: string): EvidenceRule {
  const idsOf = (answers: readonly unknown[]) =>
    listIn(answers[0], "webhooks")
      .filter((webhook) => valueIn(webhook, "url") === url && valueIn(webhook, "event_type") === eventType)
      .map((webhook) => String(valueIn(webhook, "id")));
  return {
    kind: "query",
    queries: [
      {
        operation: "ListWebhooks",
        request: () => requestOf("ListWebhooks", ListWebhooksRequestSchema, {}),
      },
    ],
    baseline: idsOf,
    evaluate(answers, baseline) {
      if (!Array.isArray(baseline)) return null;
      const fresh = idsOf(answers).filter((id) => !baseline.includes(id));
      return fresh.length === 1
        ? `ListWebhooks shows ${fresh[0]} for this address, which was not there before`
        : null;
    },
  };
}
