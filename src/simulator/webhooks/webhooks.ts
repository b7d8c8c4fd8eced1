import { randomUUID } from "node:crypto";
import { lookup } from "node:dns/promises";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { RandomSource } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { WebhookSubscription } from "../../wire/fleet/v1/webhook_pb.js";
import type { SimulatorOptions } from "../options.ts";
import { invalid, Refusal } from "../refusal.ts";
import type { RobotUpdate } from "../service/contract.ts";
import type { WebhookCalls } from "../service/operations.ts";
import type { Ownership } from "../service/ownership.ts";
import {
  type AttemptOutcome,
  createDelivery,
  createSender,
  type Delivery,
  type DeliveryOptions,
  type Sender,
} from "./sender.ts";
import {
  type Compiled,
  checkOwnership,
  checkShape,
  compileSubscription,
  createSubscriptionStore,
  newSubscription,
  type SubscriptionStore,
} from "./subscription.ts";
import { checkLiteral, checkReachable, deliveryHeaders, type Resolve } from "./target.ts";

interface WebhookParts {
  readonly ownership: Ownership;
  readonly store: SubscriptionStore;
  readonly sender: Sender;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** undefined: any address is allowed, which is unsafe. */
  readonly resolve: Resolve | undefined;
  readonly delivery: DeliveryOptions;
}

/** Webhook subscriptions and their deliveries. */
interface Webhooks {
  readonly calls: WebhookCalls;
  /** Loads the subscriptions of an earlier start. */
  load(): Promise<void>;
  /**
   * Delivers an event to every subscription that selects it. Returns at once: deliveries never slow the
   * world.
   */
  offer(event: RobotUpdate): void;
  close(): Promise<void>;
}

interface Active {
  readonly subscription: WebhookSubscription;
  readonly compiled: Compiled;
  readonly delivery: Delivery;
  failuresInARow: number;
}

/** Final failures in a row that disable a subscription (docs/internals/service.md, TRN-15). */
const DISABLE_AFTER = 20;
const MOST_SUBSCRIPTIONS = 1_000;

function createWebhooks(parts: WebhookParts): Webhooks {
  const { ownership, store, sender, clock, random, log } = parts;
  const active = new Map<string, Active>();

  let lastSave: Promise<void> = Promise.resolve();
  const save = () => {
    lastSave = store.save([...active.values()].map(({ subscription }) => subscription));
    return lastSave;
  };

  function take(subscription: WebhookSubscription): void {
    const { id } = subscription;
    const delivery = createDelivery({
      sender,
      clock,
      random,
      log: log.child({ webhook: id }),
      options: parts.delivery,
      settled: (outcome) => settle(id, outcome),
    });
    const compiled = compileSubscription(subscription, ownership);
    active.set(id, { subscription, compiled, delivery, failuresInARow: 0 });
  }

  function settle(id: string, outcome: AttemptOutcome): void {
    const found = active.get(id);
    if (found === undefined) return;
    if (outcome.kind === "delivered") {
      found.failuresInARow = 0;
      return;
    }
    found.failuresInARow += 1;
    log.info(
      { webhook: id, reason: outcome.reason, inARow: found.failuresInARow },
      "a webhook delivery failed",
    );
    if (found.failuresInARow >= DISABLE_AFTER) disable(found, outcome.reason);
  }

  function disable({ subscription, delivery }: Active, reason: string): void {
    delivery.stop();
    const at = timestampFromMs(clock.nowMs());
    subscription.enabled = false;
    subscription.disabledReason = `${DISABLE_AFTER} deliveries in a row failed; the last one: ${reason}`;
    subscription.disabledAt = at;
    subscription.updatedAt = at;
    log.warn({ webhook: subscription.id, reason }, "a webhook subscription is disabled");
    save().catch((error: unknown) => log.error({ err: error }, "webhook subscriptions could not be written"));
  }

  return {
    calls: createCalls(parts, active, take, save),
    async load() {
      for (const subscription of await store.load()) take(subscription);
    },
    offer(event) {
      if (active.size === 0) return;
      const eventId = randomUUID();
      for (const { subscription, compiled, delivery } of active.values()) {
        if (!subscription.enabled || !compiled.selects(event) || !compiled.matches(event.state)) continue;
        delivery.offer(() => ({
          url: subscription.url,
          headers: deliveryHeaders(subscription.headers, subscription.id, eventId),
          body: JSON.stringify(compiled.body(event)),
        }));
      }
    },
    async close() {
      const all = [...active.values()];
      for (const { delivery } of all) delivery.stop();
      await Promise.all(all.map(({ delivery }) => delivery.idle()));
      // The last write ends before the service does. The operation that saved reports its failure.
      await Promise.allSettled([lastSave]);
      await sender.close();
    },
  };
}

/** The three operations on subscriptions. `take` makes one active, `save` writes all active ones. */
function createCalls(
  { ownership, resolve, clock }: WebhookParts,
  active: Map<string, Active>,
  take: (subscription: WebhookSubscription) => void,
  save: () => Promise<void>,
): WebhookCalls {
  const ownedBy = (distributor: string) =>
    [...active.values()].filter(({ subscription }) => subscription.distributorId === distributor);

  return {
    async create(caller, request) {
      const url = checkShape(request);
      // A literal address is part of the request's shape. A name is looked up only after the ownership check.
      if (resolve !== undefined) checkLiteral(url);
      checkOwnership(caller, request, ownership);
      if (resolve !== undefined) await checkReachable(url, resolve);
      if (ownedBy(caller.distributor).length >= MOST_SUBSCRIPTIONS) {
        throw new Refusal(
          "RESOURCE_EXHAUSTED",
          `a distributor has at most ${MOST_SUBSCRIPTIONS} subscriptions`,
        );
      }
      const webhook = newSubscription(caller, request, clock.nowMs());
      take(webhook);
      try {
        await save();
      } catch (error) {
        // A subscription that would not outlive a restart is not created.
        active.get(webhook.id)?.delivery.stop();
        active.delete(webhook.id);
        throw error;
      }
      return { webhook };
    },
    async list(caller) {
      return { webhooks: ownedBy(caller.distributor).map(({ subscription }) => subscription) };
    },
    async delete(caller, { id }) {
      if (id === "") throw invalid("id is empty");
      const found = active.get(id);
      if (found?.subscription.distributorId !== caller.distributor) {
        throw new Refusal("NOT_FOUND", `there is no subscription ${id.slice(0, 64)}`);
      }
      found.delivery.stop();
      active.delete(id);
      await save();
      return {};
    },
  };
}

const REQUEST_TIMEOUT_MS = 10_000;

/** Six attempts over about a minute. Figures of our own: the interface leaves them open. */
const usualDelivery: DeliveryOptions = {
  attempts: 6,
  backoff: { baseMs: 1_000, capMs: 30_000 },
  queueLimit: 1_000,
};

const machineResolve: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true });
  return found.map(({ address }) => address);
};

/** The webhooks of the data folder, by the options. */
export async function openWebhooks(
  options: SimulatorOptions,
  ownership: Ownership,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Webhooks> {
  const { unsafeWebhookTargets: unsafe, resolve = machineResolve } = options;
  const webhooks = createWebhooks({
    ownership,
    store: createSubscriptionStore(options.dataDir),
    sender: createSender({ clock, resolve, timeoutMs: REQUEST_TIMEOUT_MS, unsafe }),
    clock,
    random: options.random ?? Math.random,
    log,
    resolve: unsafe === undefined ? resolve : undefined,
    delivery: options.webhookDelivery ?? usualDelivery,
  });
  await webhooks.load();
  return webhooks;
}
