import { rm } from "node:fs/promises";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { FleetTimes } from "../options.ts";
import { createPoll } from "../polling/poll.ts";
import { readIdentity } from "./identity.ts";
import { descriptionOf } from "./subscription-plan.ts";
import type { WebhookCalls } from "./webhook-calls.ts";

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
