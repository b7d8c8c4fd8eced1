import { join } from "node:path";
import { LOOKS_A_SILENCE, silenceLookMs } from "../../domain/detection.ts";
import { beginListening, type RandomSource, type StartRetry, startOnce } from "../../platform/backoff.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { makeFolder } from "../../platform/folder.ts";
import type { Log } from "../../platform/log.ts";
import type { RecorderTap } from "../../platform/recorder/recording.ts";
import { openKeptStore } from "../../platform/stores/kept-store.ts";
import { type FleetOptions, leavingMs, type RobotChoice, type WebhookOptions } from "../options.ts";
import { createPoll, type PollState } from "../polling/reader.ts";
import { deliveredAspects } from "../streams/aspect.ts";
import type { Streams } from "../streams/streams.ts";
import { MalformedAnswer } from "../translate/snake-record.ts";
import { webhookEventFromJson } from "../translate/webhook-event.ts";
import { createEventIdStore, type EventIdStore, eventsFormat } from "./event-id-store.ts";
import { createReceiver, type Identity, loadIdentity, type Receiver } from "./receiver.ts";
import { createSubscriptionControl, type SubscriptionControl } from "./subscription-control.ts";
import { type WebhookCalls, wantedSubscriptions } from "./subscription-plan.ts";
import type { Trust } from "./trust.ts";

/** The state of webhooks. */
export interface WebhooksState {
  /** The poll of the subscriptions. */
  readonly poll: PollState | null;
  /** Why streams replace them, one sentence for each event type; and whether deliveries find no room. */
  readonly problems: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

/** The service's webhooks as the source of missions and batteries. */
export interface Webhooks {
  state(): WebhooksState;
  /**
   * Receives until the signal is aborted. Rejects if the port cannot be bound, or the disk cannot be used.
   */
  run(signal: AbortSignal, ready: () => void): Promise<void>;
  /** Call it before the end: deletes the subscriptions if the configuration says so. Never rejects. */
  leave(): Promise<void>;
}

export interface WebhooksDependencies {
  readonly trust: Trust;
  readonly streams: Pick<Streams, "deliver" | "resume" | "refused">;
  readonly calls: WebhookCalls;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly log: Log;
  /** Records deliveries. */
  readonly tap: RecorderTap;
  /** Absent: a start that fails once has failed. */
  readonly retry?: StartRetry;
}

/** @param robots the robots of the gateway, by configuration */
export function createWebhooks(
  options: WebhookOptions,
  { robots, times }: Pick<FleetOptions, "robots" | "times">,
  { trust, streams, calls, clock, random, log: fleetLog, tap, retry = startOnce }: WebhooksDependencies,
): Webhooks {
  const log = fleetLog.child({ source: "webhooks" });
  const receiver = createReceiver(options, clock, log, deliver);
  let identity: Identity | null = null;
  let memory: EventIdStore | null = null;
  let control: SubscriptionControl | null = null;
  let poll: ReturnType<typeof createPoll> | null = null;
  let repeats = 0;
  let malformed = 0;
  let others = 0;

  function deliver(eventId: string, body: string): void {
    if (memory === null) return;
    tap.write("delivery", { name: "", first: Buffer.from(eventId), second: Buffer.from(body) });
    if (!memory.take(eventId)) {
      repeats += 1;
      return;
    }
    try {
      const event = webhookEventFromJson(body, clock.nowMs());
      trust.delivered(event.aspect, event.robotId);
      if (!streams.deliver(event)) others += 1;
    } catch (error) {
      if (!(error instanceof MalformedAnswer)) throw error;
      malformed += 1;
      if (malformed === 1) log.error({ err: error }, "a webhook delivery cannot be read");
    }
  }

  function look(): void {
    // The call itself logs that there is room again.
    receiver.isFull();
    for (const aspect of trust.look()) {
      log.warn({ events: aspect, reason: trust.problem(aspect) }, "streams stand in for webhooks");
      streams.resume(aspect);
    }
  }

  async function openParts(): Promise<() => Promise<void>> {
    identity = await loadIdentity(options.directory, clock.nowMs(), log);
    const seenFolder = join(options.directory, "events");
    await makeFolder(seenFolder);
    const kept = createEventIdStore(openKeptStore(seenFolder, eventsFormat), { clock, log });
    memory = kept;
    const wanted = () => wantedSubscriptions(withoutRefused(robots, streams.refused()), options.publicUrl);
    control = createSubscriptionControl(identity, wanted, { trust, calls, times, clock, random, log });
    return kept.close;
  }

  return {
    state: () => ({
      poll: poll?.state() ?? null,
      problems: [...[retry.problem()].filter((each) => each !== null), ...problemsOf(receiver, trust)],
      figures: {
        ...receiverFigures(receiver),
        webhooks_repeated: repeats,
        webhooks_malformed: malformed,
        webhooks_of_other_robots: others,
        webhooks_undelivered: trust.undelivered(),
        webhook_subscriptions_made: control?.made() ?? 0,
        webhook_sources_proven: deliveredAspects.filter((aspect) => trust.provenAtMs(aspect) !== null).length,
      },
    }),
    async run(signal, ready) {
      const closeStore = await openParts();
      try {
        // Until then no webhook is relied on, and streams bring everything.
        const open = () => receiver.open(identity?.secret ?? "");
        await beginListening(retry, "fleet.events", options.listen, open, signal, ready);
        if (signal.aborted) return;
        log.info({ port: receiver.port(), publicUrl: options.publicUrl }, "webhooks are received");
        ready();
        every(clock, silenceLookMs(times.streamSilenceMs), signal, look);
        poll = createPoll({
          name: "ListWebhooks",
          periodMs: times.streamSilenceMs / LOOKS_A_SILENCE,
          unimplementedMs: times.refusedRetryMs,
          clock,
          log,
          async turn() {
            await control?.turn();
            look();
          },
        });
        await poll.run(signal);
      } finally {
        await receiver.close();
        await closeStore();
      }
    },
    async leave() {
      const budgetMs = leavingMs({ kind: "webhook", webhook: options });
      if (budgetMs > 0) await control?.remove(budgetMs);
    },
  };
}

function problemsOf(receiver: Receiver, trust: Trust): readonly string[] {
  const { connections } = receiver.counts;
  return [
    ...(receiver.isFull() ? [`deliveries may find no room: ${connections} connections are there`] : []),
    ...deliveredAspects.flatMap((aspect) => {
      const problem = trust.problem(aspect);
      return problem === null ? [] : [`streams stand in for ${aspect} webhooks: ${problem}`];
    }),
  ];
}

function receiverFigures({ counts }: Receiver) {
  return {
    webhooks_received: counts.received,
    webhooks_unfit: counts.unfit,
    webhooks_unauthorized: counts.unauthorized,
    webhook_connections: counts.connections,
    webhook_connections_closed: counts.closed,
  };
}

function withoutRefused(robots: RobotChoice, refused: ReadonlyMap<string, string>): RobotChoice {
  return robots.kind === "ids"
    ? { kind: "ids", ids: robots.ids.filter((robotId) => !refused.has(robotId)) }
    : { kind: "locations", locations: robots.locations.filter((location) => !refused.has(location)) };
}
