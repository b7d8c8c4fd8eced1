import { rm } from "node:fs/promises";
import { fromJsonString } from "@bufbuild/protobuf";
import type { CallEnding, FleetPort } from "../../contracts/fleet-port.ts";
import type { OpaqueRequest } from "../../contracts/operation.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { FleetService, ListWebhooksResponseSchema } from "../../wire/fleet/v1/service_pb.js";
import type { WebhookSubscription } from "../../wire/fleet/v1/webhook_pb.js";
import type { IdentifierGate } from "../identifiers.ts";
import { requestOf } from "../operations/row.ts";
import type { FleetTimes, RobotChoice } from "../options.ts";
import { createPoll, ReadFailed } from "../polling/reader.ts";
import { type DeliveredAspect, deliveredAspects } from "../streams/aspect.ts";
import { type Identity, readIdentity, SECRET_HEADER } from "./receiver.ts";

/** A subscription as the gateway wants it. */
export interface WantedSubscription {
  readonly aspect: DeliveredAspect;
  readonly url: string;
  readonly robots: RobotChoice;
}

/** One subscription for each aspect; none without robots. */
export function wantedSubscriptions(robots: RobotChoice, url: string): readonly WantedSubscription[] {
  const count = robots.kind === "ids" ? robots.ids.length : robots.locations.length;
  return count === 0 ? [] : deliveredAspects.map((aspect) => ({ aspect, url, robots }));
}

/** The steps to one subscription for each wanted one, and none of ours beside them. */
interface SubscriptionPlan {
  /** Wanted, and present. */
  readonly kept: readonly WantedSubscription[];
  /** Wanted and missing, with the reason. */
  readonly missing: ReadonlyArray<{ readonly wanted: WantedSubscription; readonly reason: string }>;
  /** Ours and useless: disabled, a duplicate, or no longer wanted. */
  readonly useless: readonly string[];
}

/** The description of a gateway's own subscriptions. */
export function descriptionOf({ instance }: Identity): string {
  return `Fleetgate events ${instance}`;
}

/** Compares the service's list with the wanted subscriptions. Ignores those of others. */
export function planSubscriptions(
  listed: readonly WebhookSubscription[],
  wanted: readonly WantedSubscription[],
  identity: Identity,
): SubscriptionPlan {
  const ours = listed.filter(({ description }) => description === descriptionOf(identity));
  const used = new Set<string>();
  const kept: WantedSubscription[] = [];
  const missing: Array<{ wanted: WantedSubscription; reason: string }> = [];
  for (const each of wanted) {
    const found = ours.find((one) => one.enabled && serves(one, each, identity));
    if (found === undefined) {
      missing.push({ wanted: each, reason: reasonOf(ours, each) });
      continue;
    }
    used.add(found.id);
    kept.push(each);
  }
  return { kept, missing, useless: ours.filter(({ id }) => !used.has(id)).map(({ id }) => id) };
}

function serves(one: WebhookSubscription, wanted: WantedSubscription, { secret }: Identity): boolean {
  const given = Object.entries(one.headers).find(([name]) => name.toLowerCase() === SECRET_HEADER)?.[1];
  return (
    one.eventType === wanted.aspect &&
    one.url === wanted.url &&
    one.filter === undefined &&
    one.requestTemplate === undefined &&
    // A service may hide the values of headers.
    (given === undefined || given === secret) &&
    isSameChoice(one.selector?.selector, wanted.robots)
  );
}

function isSameChoice(
  selector: NonNullable<WebhookSubscription["selector"]>["selector"] | undefined,
  robots: RobotChoice,
): boolean {
  const ids = robots.kind === "ids" ? robots.ids : robots.locations;
  if (selector?.case !== (robots.kind === "ids" ? "robotIds" : "locationIds")) return false;
  const chosen = new Set(selector.value.ids);
  return chosen.size === ids.length && ids.every((id) => chosen.has(id));
}

function reasonOf(ours: readonly WebhookSubscription[], { aspect }: WantedSubscription): string {
  const former = ours.find(({ eventType }) => eventType === aspect);
  if (former === undefined) return "the service has no subscription of this gateway";
  if (former.enabled) return "the subscription is not for all that the gateway is for";
  return `the service has disabled the subscription: ${former.disabledReason ?? "it gives no reason"}`;
}

/**
 * Deletes the subscriptions that this gateway made while it had webhooks, and then its folder of them.
 * Repeats until the service lists none, or the signal is aborted.
 */
export async function removeFormerSubscriptions(
  {
    directory,
    calls,
    times,
    clock,
    log,
  }: {
    /** The earlier folder of webhooks, as in `WebhookOptions`. */
    readonly directory: string;
    readonly calls: WebhookCalls;
    readonly times: FleetTimes;
    readonly clock: Clock;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<void> {
  const identity = await readIdentity(directory);
  if (identity === null) return;
  const done = new AbortController();
  const poll = createPoll({
    name: "ListWebhooks",
    periodMs: times.refusedRetryMs,
    unimplementedMs: times.refusedRetryMs,
    clock,
    log,
    async turn() {
      const listed = await calls.list(times.callMs);
      const ours = listed.filter(({ description }) => description === descriptionOf(identity));
      const left = await calls.remove(
        ours.map(({ id }) => id),
        times.callMs,
      );
      if (left.size > 0) {
        const subscriptions = [...left.keys()];
        log.warn({ subscriptions, problem: [...left.values()][0] }, "former webhook subscriptions remain");
        return;
      }
      if (ours.length > 0) log.info({ count: ours.length }, "former webhook subscriptions were deleted");
      await rm(directory, { recursive: true, force: true });
      done.abort();
    },
  });
  await poll.run(AbortSignal.any([signal, done.signal]));
}

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
