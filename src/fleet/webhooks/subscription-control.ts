import { fromJson } from "@bufbuild/protobuf";
import type { OpaqueRequest } from "../../contracts/operation.ts";
import { LOOKS_A_SILENCE } from "../../domain/detection.ts";
import { createBackoff, type RandomSource } from "../../platform/backoff.ts";
import { type Clock, noLaterThan, sleep } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { CreateWebhookRequestSchema, FleetService } from "../../wire/fleet/v1/service_pb.js";
import { requestOf } from "../operations/row.ts";
import type { FleetTimes } from "../options.ts";
import { ReadFailed } from "../polling/reader.ts";
import { type Identity, SECRET_HEADER } from "./receiver.ts";
import {
  codeOf,
  descriptionOf,
  planSubscriptions,
  type WantedSubscription,
  type WebhookCalls,
} from "./subscription-plan.ts";
import type { Trust } from "./trust.ts";

/** Keeps our subscriptions at the service, one for each event type. */
export interface SubscriptionControl {
  /**
   * Compares the service's list with what is wanted, and makes what is missing. Rejects with ReadFailed if
   * the list cannot be read.
   */
  turn(): Promise<void>;
  /**
   * Deletes all of ours, as far as the service answers within `budgetMs` altogether; logs those that remain.
   * Never rejects.
   */
  remove(budgetMs: number): Promise<void>;
  /** How many subscriptions were made since the start. */
  made(): number;
}

export interface SubscriptionControlDependencies {
  readonly trust: Trust;
  readonly calls: WebhookCalls;
  readonly times: FleetTimes;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
}

const TRY_AGAIN_MS = 250;

/**
 * CreateWebhook is never repeated (docs/commands.md, Operations): each turn lists the subscriptions first,
 * so the next turn finds what an unanswered call has made, and takes over those of an earlier run too.
 */
export function createSubscriptionControl(
  identity: Identity,
  wanted: () => readonly WantedSubscription[],
  { trust, calls, times, clock, random, log }: SubscriptionControlDependencies,
): SubscriptionControl {
  const makeBackoff = createBackoff({ baseMs: times.backoffCapMs, capMs: times.refusedRetryMs }, random);
  let nextMakingAtMs = 0;
  let made = 0;
  let isLeaving = false;
  let underWay: Promise<void> = Promise.resolve();

  /** Whether the service has now made it. */
  async function make(one: WantedSubscription, reason: string): Promise<boolean> {
    const ending = await calls.create(creationOf(one, identity), times.callMs);
    if (ending.kind === "ok") {
      made += 1;
      log.info({ events: one.aspect, reason }, "a webhook subscription was made");
      trust.confirmed(one.aspect);
      return true;
    }
    const problem = `${codeOf(ending)}: ${ending.message}`;
    trust.denied(one.aspect, `${reason}; a new one was not made: ${problem}`);
    log.warn({ events: one.aspect, reason, problem }, "a webhook subscription was not made");
    return false;
  }

  async function makeAll(missing: ReturnType<typeof planSubscriptions>["missing"]): Promise<boolean> {
    if (missing.length === 0) return true;
    if (isLeaving) return false;
    if (clock.monotonicMs() < nextMakingAtMs) return false;
    const results = await Promise.all(missing.map(({ wanted: one, reason }) => make(one, reason)));
    if (results.every((isMade) => isMade)) {
      makeBackoff.reset();
      return true;
    }
    nextMakingAtMs = clock.monotonicMs() + makeBackoff.nextMs();
    return false;
  }

  async function reconcile(): Promise<void> {
    // A missing answer must not delay the next one, which may be the proof.
    const watchMs = Math.min(times.callMs, times.streamSilenceMs / LOOKS_A_SILENCE);
    const plan = planSubscriptions(await calls.list(watchMs), wanted(), identity);
    for (const { aspect } of plan.kept) trust.confirmed(aspect);
    for (const { wanted: one, reason } of plan.missing) trust.denied(one.aspect, reason);
    // New before old: a subscription with a part of the robots serves until then.
    if (!(await makeAll(plan.missing))) return;
    reportLeft(await calls.remove(plan.useless, times.callMs));
  }

  function reportLeft(left: ReadonlyMap<string, string>): void {
    if (left.size === 0) return;
    log.warn(
      { subscriptions: [...left.keys()], problem: [...left.values()][0] },
      "webhook subscriptions of ours could not be deleted: they are left behind",
    );
  }

  return {
    made: () => made,
    turn() {
      const turn = reconcile();
      // Its failure goes to the caller; `remove` only waits for its end.
      underWay = turn.then(
        () => {},
        () => {},
      );
      return turn;
    },
    async remove(budgetMs) {
      isLeaving = true;
      const untilMs = clock.monotonicMs() + budgetMs;
      await noLaterThan(clock, budgetMs, underWay, undefined);
      try {
        reportLeft(await removeUntil(calls, identity, untilMs, budgetMs / 2, clock));
      } catch (error) {
        log.warn({ err: error }, "webhook subscriptions are left behind: the service does not list them");
      }
    },
  };
}

/**
 * Deletes our subscriptions until none is left, or the time is over: deleting may be repeated. Resolves with
 * those that may still be there. Rejects when the service does not list them.
 */
async function removeUntil(
  calls: WebhookCalls,
  identity: Identity,
  untilMs: number,
  callMs: number,
  clock: Clock,
): Promise<ReadonlyMap<string, string>> {
  for (;;) {
    const leftMs = () => Math.max(1, Math.min(callMs, untilMs - clock.monotonicMs()));
    const isLastTry = untilMs - clock.monotonicMs() <= callMs;
    const listed = await calls.list(leftMs()).catch((error: unknown) => {
      if (isLastTry || !(error instanceof ReadFailed) || !isWorthAnotherTry(error)) throw error;
      return null;
    });
    if (listed === null) continue;
    const ours = listed.filter(({ description }) => description === descriptionOf(identity));
    const ids = ours.map(({ id }) => id);
    const left = await calls.remove(ids, leftMs());
    if (left.size === 0 || clock.monotonicMs() >= untilMs) return left;
    await sleep(clock, TRY_AGAIN_MS, new AbortController().signal);
  }
}

/** Whether a call has left without an answer; without a connection there is no use in waiting. */
function isWorthAnotherTry({ code }: ReadFailed): boolean {
  return code === "DEADLINE_EXCEEDED";
}

function creationOf({ aspect, url, robots }: WantedSubscription, identity: Identity): OpaqueRequest {
  const request = fromJson(CreateWebhookRequestSchema, {
    url,
    eventType: aspect,
    selector:
      robots.kind === "ids"
        ? { robotIds: { ids: [...robots.ids] } }
        : { locationIds: { ids: [...robots.locations] } },
    options: { description: descriptionOf(identity), headers: { [SECRET_HEADER]: identity.secret } },
  });
  return requestOf(FleetService.method.createWebhook, request);
}
