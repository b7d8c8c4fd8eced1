import { type Store, type StoreChange, StoreFailed } from "../../platform/store.ts";
import type { StoreFormat } from "../../platform/stores/store-marks.ts";
import {
  type EndedCommand,
  type Journal,
  type JournalLimits,
  type JournalRecord,
  type MadeMission,
  madeBy,
  type StoredHold,
  type StoredLease,
} from "./journal.ts";
import { createJournalShares, type JournalShares } from "./journal-shares.ts";

/** A new version needs the step from the old one in platform/stores/kept-store.ts. */
export const journalFormat: StoreFormat = { store: "journal", version: 1 };

/** How many entries one pruning looks at: it must not hold up the commands. */
const PRUNE_STEP = 200;
const SEQUENCE_DIGITS = 15;
/** Outcomes that the disk did not take: a sender that asks again in this run is told what it was told. */
const MAX_UNKEPT = 10_000;
/** Missions of earlier runs that are told of: more than a fleet can still be at. */
const MAX_MADE = 20_000;
/** Ends of earlier runs that are told of: more than a crash can keep from the audit log. */
const MAX_ENDED = 10_000;

/**
 * The journal on a store of its own. An entry lies under `c/<identity>`; `o/<number>`
 * holds the order in which commands came, so that the oldest are found without
 * reading all. Both are written as one. A robot's lease lies under `l/<robot>`, a user's hold
 * under `h/<robot and user>`.
 *
 * Throws when the store holds what cannot be read: then nobody can say what was sent.
 *
 * @param loss why earlier records are lost, until an operator has confirmed it: meanwhile only stops are recorded,
 *   so nothing else is sent
 */
export function openDurableJournal(store: Store, limits: JournalLimits, loss: string | null = null): Journal {
  const shares = createJournalShares();
  const order = readOrder(store, shares);
  const unkept = new Map<string, JournalRecord>();
  const pending = new Map<string, JournalRecord>();
  /** Places in the order that no write has brought to the disk yet. */
  const unplaced = new Map<string, number>();
  /** Places on the disk of unfinished entries: to read one only for that costs more than its sync. */
  const placed = order.placed;
  let nextNumber = order.nextNumber;

  function placeOf(id: string): number | undefined {
    if (placed.has(id)) return undefined;
    const place = unplaced.get(id);
    if (place !== undefined || store.get(entryKey(id)) !== undefined) return place;
    unplaced.set(id, nextNumber);
    nextNumber += 1;
    return nextNumber - 1;
  }

  function at(place: number): JournalRecord | undefined {
    const id = store.get(orderKey(place));
    return typeof id === "string" ? asEntry(store.get(entryKey(id))) : undefined;
  }

  function keepInMemory(entry: JournalRecord): void {
    unkept.set(entry.id, entry);
    const [oldest] = unkept.size > MAX_UNKEPT ? unkept.keys() : [];
    if (oldest !== undefined) unkept.delete(oldest);
  }

  /** Finished entries that are older than they are kept, oldest first. */
  function expired(nowMs: number): readonly number[] {
    const places: number[] = [];
    for (const { key } of store.range({ from: "o/", to: "o0", limit: PRUNE_STEP })) {
      const place = Number(key.slice(2));
      const entry = at(place);
      if (entry?.outcome === null) continue;
      if (entry !== undefined && nowMs - entry.acceptedAtMs <= limits.keepMs) break;
      places.push(place);
    }
    return places;
  }

  return {
    find: (id) => pending.get(id) ?? unkept.get(id) ?? asEntry(store.get(entryKey(id))),
    unfinished: () => order.unfinished,
    made: () => order.made,
    ended: () => order.ended,
    async write(entry) {
      const changes: StoreChange[] = [{ key: entryKey(entry.id), value: entry }];
      const place = placeOf(entry.id);
      if (place !== undefined) changes.push({ key: orderKey(place), value: entry.id });
      // Seen at once by `find`; lmdb itself shows a record only when it is committed.
      pending.set(entry.id, entry);
      try {
        if (loss !== null && entry.command.effect !== "stops") throw new StoreFailed(loss);
        await store.write(changes);
        unkept.delete(entry.id);
        const known = placed.get(entry.id) ?? unplaced.get(entry.id);
        unplaced.delete(entry.id);
        if (entry.outcome !== null) placed.delete(entry.id);
        else if (known !== undefined) placed.set(entry.id, known);
        if (entry.outcome !== null && known !== undefined) shares.add(entry, known);
      } catch (error) {
        if (entry.outcome !== null) keepInMemory(entry);
        throw error;
      } finally {
        if (pending.get(entry.id) === entry) pending.delete(entry.id);
        if (!pending.has(entry.id)) unplaced.delete(entry.id);
      }
    },
    leases: () => Array.from(store.range({ from: "l/", to: "l0" }), ({ value }) => asLease(value)),
    writeLease: (robotId, lease) => store.write([{ key: `l/${robotId}`, value: lease ?? undefined }]),
    holds: () =>
      Array.from(store.range({ from: "h/", to: "h0" }), ({ value }) => asHold(value)).sort(
        (a, b) => a.sinceMs - b.sinceMs,
      ),
    writeHold: (hold, isHeld) => store.write([{ key: holdKey(hold), value: isHeld ? hold : undefined }]),
    async prune(nowMs) {
      const excess = Math.min(PRUNE_STEP, shares.size() + placed.size - limits.keepCount);
      const places = new Set([...expired(nowMs), ...(excess > 0 ? shares.next(excess) : [])]);
      const dropped: Array<readonly [JournalRecord, number]> = [];
      const changes: StoreChange[] = [];
      for (const place of places) {
        const entry = at(place);
        if (entry?.outcome === null) continue;
        changes.push({ key: orderKey(place), value: undefined });
        if (entry === undefined) continue;
        changes.push({ key: entryKey(entry.id), value: undefined });
        dropped.push([entry, place]);
      }
      if (changes.length === 0) return false;
      await store.write(changes);
      for (const [entry, place] of dropped) shares.remove(entry, place);
      return true;
    },
    figures() {
      const { records, syncs, failures } = store.figures();
      return {
        journalEntries: shares.size() + placed.size,
        journalRecords: records,
        journalSyncs: syncs,
        journalFailures: failures,
      };
    },
    close: () => store.close(),
  };
}

