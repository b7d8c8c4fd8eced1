import type {
  MemberFacts,
  OtherMember,
  RobotStop,
  SharedCommands,
  Takeover,
} from "../../contracts/cluster.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import type { OwnTableStore, TableChange, TableStore } from "../../platform/stores/table-store.ts";
import type { ClusterStore, StoreComparison, StoreEntry } from "./cluster-store.ts";
import { createEpochWriter, createOpenWriter, type Epoch, type EpochWriter } from "./epoch-writer.ts";
import { createFencing, type Fencing, type RunFence } from "./fence.ts";
import { createLeader } from "./leader.ts";
import { createKnownKeys, createMirror, type DiskMirror, type KnownKeys, type Mirror } from "./mirror.ts";
import { createPresence, watchPublished, watchTakeover } from "./presence.ts";
import {
  decode,
  type LeaderRecord,
  type LeftRecord,
  STOPS,
  stopKey,
  TABLES,
  tableKey,
  unchanged,
} from "./records.ts";
import { type ConditionsOf, createReplicatedStore, type ReplicatedStore } from "./replicated-store.ts";
import { createSessionWatch } from "./silence-watch.ts";
import { COMMANDS, createStartIndex, createStops, type ReadStart } from "./stops.ts";
import type { ProtocolTimes } from "./times.ts";

/** One process of a cluster: it stands by at first, may lead, and then leads until it ends. */
export interface Member extends SharedCommands {
  /** The tables as a standby knows them. It writes holds only. */
  readonly tables: OwnTableStore;
  readonly mirror: Pick<Mirror, "subscribe" | "get" | "range" | "revision" | "isAhead" | "lagMs">;
  /** Calls it with each record of a table that changes, after `tables` has it. */
  onTable(listener: (table: string, key: string) => void): void;
  /** The epoch that this process leads; null: it stands by. */
  epoch(): Epoch | null;
  /** It leads, has taken over, and the proof of that is no older than the lease. */
  isLeading(): boolean;
  /** Gives the leadership to another member. This process ends. */
  resign(why: LeftRecord["why"], note?: unknown): Promise<void>;
  /** The other members that are there. */
  others(): readonly OtherMember[];
  /** The leader before this one; null: this one does not lead, or knows none. */
  takeover(): Takeover | null;
  readonly fencing: Pick<Fencing, "state" | "confirm">;
  /** The keys of a record that it cannot read: it does not begin to lead. Empty: there is none. */
  unreadable(): readonly string[];
  start(): void;
}

export interface MemberParts {
  readonly store: ClusterStore;
  readonly clock: Clock;
  readonly times: ProtocolTimes;
  readonly identity: LeaderRecord;
  /** What is known of the records of tables. */
  readonly records: {
    readonly readStart: ReadStart;
    readonly canRead: CanRead;
    /** The keys in the tables of a record that is needed and is missing; empty or absent: there is none. */
    readonly lacking?: () => readonly string[];
  };
  readonly disk: DiskMirror;
  readonly leading: {
    /** It has a session to the service. */
    readonly hasSession: () => boolean;
    /** Every event of this gateway has arrived at its subscribers. */
    readonly isPublished: () => boolean;
    /**
     * It leads, and knows all that the epochs before have written. Takes the tables over; when it resolves,
     * this member is active. Their records age by `time`. What is written to `aside` delays no command.
     * Rejects, with nothing taken over, if a record is unreadable.
     */
    readonly takeOver: (tables: ReplicatedStore, time: RunningTime, aside: TableStore) => Promise<void>;
    /** Fences the member that led before; absent or null: nobody is fenced. */
    readonly fence?: RunFence | null;
    /** The leadership is lost: closes the sockets to the service, then ends the process. */
    readonly lost: () => void;
  };
  readonly others: {
    /** What this member tells the others of itself; absent: nothing. */
    readonly facts?: () => MemberFacts;
    /** Another member sends a stop. */
    readonly stop: (stop: RobotStop) => void;
    /** A record of a table has changed; undefined: it was removed. */
    readonly table: (change: TableChange) => void;
    /** The leader has published all events that came before this moment, on the monotonic clock. */
    readonly published: (beforeMs: number) => void;
    /** Sends a stop again that has left here already. Never rejects. */
    readonly repeat: (stop: RobotStop) => Promise<unknown>;
  };
}

