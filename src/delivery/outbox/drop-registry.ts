import type { Source } from "../../domain/command.ts";
import type { DropReason, FleetEvent } from "../../domain/event.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import type { Entry } from "./lines.ts";
import { DROPS, dropKey, type StoredDrop } from "./records.ts";

/**
 * Counts what bounds have dropped, until that is published: one event for each robot or source and reason.
 */
export interface DropRegistry {
  /** The changed record, to be written in one step with the end of the entry. */
  note(entry: Entry, reason: DropReason): StoreChange;
  has(key: string): boolean;
  /** At most so many counts, which are closed by this: later drops are reported by another event. */
  take(most: number): readonly StoredDrop[];
  /** The event has arrived. */
  release(drop: StoredDrop): StoreChange;
  readonly length: number;
}

interface DropRegistryParts {
  readonly store: Store;
  readonly sessionId: string;
  readonly nowMs: () => number;
}

/** More than robots and sources. Beyond it, one event reports all others. */
const MOST_DROPS = 20_000;

/**
 * Reads the counts of earlier runs.
 *
 * @throws RecordDamaged
 */
export function openDropRegistry({ store, sessionId, nowMs }: DropRegistryParts): DropRegistry {
  const drops = new Map<string, StoredDrop>();
  /** The counts that still grow, by robot or source and reason. */
  const growing = new Map<string, string>();
  const keys = new Map<string, number>();
  let count = 0;
  for (const { value } of store.range(DROPS)) set(value as StoredDrop);

  function set(drop: StoredDrop): void {
    if (!drops.has(drop.eventId)) keys.set(drop.cause, (keys.get(drop.cause) ?? 0) + 1);
    drops.set(drop.eventId, drop);
  }

  function begin(entry: Entry, reason: DropReason): StoredDrop {
    count += 1;
    const isOther = drops.size >= MOST_DROPS;
    return {
      eventId: `${sessionId}.d${count}`,
      cause: isOther ? "" : entry.key,
      isOfCommands: isOther ? false : entry.isOfCommand,
      reason,
      count: 0,
      fromMs: entry.atMs,
      toMs: entry.atMs,
      atMs: nowMs(),
      sessionId,
    };
  }

  function growingOf(entry: Entry, reason: DropReason): StoredDrop {
    const own = ofEntry(entry, reason);
    const id = growing.get(own) ?? (isFull() ? growing.get(ofOthers(reason)) : undefined);
    const known = id === undefined ? undefined : drops.get(id);
    if (known !== undefined) return known;
    const drop = begin(entry, reason);
    growing.set(isFull() ? ofOthers(reason) : own, drop.eventId);
    return drop;
  }

  const isFull = () => drops.size >= MOST_DROPS;

  return {
    note(entry, reason) {
      const before = growingOf(entry, reason);
      const drop: StoredDrop = {
        ...before,
        count: before.count + 1,
        fromMs: Math.min(before.fromMs, entry.atMs),
        toMs: Math.max(before.toMs, entry.atMs),
        atMs: nowMs(),
      };
      set(drop);
      return { key: dropKey(drop.eventId), value: drop };
    },
    has: (key) => keys.has(key),
    take(most) {
      if (drops.size === 0 || most === 0) return [];
      growing.clear();
      return Array.from(drops.values()).slice(0, most);
    },
    release(drop) {
      // Only once: a late answer of one connection may follow that of the next.
      if (drops.delete(drop.eventId)) {
        const left = (keys.get(drop.cause) ?? 1) - 1;
        if (left === 0) keys.delete(drop.cause);
        else keys.set(drop.cause, left);
      }
      return { key: dropKey(drop.eventId), value: undefined };
    },
    get length() {
      return drops.size;
    },
  };
}

function ofEntry({ isOfCommand, key }: Entry, reason: DropReason): string {
  return `${isOfCommand}/${reason}/${key}`;
}

function ofOthers(reason: DropReason): string {
  return `others/${reason}`;
}

/** The event that reports the drop. */
export function dropEvent(drop: StoredDrop): FleetEvent {
  const { eventId, cause, isOfCommands, reason, count, fromMs, toMs, atMs, sessionId } = drop;
  return {
    kind: "dropped",
    eventId,
    robotId: isOfCommands ? "" : cause,
    atMs,
    source: isOfCommands ? sourceOf(cause) : null,
    count,
    fromMs,
    toMs,
    reason,
    historical: true,
    sessionId,
  };
}

/** The source in a text that the queue's `causeOf` has made. */
function sourceOf(cause: string): Source {
  const end = cause.indexOf(":");
  return { protocol: cause.slice(0, end) as Source["protocol"], name: cause.slice(end + 1) };
}
