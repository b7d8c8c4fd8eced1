import type { FleetEvent } from "../../domain/event.ts";
import type { Cancel, Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import type { Entry } from "./entry.ts";
import { eventKey, type StoredEvent } from "./records.ts";

export interface WriterParts {
  readonly store: Store;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** The records that change when an event is on the disk, or goes on from memory. */
  readonly besides: (event: FleetEvent, queuedAtMs: number) => readonly StoreChange[];
  /** These may be handed over: the disk has them, or does not take them. In the order of `put`. */
  readonly onSettled: (entries: readonly Entry[]) => void;
}

/**
 * Few enough for the first of them to be on the disk soon. So many that 20,000 a second do not pile up on a
 * disk that takes 100 ms for each step.
 */
const MOST_AT_ONCE = 2_000;
/** What has arrived leaves the disk a little later, with all that has by then: its record changes once. */
const TIDY_MS = 100;
/** Events do not wait longer for a disk that does not answer. */
const SLOW_MS = 1_000;
const RETRY_MS = 1_000;
const SLOW = "the disk does not answer";

/** Writes events and their ends, in the order in which they came, in few large steps. */
export class Writer {
  readonly #parts: WriterParts;
  #puts: Entry[] = [];
  /** What is not urgent: without it, a crash repeats events, and says of each what it said before. */
  #changes = new Map<string, StoreChange>();
  /** The numbers of events that are not needed any more, to be removed with the changes. */
  #gone: number[] = [];
  #isTidyDue = false;
  /** Handed on, although the disk does not have them. */
  readonly #unstored = new Set<Entry>();
  #writing: Promise<void> | null = null;
  #underWay: readonly Entry[] = [];
  #problem: string | null = null;
  #wake: Cancel | null = null;
  #isClosing = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Writes an event as soon as the disk takes it. */
  put(entry: Entry): void {
    if (this.#problem === null || this.#isClosing) {
      this.#puts.push(entry);
      this.#begin();
      return;
    }
    this.#goOnFromMemory(entry);
    this.#settle([entry]);
  }

  /** Its event is not needed any more. */
  remove(entry: Entry): void {
    this.#unstored.delete(entry);
    // Never written, and not about to be.
    if (entry.place === "queued") return;
    this.#gone.push(entry.number);
    this.#wakeIn(TIDY_MS);
  }

  note(change: StoreChange): void {
    this.#changes.set(change.key, change);
    this.#wakeIn(TIDY_MS);
  }

  /** Writes soon what was noted. */
  tidy(): void {
    this.#isTidyDue = true;
    this.#begin();
  }

  /** The disk has every event that was put. */
  isIdle(): boolean {
    return this.#puts.length === 0 && this.#writing === null && this.#unstored.size === 0;
  }

  /** Why events wait in memory only; null while the disk takes them. */
  problem(): string | null {
    if (this.#problem === null) return null;
    return `events wait for the broker in memory only, for they cannot be written (${this.#problem})`;
  }

  figures(): Readonly<Record<string, number>> {
    const { records, syncs, failures } = this.#parts.store.figures();
    return {
      unstored: this.#unstored.size,
      storeRecords: records,
      storeSyncs: syncs,
      storeFailures: failures,
    };
  }

  /** Writes what is left, and `last` behind it. */
  async close(last: StoreChange): Promise<void> {
    this.#isClosing = true;
    await this.#writing;
    this.#changes.set(last.key, last);
    this.tidy();
    await this.#writing;
    this.#wake?.();
  }

  #wakeIn(delayMs: number): void {
    this.#wake ??= this.#parts.clock.after(delayMs, () => {
      this.#wake = null;
      this.tidy();
    });
  }

  #begin(): void {
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    // The turn goes on first: its other events belong to the same step.
    await null;
    while (this.#puts.length > 0 || this.#unstored.size > 0 || this.#isTidyDue) {
      if (!(await this.#writeSome())) break;
    }
    this.#writing = null;
  }

  /** @returns whether the disk took it */
  async #writeSome(): Promise<boolean> {
    const { store, clock } = this.#parts;
    // First, so that nothing older is written behind what is newer.
    const isRetry = this.#unstored.size > 0;
    const taken = isRetry ? firstOf(this.#unstored) : this.#puts.splice(0, MOST_AT_ONCE);
    const entries = taken.filter((entry) => !entry.hasLeft);
    const { others, gone } = this.#takeNoted();
    const step = this.#stepOf(entries, others, gone);
    this.#underWay = isRetry ? [] : entries;
    const cancelSlow = clock.after(SLOW_MS, () => this.#onSlow());
    try {
      await store.write(step);
      for (const entry of entries) this.#stored(entry);
      this.#recovered();
      return true;
    } catch (error) {
      // What was noted meanwhile is newer.
      this.#changes = new Map([...others, ...this.#changes]);
      this.#gone = gone.concat(this.#gone);
      for (const entry of entries) this.#goOnFromMemory(entry);
      this.#failed(causeText(error), error);
      return false;
    } finally {
      cancelSlow();
      this.#settle(this.#underWay);
      this.#underWay = [];
      if (this.#problem !== null) this.#settleQueued();
    }
  }

  /** What is not urgent; nothing before it is due. */
  #takeNoted(): { readonly others: Map<string, StoreChange>; readonly gone: number[] } {
    if (!this.#isTidyDue) return { others: new Map(), gone: [] };
    const noted = { others: this.#changes, gone: this.#gone };
    this.#changes = new Map();
    this.#gone = [];
    this.#isTidyDue = false;
    return noted;
  }

  #stepOf(
    entries: readonly Entry[],
    others: ReadonlyMap<string, StoreChange>,
    gone: readonly number[],
  ): StoreChange[] {
    const { sessionId } = this.#parts;
    const step = [...others.values()];
    for (const number of gone) step.push({ key: eventKey(number), value: undefined });
    for (const entry of entries) {
      if (entry.event === null) continue;
      if (entry.place === "queued") entry.place = "writing";
      const value: StoredEvent = [entry.queuedAtMs, sessionId, entry.event];
      step.push({ key: eventKey(entry.number), value });
    }
    return step;
  }

  #stored(entry: Entry): void {
    // What changes with an event that failed was noted then.
    if (entry.place !== "memory" && entry.event !== null) this.#noteBesides(entry.event, entry.queuedAtMs);
    entry.place = "stored";
    this.#unstored.delete(entry);
    if (entry.isHistory) entry.event = null;
  }

  /** What changes with it is written when the disk is back, also if it has left by then. */
  #goOnFromMemory(entry: Entry): void {
    if (entry.place === "memory" || entry.event === null) return;
    entry.place = "memory";
    this.#noteBesides(entry.event, entry.queuedAtMs);
    if (!entry.hasLeft) this.#unstored.add(entry);
  }

  #noteBesides(event: FleetEvent, queuedAtMs: number): void {
    for (const change of this.#parts.besides(event, queuedAtMs)) this.note(change);
  }

  #settle(entries: readonly Entry[]): void {
    const waiting = entries.filter((entry) => !entry.hasLeft);
    if (waiting.length > 0) this.#parts.onSettled(waiting);
  }

  #settleQueued(): void {
    const queued = this.#puts;
    this.#puts = [];
    for (const entry of queued) this.#goOnFromMemory(entry);
    this.#settle(queued);
  }

  #onSlow(): void {
    this.#settle(this.#underWay);
    this.#underWay = [];
    this.#failed(SLOW, null);
    this.#settleQueued();
  }

  #failed(problem: string, error: unknown): void {
    const isNew = this.#problem === null;
    this.#problem = problem;
    if (isNew) this.#parts.log.error({ err: error }, `${this.problem()}: a crash would lose them`);
    if (!this.#isClosing) this.#wakeIn(RETRY_MS);
  }

  #recovered(): void {
    if (this.#problem === null) return;
    this.#problem = null;
    this.#parts.log.info({ unstored: this.#unstored.size }, "the disk takes events again");
  }
}

function firstOf(entries: ReadonlySet<Entry>): Entry[] {
  const taken: Entry[] = [];
  for (const entry of entries) {
    if (taken.length === MOST_AT_ONCE) break;
    taken.push(entry);
  }
  return taken;
}

function causeText(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return error.cause instanceof Error ? error.cause.message : error.message;
}
