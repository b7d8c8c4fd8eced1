import { fromJsonString } from "@bufbuild/protobuf";
import type { CallEnding, FleetPort } from "../../contracts/fleet-port.ts";
import type { OpaqueRequest } from "../../contracts/operation.ts";
import { FleetService, ListWebhooksResponseSchema } from "../../wire/fleet/v1/service_pb.js";
import type { WebhookSubscription } from "../../wire/fleet/v1/webhook_pb.js";
import type { IdentifierGate } from "../identifiers.ts";
import { requestOf } from "../operations/request.ts";
import { ReadFailed } from "../polling/reader.ts";

/** The calls about subscriptions. All but `create` may be repeated (docs/commands.md, Operations). */
export interface WebhookCalls {
  /** The list of the service. Rejects with ReadFailed if it does not answer. */
  list(deadlineMs: number): Promise<readonly WebhookSubscription[]>;
  /** Makes one. Not repeatable. */
  create(request: OpaqueRequest, deadlineMs: number): Promise<CallEnding>;
  /**
   * Deletes all at the same time.
   *
   * @returns those that may still be there, each with the reason
   */
  remove(ids: readonly string[], deadlineMs: number): Promise<ReadonlyMap<string, string>>;
}

export function createWebhookCalls(port: FleetPort, identifiers: IdentifierGate): WebhookCalls {
  return {
    async list(deadlineMs) {
      const ending = await port.call(requestOf(FleetService.method.listWebhooks, {}), deadlineMs);
      if (ending.kind !== "ok") throw new ReadFailed(codeOf(ending), ending.message);
      const options = { ignoreUnknownFields: true };
      const { webhooks } = fromJsonString(ListWebhooksResponseSchema, ending.responseJson, options);
      return webhooks.filter(({ id }) => identifiers.text("webhook_id", id));
    },
    create: (request, deadlineMs) => port.call(request, deadlineMs),
    async remove(ids, deadlineMs) {
      const left = new Map<string, string>();
      await Promise.all(
        ids.map(async (id) => {
          const ending = await port.call(requestOf(FleetService.method.deleteWebhook, { id }), deadlineMs);
          if (ending.kind === "ok" || (ending.kind === "refused" && ending.code === "NOT_FOUND")) return;
          left.set(id, `${codeOf(ending)}: ${ending.message}`);
        }),
      );
      return left;
    },
  };
}

/** The gRPC code of a call without success. */
export function codeOf(ending: Exclude<CallEnding, { kind: "ok" }>) {
  return ending.kind === "not_sent" ? "UNAVAILABLE" : ending.code;
}
