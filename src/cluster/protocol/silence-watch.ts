import type { Clock } from "../../platform/clock.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import { BEAT_KEY, decode, isMove, LEADER_KEY, type LeaderRecord, unchanged } from "./records.ts";
import type { ProtocolTimes } from "./times.ts";

/**
 * Ends the epoch of a leader that proves nothing for as long as a lease, though the store takes transactions.
 * The store alone may not: a new leader of etcd renews every lease in full, and a member of etcd that stands
 * still may go on renewing them.
 */
export interface SilenceWatch {
  /** Call it at least once a second on a member that may lead. Never rejects. */
  look(): Promise<void>;
}

interface SilenceWatchParts {
  readonly store: Pick<ClusterStore, "commit">;
  readonly mirror: Pick<Mirror, "get" | "subscribe">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly times: Pick<ProtocolTimes, "leaseMs" | "proofMs" | "answeringMs">;
}

export function createSilenceWatch({ store, mirror, clock, times }: SilenceWatchParts): SilenceWatch {
  let heardAtMs = clock.monotonicMs();
  /** Since then the store has taken each transaction of this member; null: it is not known to. */
  let answeringSinceMs: number | null = null;
  let lookedAtMs = Number.NEGATIVE_INFINITY;

  mirror.subscribe((key) => {
    if (key !== LEADER_KEY && key !== BEAT_KEY) return;
    heardAtMs = clock.monotonicMs();
    answeringSinceMs = null;
  });
  const silentMs = () => clock.monotonicMs() - heardAtMs;

  return {
    async look() {
      const [leader, beat] = [mirror.get(LEADER_KEY), mirror.get(BEAT_KEY)];
      const record = leader && decode<LeaderRecord>(leader, "process");
      if (leader === undefined || (record && isMove(record)) || silentMs() < 2 * times.proofMs) return;
      const askedAtMs = clock.monotonicMs();
      // Nobody knows what the store did while nobody looked.
      if (askedAtMs - lookedAtMs > times.answeringMs) answeringSinceMs = null;
      lookedAtMs = askedAtMs;
      const probe = await store.commit({ guard: [], parts: [] });
      answeringSinceMs = probe.kind === "done" ? (answeringSinceMs ?? askedAtMs) : null;
      if (answeringSinceMs === null || askedAtMs - answeringSinceMs < times.answeringMs) return;
      if (silentMs() < times.leaseMs) return;
      // A proof that this member has not heard of keeps the epoch, and so does one that comes in between.
      await store.commit({
        guard: [{ key: LEADER_KEY, created: leader.created }, unchanged(BEAT_KEY, beat)],
        parts: [{ when: [], puts: [{ key: LEADER_KEY, value: null }] }],
      });
    },
  };
}

/** Whether this member should lead, by its session to the service. */
interface SessionWatch {
  /** A member without a session leads only where no other one does for long: it holds robots, and tells. */
  mayLead(): boolean;
  /** It has had no session for long. Call it about once a second. */
  isCut(): boolean;
}

interface SessionWatchParts {
  readonly mirror: Pick<Mirror, "get">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly times: Pick<ProtocolTimes, "cutMs" | "unledMs">;
  readonly hasSession: () => boolean;
}

export function createSessionWatch({ mirror, clock, times, hasSession }: SessionWatchParts): SessionWatch {
  let unledSinceMs = clock.monotonicMs();
  let cutSinceMs: number | null = null;
  return {
    mayLead() {
      if (mirror.get(LEADER_KEY) !== undefined) unledSinceMs = clock.monotonicMs();
      return hasSession() || clock.monotonicMs() - unledSinceMs > times.unledMs;
    },
    isCut() {
      const nowMs = clock.monotonicMs();
      cutSinceMs = hasSession() ? null : (cutSinceMs ?? nowMs);
      return cutSinceMs !== null && nowMs - cutSinceMs >= times.cutMs;
    },
  };
}