function readOrder(store: Store, shares: JournalShares) {
  const unfinished: JournalRecord[] = [];
  const placed = new Map<string, number>();
  let made: MadeMission[] = [];
  let ended: EndedCommand[] = [];
  let nextNumber = 1;
  for (const { key, value } of store.range({ from: "o/", to: "o0" })) {
    nextNumber = Number(key.slice(2)) + 1;
    const entry = typeof value === "string" ? asEntry(store.get(entryKey(value))) : undefined;
    if (entry === undefined) continue;
    if (entry.outcome === null) {
      unfinished.push(entry);
      placed.set(entry.id, nextNumber - 1);
    } else shares.add(entry, nextNumber - 1);
    made.push(...madeBy(entry));
    if (made.length >= 2 * MAX_MADE) made = made.slice(-MAX_MADE);
    if (entry.finalAtMs !== null) ended.push({ id: entry.id, finalAtMs: entry.finalAtMs });
    if (ended.length >= 2 * MAX_ENDED) ended = newest(ended);
  }
  return { unfinished, placed, made: made.slice(-MAX_MADE), ended: newest(ended), nextNumber };
}

/** By their ends: what came first may have ended last. */
function newest(ended: readonly EndedCommand[]): EndedCommand[] {
  return [...ended].sort((a, b) => a.finalAtMs - b.finalAtMs).slice(-MAX_ENDED);
}

function entryKey(id: string): string {
  return `c/${id}`;
}

function orderKey(number: number): string {
  return `o/${String(number).padStart(SEQUENCE_DIGITS, "0")}`;
}

function holdKey({ robotId, owner }: StoredHold): string {
  return `h/${JSON.stringify([robotId, owner.door, owner.name])}`;
}

function asHold(value: unknown): StoredHold {
  if (typeof value !== "object" || value === null || !("owner" in value) || !("sinceMs" in value)) {
    throw new Error("the journal has a record under h/ that is not a hold");
  }
  return value as StoredHold;
}

function asLease(value: unknown): StoredLease {
  if (typeof value !== "object" || value === null || !("station" in value) || !("rolling" in value)) {
    throw new Error("the journal holds something that is not a lease");
  }
  return value as StoredLease;
}

/** Only this file writes the store, so a look at its outline is enough to catch a foreign one. */
function asEntry(value: unknown): JournalRecord | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "object" || value === null || !("digest" in value) || !("command" in value)) {
    throw new Error("the journal holds something that is not a command");
  }
  return value as JournalRecord;
}
