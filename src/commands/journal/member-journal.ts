import { sourceKey } from "../../domain/command.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import { StoreFailed } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import type { OwnTableStore, TableStore } from "../../platform/stores/table-store.ts";
import { openDurableJournal } from "./durable-journal.ts";
import type { Journal, JournalLimits } from "./journal.ts";
import { createJournalIndex, type JournalIndex, type SharedRecord } from "./journal-index.ts";
import {
  isOrderKey,
  lacksRecord,
  openJournalTables,
  orderKey,
  recordCodec,
  storedClaims,
  unpackRecord,
} from "./stored-record.ts";

/** The journal of a member of a cluster. */
export interface MemberJournal extends Journal {
  /** A record of a table has changed. */
  changed(table: string, key: string): void;
  /**
   * The keys of a record that is named by its place and is missing, or cannot be read: `[record, place]`.
   * Empty: there is none. A member does not begin to lead over it, for nobody knows what was sent.
   */
  lacking(): readonly string[];
  /** This member leads from now on: `tables` are its own, with all that `changed` was told of. */
  lead(tables: OwnTableStore, limits: JournalLimits, time: RunningTime): Promise<void>;
}

/**
 * A member that stands by reads what the leader has recorded, and keeps holds. It records no command.
 *
 * @param tables as a standby knows them
 */
export function createMemberJournal(tables: TableStore): MemberJournal {
  let now = standbyJournal(tables);
  // What a takeover must know of all records is ready before it.
  const follower = followJournal(tables);
  return {
    ...{ changed: follower.changed, lacking: follower.lacking },
    async lead(own, limits, time) {
      now = openDurableJournal(own, limits, time, null, await follower.caughtUp());
    },
    find: (id) => now.find(id),
    isOnDisk: (id) => now.isOnDisk(id),
    unfinished: () => now.unfinished(),
    made: () => now.made(),
    ended: () => now.ended(),
    write: (record) => now.write(record),
    permits: (id) => now.permits(id),
    leases: () => now.leases(),
    writeLease: (robotId, lease) => now.writeLease(robotId, lease),
    runs: () => now.runs(),
    writeRuns: (robotId, runs) => now.writeRuns(robotId, runs),
    holds: () => now.holds(),
    writeHold: (hold, isHeld) => now.writeHold(hold, isHeld),
    prune: () => now.prune(),
    writeProbe: () => now.writeProbe(),
    writeMissed: () => now.writeMissed(),
    isDamaged: () => now.isDamaged(),
    figures: () => now.figures(),
    close: () => now.close(),
  };
}

function standbyJournal(tables: TableStore): Journal {
  const commands = tables.table("commands", recordCodec, "confirm");
  const { writeHold } = storedClaims(tables);
  const nothing = () => Promise.resolve();
  return {
    find(id) {
      try {
        const stored = commands.get(id);
        return stored && unpackRecord(id, stored);
      } catch (error) {
        if (error instanceof RecordDamaged) return "damaged";
        throw error;
      }
    },
    isOnDisk: () => true,
    unfinished: () => [],
    made: () => [],
    ended: () => [],
    write: () => Promise.reject(new StoreFailed("this member of the cluster stands by")),
    permits: () => false,
    leases: () => [],
    writeLease: nothing,
    runs: () => new Map(),
    writeRuns: nothing,
    holds: () => [],
    writeHold,
    prune: () => Promise.resolve(false),
    writeProbe: nothing,
    writeMissed: () => Promise.resolve(false),
    isDamaged: () => false,
    figures: () => ({}),
    close: nothing,
  };
}

/** Keeps the index of a journal that another member of the cluster writes. */
interface JournalFollower {
  /** A record of a table of the store has changed. It is read soon, in time slices. */
  changed(table: string, key: string): void;
  lacking: MemberJournal["lacking"];
  /**
   * Resolves with the index when it has all changes, and follows no more. Rejects if a record cannot be read:
   * then nobody knows what was sent.
   */
  caughtUp(): Promise<JournalIndex>;
}

