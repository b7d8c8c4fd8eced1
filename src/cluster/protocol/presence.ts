import type { MemberFacts, OtherMember, Takeover } from "../../contracts/cluster.ts";
import { type Clock, every } from "../../platform/clock.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { Mirror } from "./mirror.ts";
import {
  BEAT_KEY,
  type BeatRecord,
  decode,
  LEADER_KEY,
  LED_KEY,
  LEFT_KEY,
  type LeaderRecord,
  type LedRecord,
  type LeftRecord,
  MEMBERS,
  type PresenceRecord,
} from "./records.ts";

/** Tells the other members that this one is there, and knows which of them are. */
export interface Presence {
  /** Another member is there, and has a session to the service. */
  isOtherReady(): boolean;
  /** The other members that are there. */
  others(): readonly OtherMember[];
  /** Tells the others now, before its time. */
  announce(): void;
}

export interface PresenceParts {
  readonly store: ClusterStore;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly identity: LeaderRecord;
  /** It could lead: it has a session to the service. */
  readonly isReady: () => boolean;
  /** The revision of the epoch that it leads, when it has taken over. */
  readonly leads: () => number | null;
  readonly facts: () => MemberFacts | null;
  readonly ended: AbortSignal;
}

interface Heard extends OtherMember {
  readonly atMs: number;
}

const PERIOD_MS = 2_000;
/** A session that has begun or ended is announced within this time. */
const LOOK_MS = 500;
/** A member that has said nothing for so long is not there. */
const GONE_MS = 3 * PERIOD_MS;

export function createPresence(parts: PresenceParts): Presence {
  const { store, mirror, clock, identity, isReady, leads, facts, ended } = parts;
  const { member, process } = identity;
  const heard = new Map<string, Heard>();
  let count = 0;
  /** Whether the newest announcement has a session. */
  let announcedSession = false;

  mirror.subscribe((key, entry) => {
    if (!key.startsWith(MEMBERS) || entry === null) return;
    const name = key.slice(MEMBERS.length);
    // What the store has from before this process watched it may be old.
    if (name === member || mirror.revision() === 0) return;
    const record = decode<PresenceRecord>(entry, "hasSession", "count");
    if (record !== null) heard.set(name, heardOf(name, record, clock));
  });

  function announce(): void {
    count += 1;
    announcedSession = isReady();
    const record: PresenceRecord = {
      ...{ hasSession: announcedSession, count, process },
      ...{ leads: leads(), facts: facts(), atMs: clock.nowMs() },
    };
    const puts = [{ key: `${MEMBERS}${member}`, value: JSON.stringify(record) }];
    // One that is lost or late does no harm: the next one follows.
    void store.commit({ guard: [], parts: [{ when: [], puts }] });
  }
  every(clock, PERIOD_MS, ended, announce);
  every(clock, LOOK_MS, ended, () => {
    if (isReady() !== announcedSession) announce();
  });

  const there = () => [...heard.values()].filter(({ atMs }) => clock.monotonicMs() - atMs < GONE_MS);
  return {
    isOtherReady: () => there().some((each) => each.hasSession),
    others: there,
    announce,
  };
}

function heardOf(name: string, record: PresenceRecord, clock: Clock): Heard {
  const { hasSession, process = null, leads = null, facts = null, atMs } = record;
  const clockAheadMs = atMs === undefined ? null : atMs - clock.nowMs();
  return { name, hasSession, process, leads, facts, clockAheadMs, atMs: clock.monotonicMs() };
}

/** Follows who leads. Returns how the newest leader of another process has ended; null: none is known. */
export function watchTakeover(
  mirror: Pick<Mirror, "subscribe" | "get">,
  clock: Clock,
  process: string,
): () => Takeover | null {
  let last: LeaderRecord | null = null;
  let freeSinceMs: number | null = null;
  mirror.subscribe((key, entry) => {
    if (key === LEADER_KEY && entry === null) freeSinceMs = clock.monotonicMs();
    if (key !== LED_KEY || entry === null) return;
    const record = decode<LedRecord>(entry, "member", "process");
    if (record !== null && record.process !== process) last = record;
  });
  return () => {
    if (last === null) return null;
    const entry = mirror.get(LEFT_KEY);
    const left = entry === undefined ? null : decode<LeftRecord>(entry, "process", "why");
    const tookMs = freeSinceMs === null ? null : clock.monotonicMs() - freeSinceMs;
    const isOwnWill = left?.process === last.process;
    return {
      ...{ from: last.member, tookMs },
      why: isOwnWill ? left.why : "lost",
      note: isOwnWill ? (left.note ?? null) : null,
    };
  };
}

/** How far apart an event reaches the members, at most. */
const APART_MS = 60_000;

/**
 * A standby has the same events as the leader, and would publish all of them when it leads. While the leader
 * says that none waits there, those of a minute ago and before have been published. `published` is called
 * with that moment, on the monotonic clock.
 */
export function watchPublished(
  { mirror, clock }: { readonly mirror: Mirror; readonly clock: Pick<Clock, "monotonicMs"> },
  published: (beforeMs: number) => void,
): void {
  /** The leader's time is at least so much behind this clock: the beat that came fastest tells. */
  let behindMs = Number.POSITIVE_INFINITY;
  let epoch = 0;

  mirror.subscribe((key, entry) => {
    // What the store has from before this process watched it may be old.
    if (key !== BEAT_KEY || entry === null || mirror.revision() === 0) return;
    const beat = decode<BeatRecord>(entry, "runMs");
    if (beat === null) return;
    const { runMs, isPublished } = beat;
    const beganAt = mirror.get(LEADER_KEY)?.created ?? 0;
    if (beganAt !== epoch) behindMs = Number.POSITIVE_INFINITY;
    epoch = beganAt;
    behindMs = Math.min(behindMs, clock.monotonicMs() - runMs);
    if (isPublished) published(runMs + behindMs - APART_MS);
  });
}