const HOLDS = "holds";

export function createMember(parts: MemberParts): Member {
  const { store, clock, times, identity, records, leading, others } = parts;
  const ending = new AbortController();
  const ended = ending.signal;
  let hasTakenOver = false;

  function lost(): void {
    if (ended.aborted) return;
    ending.abort();
    leading.lost();
  }

  const mirror = createMirror({ store, clock, retryMs: times.retryMs, disk: parts.disk });
  const starts = createStartIndex(mirror, records.readStart);
  const unreadable = watchUnreadable(mirror, records);
  const canReadAll = () => unreadable().length === 0;
  const session = createSessionWatch({ mirror, clock, times, hasSession: leading.hasSession });

  /** A leader without a session lets a member lead that has one. */
  function lookAtSession(): void {
    if (session.isCut() && hasTakenOver && presence.isOtherReady()) void leader.resign("cut");
  }
  const leader = createLeader({
    store,
    mirror,
    clock,
    times,
    identity,
    self: {
      ...{ mayLead: () => session.mayLead() && canReadAll(), isPublished: leading.isPublished },
      ...{ mustWait: () => fencing.mustWait(), hasLed: () => fencing.hasLed() },
    },
    acquired,
    lost,
  });
  const presence = createPresence({
    ...{ store, mirror, clock, ended, identity },
    ...{ isReady: () => leading.hasSession() && canReadAll(), facts: others.facts ?? (() => null) },
    leads: () => (hasTakenOver ? (leader.epoch()?.revision ?? null) : null),
  });
  const fencing = createFencing({
    ...{ store, mirror, clock, times, identity, ended },
    ...{ others: presence.others, run: leading.fence ?? null },
  });
  const isLeading = () => hasTakenOver && leader.isActive();
  const writer = createOpenWriter({ store, clock });
  const stops = createStops({
    ...{ writer, mirror, starts, clock, times, others, ended },
    self: { process: identity.process, isLeading },
  });
  const keys = createKnownKeys(mirror);
  const tablesOf = (by: EpochWriter, conditionsOf: ConditionsOf) =>
    createReplicatedStore({ ...{ mirror, keys, clock, times, ended }, writer: by, conditionsOf });
  const tables = tablesOf(writer, () => []);

  watchPublished({ mirror, clock }, (beforeMs) => {
    if (leader.epoch() === null) others.published(beforeMs);
  });
  watchHolds(mirror, keys, others.table);

  const leaderBefore = watchTakeover(mirror, clock, identity.process);
  let takeover: Takeover | null = null;

  async function acquired(epoch: Epoch, time: RunningTime): Promise<void> {
    // All that the epochs before have written is of a lower revision than this epoch.
    await mirror.reached(epoch.revision);
    if (!canReadAll()) return leader.release();
    const passed = await fencing.pass(epoch);
    if (passed === "failed") void leader.release();
    if (passed === "lost") lost();
    if (passed !== "passed" || ended.aborted) return;
    const ownWriter = () => createEpochWriter({ store, clock, epoch, lost });
    const aside = tablesOf(ownWriter(), () => []);
    const own = tablesOf(ownWriter(), conditions(mirror, records.readStart));
    if (!(await isDone(leading.takeOver(own, time, aside), canReadAll))) return leader.release();
    takeover = leaderBefore();
    hasTakenOver = true;
    presence.announce();
  }

  return {
    tables,
    mirror,
    onTable: (listener) => followTables(mirror, listener),
    ...{ epoch: leader.epoch, isLeading, resign: leader.resign },
    others: presence.others,
    takeover: () => takeover,
    ...{ fencing, unreadable, doubtMs: times.doubtMs },
    isRecorded: (commandId) => isRecorded(store, commandId),
    stopLeaves: stops.leaves,
    stoppedElsewhere: stops.forbids,
    stopAfter(commandId, robotId) {
      const revision = mirror.get(tableKey(COMMANDS, commandId))?.modified ?? 0;
      return stops.after(robotId, revision);
    },
    start() {
      mirror.start(ended);
      presence.announce();
      leader.start();
      every(clock, times.proofMs, ended, lookAtSession);
    },
  };
}

