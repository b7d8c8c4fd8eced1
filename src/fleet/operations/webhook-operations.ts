import type { EvidenceRule } from "../../contracts/operation.ts";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import { listIn, valueIn } from "./answer.ts";
import {
  fleetSubject,
  never,
  noEvidence,
  type OperationRow,
  operation,
  reading,
  repeatable,
  requestOf,
} from "./row.ts";

const { method } = FleetService;

/**
 * Webhooks send data out, and list the secrets of their headers: for engineers only.
 */
export const webhookOperations: readonly OperationRow[] = [
  operation(method.createWebhook, {
    role: "engineer",
    summary: "Lets the service send events of robots to an address.",
    german: {
      name: "Webhook anlegen",
      summary: "Lässt den Dienst Ereignisse von Robotern an eine Adresse senden.",
    },
    required: ["url", "event_type", "selector"],
    // A receiver recognises its caller by the headers.
    secretMaps: [["options", "headers"]],
    examples: {
      "missions of two robots": {
        url: "https://receiver.example.com/missions",
        eventType: "mission",
        selector: { robotIds: { ids: ["cart-01", "cart-02"] } },
      },
    },
    evaluate: ({ url, eventType }) => ({
      effect: "changes",
      subject: fleetSubject,
      repeat: never,
      evidence: newWebhook(url, eventType),
    }),
  }),
  operation(method.listWebhooks, {
    role: "engineer",
    summary: "Reads the webhooks that there are.",
    german: { name: "Webhooks lesen", summary: "Liest die vorhandenen Webhooks." },
    examples: { read: {} },
    evaluate: () => reading(),
  }),
  operation(method.deleteWebhook, {
    role: "engineer",
    summary: "Removes a webhook.",
    german: { name: "Webhook entfernen", summary: "Entfernt einen Webhook." },
    required: ["id"],
    examples: { remove: { id: "w-1" } },
    evaluate: () => ({
      effect: "changes",
      subject: fleetSubject,
      repeat: repeatable("NOT_FOUND"),
      evidence: noEvidence,
    }),
  }),
];

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
        request: () => requestOf(method.listWebhooks, {}),
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
