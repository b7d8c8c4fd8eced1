import type { FleetEvent } from "../../domain/event.ts";
import {
  type Chain,
  type ChainLink,
  createChain,
  createFairQueues,
  type FairQueues,
} from "../../platform/queues.ts";
import { causeOf } from "../event-queue.ts";

/**
 * The events of robots, or those of commands, that may be handed over. History is what could not be handed
 * over when it happened. Present events pass it, but never an event of the same robot or source.
 */
export interface Lines {
  /**
   * Counts an entry, which may be handed over later.
   *
   * @returns the entry that is evicted for it, or null
   */
  enter(entry: Entry): Entry | null;
  /** It may be handed over from now on. */
  line(entry: Entry, isHistory: boolean): void;
  /** Whether history of this robot or source waits. */
  hasHistory(key: string): boolean;
  /** Removes the entry: it is the oldest of its robot or source. */
  leave(entry: Entry): void;
  /** Removes an entry that was queued before this moment, and is not under way; null: there is none. */
  takeOld(oldestMs: number): Entry | null;
  /** Waiting events become history. The memory then keeps none that the disk has. */
  endLive(): void;
  readonly live: Chain<Entry>;
  readonly history: Chain<Entry>;
  readonly length: number;
}

export function createLines(limit: number): Lines {
  const queues: FairQueues<Entry> = createFairQueues(limit);
  const historyOf = new Map<string, number>();
  let live: Chain<Entry> = createChain();
  let history: Chain<Entry> = createChain();

  function line(entry: Entry, isHistory: boolean): void {
    entry.isHistory = isHistory;
    entry.link = (isHistory ? history : live).append(entry);
    if (isHistory) historyOf.set(entry.key, (historyOf.get(entry.key) ?? 0) + 1);
  }

  function unline(entry: Entry): void {
    if (entry.link === null) return;
    (entry.isHistory ? history : live).remove(entry.link);
    entry.link = null;
    if (!entry.isHistory) return;
    const left = (historyOf.get(entry.key) ?? 1) - 1;
    if (left === 0) historyOf.delete(entry.key);
    else historyOf.set(entry.key, left);
  }

  function leave(entry: Entry): void {
    unline(entry);
    queues.shift(entry.key);
  }

  return {
    enter(entry) {
      const evicted = queues.push(entry.key, entry);
      if (evicted === null) return null;
      unline(evicted.item);
      return evicted.item;
    },
    line,
    hasHistory: (key) => historyOf.has(key),
    leave,
    takeOld(oldestMs) {
      for (const { first } of [history, live]) {
        const entry = first?.value;
        if (entry === undefined || entry.queuedAtMs >= oldestMs || entry.isUnderWay) continue;
        leave(entry);
        return entry;
      }
      return null;
    },
    endLive() {
      if (live.length === 0) return;
      const all = [...entriesOf(history), ...entriesOf(live)].sort((a, b) => a.number - b.number);
      live = createChain();
      history = createChain();
      historyOf.clear();
      for (const entry of all) {
        line(entry, true);
        if (entry.place === "stored") entry.event = null;
      }
    },
    get live() {
      return live;
    },
    get history() {
      return history;
    },
    get length() {
      return queues.length;
    },
  };
}

/** The first entries of a chain, at most so many. */
export function firstOf(chain: Chain<Entry>, count: number): Entry[] {
  const taken: Entry[] = [];
  for (let link = chain.first; link !== null && taken.length < count; link = link.next)
    taken.push(link.value);
  return taken;
}

function entriesOf(chain: Chain<Entry>): Entry[] {
  return firstOf(chain, chain.length);
}

/** An event in the outbox. While it waits, the store has it, and the memory only this. */
export interface Entry {
  readonly number: number;
  readonly key: string;
  readonly isOfCommand: boolean;
  /** When the event itself says that it happened. */
  readonly atMs: number;
  /** In running time. */
  readonly queuedAtMs: number;
  /** Null while only the store has it. */
  event: FleetEvent | null;
  /** Where the event is. `memory`: the disk has not taken it. */
  place: "queued" | "writing" | "stored" | "memory";
  /** Its place among those that may be handed over; null before, and after. */
  link: ChainLink<Entry> | null;
  /** Which of them it is among. */
  isHistory: boolean;
  /** It was handed over, and nobody has said yet that it has arrived. */
  isUnderWay: boolean;
  /** A bound has dropped it, or it has arrived. */
  hasLeft: boolean;
}

export function entryOf(event: FleetEvent, number: number, queuedAtMs: number): Entry {
  return {
    number,
    key: causeOf(event),
    isOfCommand: event.kind === "command",
    atMs: event.atMs,
    queuedAtMs,
    event,
    place: "queued",
    link: null,
    isHistory: false,
    isUnderWay: false,
    hasLeft: false,
  };
}
