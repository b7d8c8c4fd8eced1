import { lookup } from "node:dns/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { SimulatorOptions } from "../options.ts";
import type { Ownership } from "../service/ownership.ts";
import type { DeliveryOptions } from "./delivery.ts";
import { createSender } from "./sender.ts";
import { createSubscriptionStore } from "./store.ts";
import type { Resolve } from "./target.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

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
