import { isoTime } from "../../models/json-text.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { type Health, publishedHealth } from "../../platform/component.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { LeftStatus } from "./client/checking.ts";
import type { Loss, Will } from "./client/client.ts";
import { type LimitedClient, NotTakenYet, TopicRefused } from "./client/limited-client.ts";
import type { Leadership, StatusPlace } from "./leadership.ts";
import type { StatusPayload } from "./models/state.ts";
import type { TopicRegistry } from "./topic-registry.ts";
import type { Topics } from "./topics.ts";

const HEALTH_PERIOD_MS = 10_000;
const HEALTH_LOOK_MS = 1_000;
/** A status that the broker did not take. */
const STATUS_AGAIN_MS = 2_000;

/** The gateway's own topics, `status` and `health`, over all connections. */
export interface OwnTopics {
  /** The last will of a connection that begins now: `status` without the gateway. */
  will(): Will;
  /** What `status` should say at a broker that the gateway has left. */
  left(): LeftStatus;
  /** This status was published. */
  noteStatus(payload: string): void;
  /**
   * Publishes both on a new connection, and again when they change, until the signal is aborted. Resolves
   * when the broker has taken the status, with a function that publishes it again.
   *
   * @param repeatMs how often the status is repeated; null: never
   */
  publish(
    client: LimitedClient,
    loss: Loss,
    registry: TopicRegistry,
    repeatMs: number | null,
    signal: AbortSignal,
  ): Promise<() => Promise<void>>;
}

interface OwnTopicParts {
  /** This run of the gateway: status and health carry it, so that those of another run are recognised. */
  readonly sessionId: string;
  /** Aborted when the gateway accepts nothing new: it is offline from then on, and the rest is delivered. */
  readonly stopping: AbortSignal;
  /** The daemon's health; read once a second. */
  readonly health: () => HealthReport;
  /** Absent or null: there is no cluster. */
  readonly leadership?: Leadership | null;
  readonly clock: Clock;
}

export function createOwnTopics(
  gatewayId: string,
  topics: Pick<Topics, "status" | "health">,
  { sessionId, stopping, health, leadership = null, clock }: OwnTopicParts,
): OwnTopics {
  const payloadOf = (state: StatusPayload["state"], atMs: number | null) =>
    statusPayload(state, { gatewayId, sessionId, place: leadership?.place() ?? null }, atMs);
  const offline = (atMs: number | null) => payloadOf("offline", atMs);
  let latest = "";
  const noteStatus = (payload: string) => {
    latest = payload;
  };

  function publishHealth(client: LimitedClient, registry: TopicRegistry, signal: AbortSignal): void {
    let signature = "";
    let saidAtMs = Number.NEGATIVE_INFINITY;
    const look = () => {
      const report = health();
      const now = healthSignature(report);
      const elapsedMs = clock.monotonicMs() - saidAtMs;
      if (now === signature && elapsedMs < HEALTH_PERIOD_MS) return;
      signature = now;
      saidAtMs = clock.monotonicMs();
      const payload = healthPayload(report, sessionId, clock.nowMs());
      registry.note(topics.health, payload);
      client.publish(topics.health, payload, { qos: 0, retain: true });
    };
    look();
    every(clock, HEALTH_LOOK_MS, signal, look);
  }

  return {
    will: () => ({ topic: topics.status, payload: offline(null) }),
    left: () => ({ topic: topics.status, offline: offline(clock.nowMs()), latest }),
    noteStatus,
    async publish(client, loss, registry, repeatMs, signal) {
      // A reload may move the topic: this connection says its goodbye on the topic of its hello.
      const { status } = topics;
      const sayStatus = () => {
        const state = stopping.aborted || signal.aborted ? "offline" : "online";
        const payload = payloadOf(state, clock.nowMs());
        noteStatus(payload);
        registry.note(status, payload);
        return loss.orElse((done) => {
          client.publish(status, payload, { qos: 1, retain: true }, (error) => {
            const isLater = error instanceof NotTakenYet && !signal.aborted;
            if (isLater) clock.after(STATUS_AGAIN_MS, sayAgain);
            // Who watches sees the gateway's values without its status, and health names the topic.
            done(isLater || error instanceof TopicRefused ? null : error);
          });
        });
      };
      const sayNow = () => void sayStatus().catch(() => {});
      const sayAgain = () => {
        if (!signal.aborted) sayNow();
      };
      await sayStatus();
      const stopFollowing = onAbort(stopping, sayNow);
      signal.addEventListener("abort", stopFollowing, { once: true });
      if (repeatMs !== null) every(clock, repeatMs, signal, sayNow);
      publishHealth(client, registry, signal);
      return sayStatus;
    },
  };
}

/** Whose status it is. */
interface StatusOwner {
  readonly gatewayId: string;
  readonly sessionId: string;
  /** Null: there is no cluster. */
  readonly place: StatusPlace | null;
}

/** The content of the `status` topic. `at` is missing in the last will: its time is not known. */
export function statusPayload(
  state: StatusPayload["state"],
  { gatewayId, sessionId, place }: StatusOwner,
  atMs: number | null,
): string {
  const payload: StatusPayload = {
    state,
    session_id: sessionId,
    gateway_id: gatewayId,
    ...place,
    ...(atMs === null ? {} : { at: isoTime(atMs) }),
  };
  return JSON.stringify(payload);
}

/** The health of every part of the daemon, by name. */
export type HealthReport = Readonly<Record<string, Health>>;

const rank = { up: 0, starting: 1, degraded: 2, down: 3 } as const;

/** The content of the `health` topic: the worst state, then each part with its figures. */
function healthPayload(report: HealthReport, sessionId: string, nowMs: number): string {
  let worst: Health["state"] = "up";
  for (const part of Object.values(report)) if (rank[part.state] > rank[worst]) worst = part.state;
  return JSON.stringify({
    state: worst,
    session_id: sessionId,
    at: isoTime(nowMs),
    parts: publishedHealth(report),
  });
}

/** The part of the health that makes a message due at once: states and sentences, not figures. */
function healthSignature(report: HealthReport): string {
  let signature = "";
  for (const [name, part] of Object.entries(report))
    signature += `${name}=${part.state}:${part.detail ?? ""}\n`;
  return signature;
}