interface Placed {
  readonly number: number;
  /** As the shares have it; null: they do not. */
  share: SharedRecord | null;
}

/** Of the place of a record, or of a record. */
interface Change {
  readonly isPlace: boolean;
  readonly key: string;
}

const nameOf = ({ isPlace, key }: Change) => `${isPlace}${key}`;

/** @param store as a standby knows it */
export function followJournal(store: TableStore): JournalFollower {
  const { commands, order } = openJournalTables(store);
  const index = createJournalIndex();
  const shareOf = createShares();
  const placed = new Map<string, Placed>();
  const unreadable = new Map<string, Change>();
  let waiting: Change[] = [];
  let reading: Promise<void> | null = null;
  let isFollowing = true;

  function leave(id: string, { number, share }: Placed): void {
    index.drop(id);
    if (share !== null) index.shares.remove(share, number);
  }

  function place(id: string, number: number): void {
    const before = placed.get(id);
    if (before?.number === number) return;
    if (before !== undefined) leave(id, before);
    placed.set(id, { number, share: null });
  }

  function readRecord(id: string): void {
    const found = placed.get(id);
    // A new one is read when its place comes.
    if (found === undefined) return;
    leave(id, found);
    found.share = null;
    if (order.get(orderKey(found.number)) !== id) {
      placed.delete(id);
      return;
    }
    const stored = commands.get(id);
    if (stored === undefined) throw lacksRecord();
    const record = index.add(found.number, id, stored);
    if (record.outcome !== null) found.share = shareOf(record);
  }

  function read({ isPlace, key }: Change): void {
    if (isPlace && !isOrderKey(key)) return;
    const id = isPlace ? order.get(key) : key;
    if (id === undefined) return;
    if (isPlace) place(id, Number(key));
    readRecord(id);
  }

  function keysOf({ isPlace, key }: Change): readonly string[] {
    const number = isPlace ? Number(key) : placed.get(key)?.number;
    const id = isPlace ? placedAt(key) : key;
    return [
      ...(id === null ? [] : [`commands/${id}`]),
      ...(number === undefined ? [] : [`order/${orderKey(number)}`]),
    ];
  }

  /** Null: the place itself cannot be read. */
  function placedAt(key: string): string | null {
    try {
      return order.get(key) ?? null;
    } catch {
      return null;
    }
  }

  async function readWaiting(): Promise<void> {
    // The changes of one transaction come in one turn.
    await null;
    const slices = createTimeSlices();
    while (waiting.length > 0) {
      const changes = waiting;
      waiting = [];
      for (const change of changes) {
        try {
          read(change);
          if (unreadable.size > 0) unreadable.delete(nameOf(change));
        } catch {
          unreadable.set(nameOf(change), change);
        }
        const slice = slices.next();
        if (slice !== undefined) await slice;
      }
    }
    reading = null;
  }

  return {
    changed(table, key) {
      if (!isFollowing || (table !== "order" && table !== "commands")) return;
      waiting.push({ isPlace: table === "order", key });
      reading ??= readWaiting();
    },
    lacking() {
      for (const [name, change] of unreadable) {
        try {
          read(change);
          unreadable.delete(name);
        } catch {
          return keysOf(change);
        }
      }
      return [];
    },
    async caughtUp() {
      while (reading !== null) await reading;
      for (const change of unreadable.values()) read(change);
      isFollowing = false;
      placed.clear();
      return index;
    },
  };
}

/** One object for all records of a source: a journal has a hundred thousand. */
function createShares(): (record: SharedRecord) => SharedRecord {
  const shares = new Map<string, SharedRecord>();
  return ({ sentAtMs, command: { source } }) => {
    const key = `${sentAtMs === null}${sourceKey(source)}`;
    const share = shares.get(key) ?? { sentAtMs: sentAtMs === null ? null : 0, command: { source } };
    shares.set(key, share);
    return share;
  };
}
