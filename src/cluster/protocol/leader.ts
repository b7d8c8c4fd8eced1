import type { Cancel, Clock } from "../../platform/clock.ts";
import { createRunningTime, type RunningTime } from "../../platform/running-time.ts";
import type { ClusterStore, StoreEntry, StorePut } from "./cluster-store.ts";
import { type Epoch, ledBy } from "./epoch-writer.ts";
import type { Mirror } from "./mirror.ts";
import {
  BEAT_KEY,
  type BeatRecord,
  decode,
  LEADER_KEY,
  LED_KEY,
  LEFT_KEY,
  type LeaderRecord,
  type LeftRecord,
} from "./records.ts";
import { createSilenceWatch } from "./silence-watch.ts";
import type { ProtocolTimes } from "./times.ts";

/** Seeks the leadership, and proves that it has it. */
export interface Leader {
  /** The epoch that this process leads; null: it stands by. */
  epoch(): Epoch | null;
  /** It leads, and the proof of that is no older than the lease. */
  isActive(): boolean;
  /** Gives the leadership to another member. The process ends. */
  resign(why: LeftRecord["why"], note?: unknown): Promise<void>;
  /** Gives back what it has acquired, before it has led. It stands by again. */
  release(): Promise<void>;
  start(): void;
}

export interface LeaderParts {
  readonly store: ClusterStore;
  readonly mirror: Mirror;
  readonly clock: Clock;
  readonly times: ProtocolTimes;
  readonly identity: LeaderRecord;
  readonly self: {
    /** It may lead now; false: another member should. */
    readonly mayLead: () => boolean;
    /** It must not acquire a leadership that is free, yet. */
    readonly mustWait: () => boolean;
    /** Every event of this gateway has arrived at its subscribers. */
    readonly isPublished: () => boolean;
    /** It has led: nobody needs to fence it when it has resigned. */
    readonly hasLed: () => boolean;
  };
  /** `time`: for how long members have led in all. No member's own running time counts, for they differ. */
  readonly acquired: (epoch: Epoch, time: RunningTime) => void;
  /** The process must end: its sockets to the service first. */
  readonly lost: () => void;
}

/** A lease is renewed several times before it ends. */
const RENEWALS = 3;

export function createLeader(parts: LeaderParts): Leader {
  const { store, mirror, clock, times, identity, self, acquired, lost } = parts;
  let epoch: Epoch | null = null;
  let provenAtMs = 0;
  let lease: string | null = null;
  let isResigning = false;
  let isReleasing = false;
  let isSeeking = false;
  let cancelSeek: Cancel = () => {};
  let beats = 0;
  const silence = createSilenceWatch({ store, mirror, clock, times });

  // Whoever gives the leadership up waits for a successor.
  mirror.subscribe((key, entry) => {
    if (key === LEADER_KEY && entry === null) seekIn(0);
  });

  function seekIn(delayMs: number): void {
    cancelSeek();
    cancelSeek = clock.after(delayMs, () => void seek());
  }

  /**
   * The key is created once, so an acquisition without an answer is looked up: a lease that is kept alive
   * would else keep a key that nobody knows to be its own. It names the process, not the member: a late
   * transaction of the process before would pass the guard of an epoch that this one takes over.
   */
  async function seek(): Promise<void> {
    if (isSeeking || epoch !== null) return;
    isSeeking = true;
    const mayLead = self.mayLead();
    const isWhole = mirror.revision() > 0 && !mirror.isAhead();
    if (isWhole && mayLead && isLedByOther()) await silence.look();
    const mayAcquire = (mayLead && !self.mustWait()) || mirror.get(LEADER_KEY) !== undefined;
    if (isWhole && !isLedByOther() && mayAcquire) await acquire();
    isSeeking = false;
    seekIn(times.proofMs / 2);
  }

  const isOwn = (entry: StoreEntry) => decode<LeaderRecord>(entry, "process")?.process === identity.process;
  function isLedByOther(): boolean {
    const known = mirror.get(LEADER_KEY);
    return known !== undefined && !isOwn(known);
  }

  async function acquire(): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    lease ??= await store.grant(times.leaseMs);
    if (lease === null) return;
    const puts = [{ key: LEADER_KEY, value: JSON.stringify(identity), lease }];
    await store.commit({ guard: [{ key: LEADER_KEY, modified: 0 }], parts: [{ when: [], puts }] });
    const read = await store.read(LEADER_KEY);
    const found = read?.entries.find(isOwn);
    if (read === null || found === undefined || read.revision < mirror.revision()) return;
    const own: Epoch = { clusterId: read.clusterId, revision: found.created };
    epoch = own;
    provenAtMs = askedAtMs;
    const beat = mirror.get(BEAT_KEY);
    const time = createRunningTime((beat && decode<BeatRecord>(beat, "runMs")?.runMs) ?? 0, clock);
    isReleasing = false;
    clock.after(times.proofMs, () => void prove(own, time));
    acquired(own, time);
  }

  /**
   * A transaction, and no renewal of the lease: a store without a quorum may answer those. Whoever watches
   * sees by what it puts that nothing is behind.
   */
  async function prove(own: Epoch, time: RunningTime): Promise<void> {
    if (epoch !== own || isReleasing) return;
    const askedAtMs = clock.monotonicMs();
    beats += 1;
    const beat: BeatRecord = { count: beats, runMs: time.totalMs(), isPublished: self.isPublished() };
    const puts = [{ key: BEAT_KEY, value: JSON.stringify(beat) }];
    const result = await store.commit({ guard: [ledBy(own)], parts: [{ when: [], puts }] });
    if (epoch !== own || isReleasing) return;
    if (result.kind === "done" && result.parts === null) return lost();
    if (result.kind === "done") provenAtMs = askedAtMs;
    clock.after(times.proofMs, () => void prove(own, time));
  }

  async function renew(): Promise<void> {
    const used = lease;
    if (used !== null && (await store.keepAlive(used)) === "gone") lease = null;
    clock.after(times.leaseMs / RENEWALS, () => void renew());
  }

  return {
    epoch: () => epoch,
    isActive: () => epoch !== null && !isResigning && clock.monotonicMs() - provenAtMs <= times.leaseMs,
    async resign(why, note = null) {
      if (epoch === null) return;
      isResigning = true;
      const puts = lastWords({ ...identity, why, note }, self.hasLed());
      await store.commit({ guard: [ledBy(epoch)], parts: [{ when: [], puts }] });
      lost();
    },
    async release() {
      if (epoch === null || isReleasing) return;
      isReleasing = true;
      const revision = await removeKey(parts, epoch);
      // Before the mirror has it, the key would pass for an acquisition without an answer.
      await mirror.reached(revision);
      epoch = null;
      seekIn(times.proofMs / 2);
    },
    start() {
      void seek();
      void renew();
    },
  };
}

/** `hasLed`: nobody needs to fence it from now on. */
function lastWords(left: LeftRecord, hasLed: boolean): readonly StorePut[] {
  return [
    { key: LEADER_KEY, value: null },
    { key: LEFT_KEY, value: JSON.stringify(left) },
    ...(hasLed ? [{ key: LED_KEY, value: null }] : []),
  ];
}

/** Resolves with a revision of the store at which the key of the epoch is gone. */
async function removeKey({ store, clock, times }: LeaderParts, own: Epoch): Promise<number> {
  const parts = [{ when: [], puts: [{ key: LEADER_KEY, value: null }] }];
  for (;;) {
    const result = await store.commit({ guard: [ledBy(own)], parts });
    if (result.kind === "done") return result.revision;
    await new Promise<void>((resolve) => void clock.after(times.retryMs, resolve));
  }
}