/** False: it was rejected over a record that cannot be read. */
async function isDone(takeover: Promise<void>, canReadAll: () => boolean): Promise<boolean> {
  try {
    await takeover;
    return true;
  } catch (error) {
    if (canReadAll()) throw error;
    return false;
  }
}

async function isRecorded(store: ClusterStore, commandId: string): Promise<boolean | null> {
  const wanted = tableKey(COMMANDS, commandId);
  const read = await store.read(wanted);
  return read === null ? null : read.entries.some(({ key }) => key === wanted);
}

/** What this process has written since is newer than what comes late. */
function watchHolds(mirror: Mirror, keys: KnownKeys, receive: (change: TableChange) => void): void {
  const prefix = tableKey(HOLDS, "");
  mirror.subscribe((key, entry, revision) => {
    if (!key.startsWith(prefix) || keys.isWrittenAfter(key, revision)) return;
    const value = entry === null ? undefined : (decode<unknown>(entry) ?? undefined);
    receive({ table: HOLDS, key: key.slice(prefix.length), value });
  });
}

/**
 * What must not have changed since it was looked at, when a start is permitted or ends. A start whose robot
 * the service picks may reach any robot, so no hold and no stop at all may have come.
 */
function conditions(mirror: Mirror, readStart: ReadStart): ConditionsOf {
  return (change) => {
    const start = readStart(change);
    if (start === null || start.stage === "accepted") return [];
    const { robotId, stage } = start;
    const noStop: StoreComparison =
      robotId === null
        ? { prefix: STOPS, notAfter: mirror.revision() }
        : unchanged(stopKey(robotId), mirror.get(stopKey(robotId)));
    // A stop that this member does not know yet is sent again before the start ends.
    if (stage === "ended") return robotId === null ? [] : [noStop];
    return [noStop, { prefix: tableKey(HOLDS, ""), notAfter: mirror.revision() }];
  };
}

/** Whether this program knows what a record means. */
type CanRead = (change: TableChange) => boolean;

/**
 * Follows the records that this program cannot read: a newer one may have written them, so this one must not
 * lead over them. A text that is no object counts as no record, unless it is at the place of one. Returns the
 * keys of such a record; empty: there is none.
 */
function watchUnreadable(
  mirror: Pick<Mirror, "subscribe">,
  { canRead, lacking = () => [] }: MemberParts["records"],
): () => readonly string[] {
  const keys = new Set<string>();
  followTables(mirror, (table, key, entry) => {
    const value = entry && decode<unknown>(entry);
    const full = `${TABLES}${table}/${key}`;
    if (isJsonObject(value) && !canRead({ table, key, value })) keys.add(full);
    else keys.delete(full);
  });
  return () => {
    const missing = lacking();
    return missing.length > 0 ? missing.map((key) => TABLES + key) : [...keys].slice(0, 1);
  };
}

/** Calls it with each record of a table that changes. */
function followTables(
  mirror: Pick<Mirror, "subscribe">,
  listener: (table: string, key: string, entry: StoreEntry | null) => void,
): void {
  mirror.subscribe((key, entry) => {
    if (!key.startsWith(TABLES)) return;
    const end = key.indexOf("/", TABLES.length);
    listener(key.slice(TABLES.length, end), key.slice(end + 1), entry);
  });
}
