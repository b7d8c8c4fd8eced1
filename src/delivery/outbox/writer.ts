import type { FleetEvent } from "../../domain/event.ts";
import type { Cancel, Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { startLoopTimer } from "../../platform/loop-time.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { type EventLog, type Handover, type LogLine, Noted, stepsOf } from "./event-log.ts";
import type { Entry } from "./lines.ts";
import { eventKey, type StoredEvent } from "./records.ts";

interface WriterParts {
  readonly store: Store;
  readonly eventLog: EventLog;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly time: RunningTime;
  readonly log: Log;
  /** Notes the records that change with a settled event. */
  readonly noteBeside: (entry: Entry) => void;
  /** These may be handed over: after a crash no event says the same again. In the order of `put`. */
  readonly onSettled: (entries: readonly Entry[]) => void;
}

/**
 * Few enough that the first of them is on the disk soon, and so many that 20,000 a second do not pile up on a
 * disk that takes 100 ms for each step.
 */
const MOST_AT_ONCE = 2_000;
/** With the time that a disk needs, a waiting event is in the store within 100 ms. */
const STORE_AFTER_MS = 75;
/** Arrivals are logged a little later, in one batch. */
const NOTE_MS = 100;
/** A power cut loses lines of this time at most. */
const SYNC_MS = 10_000;
/** The store takes over the log this often, or when one of the two has grown by so much. */
const TIDY_MS = 600_000;
const MOST_LOG_BYTES = 4_000_000;
const MOST_GONE = 20_000;
/** Events wait no longer for a disk that does not answer. */
const SLOW_MS = 1_000;
const RETRY_MS = 1_000;
const SLOW = "the disk does not answer";

/**
 * Logs events before they are handed over, and stores those that still wait after a moment. Both in the order
 * of their arrival, in few large steps.
 */
export class Writer {
  readonly #parts: WriterParts;
  #puts: Entry[] = [];
  /** Settled, and not in the store: some have left by the time of the next step. */
  #unkept: Entry[] = [];
  readonly #noted = new Noted();
  #isNoteDue = false;
  #isTidyDue = false;
  /** Handed on although the disk does not have them. */
  readonly #unstored = new Set<Entry>();
  #logging: Promise<void> | null = null;
  #storing: Promise<void> | null = null;
  #underWay: readonly Entry[] = [];
  #problem: string | null = null;
  /** The log has failed: its lines are in memory until the store has them. */
  #isLogBroken = false;
  readonly #timers = new Map<() => void, Cancel>();
  #isClosing = false;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Takes an event. It is settled as soon as the disk has it. */
  put(entry: Entry): void {
    if (this.#problem === null || this.#isClosing) {
      this.#puts.push(entry);
      this.#logging ??= this.#drainLog();
      return;
    }
    this.#goOnFromMemory(entry);
    this.#settle([entry]);
  }

  /** An event of an earlier run, which is handed over from the store. */
  restore(entry: Entry): void {
    this.#unkept.push(entry);
    this.#keepIn(0);
  }

  /** Its event is no longer needed: it has arrived, or a bound has dropped it. */
  leave(entry: Entry): void {
    this.#unstored.delete(entry);
    this.leaveStore(entry.number, entry.place !== "queued");
  }

  /** An event that has left is no longer needed. */
  leaveStore(number: number, isStored: boolean): void {
    this.#noted.addGone(number, isStored);
    this.#after(NOTE_MS, this.#logNoted);
    if (isStored) this.#tidySoon();
    if (this.#noted.gone >= MOST_GONE && this.#problem === null) this.tidy();
  }

  /** A record of the store that does not follow from an event. */
  note(change: StoreChange): void {
    this.#noted.add(change);
    this.#after(NOTE_MS, this.#logNoted);
    this.#tidySoon();
  }

  /** A record of the store that changes with an event. */
  noteBeside(change: StoreChange): void {
    this.#noted.addBeside(change);
    this.#tidySoon();
  }

  /** The store now takes over the notes. */
  tidy(): void {
    this.#isTidyDue = true;
    this.#store();
  }

  /** Whether no event of a command waits for a disk. */
  hasAllCommands(): boolean {
    if (this.#logging !== null || this.#storing !== null || this.#unstored.size > 0) return false;
    return !this.#unkept.some(({ isOfCommand, hasLeft }) => isOfCommand && !hasLeft);
  }

  /** Why events are in memory only; null: the disk takes them. */
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

  /** Stores the rest, and `last` after it. */
  async close(last: StoreChange): Promise<void> {
    this.#isClosing = true;
    await this.#logging;
    await this.#storing;
    this.#noted.add(last);
    this.tidy();
    await this.#storing;
    for (const cancel of this.#timers.values()) cancel();
    await this.#parts.eventLog.close().catch(() => {});
  }

  /** One timer for each task. */
  #after(delayMs: number, task: () => void): void {
    if (this.#timers.has(task)) return;
    this.#timers.set(
      task,
      this.#parts.clock.after(delayMs, () => {
        this.#timers.delete(task);
        task();
      }),
    );
  }

  readonly #logNoted = () => {
    this.#isNoteDue = true;
    this.#logging ??= this.#drainLog();
  };

  readonly #tidyNow = () => this.tidy();

  #tidySoon(): void {
    this.#after(TIDY_MS, this.#tidyNow);
  }

  readonly #keepOld = () => {
    this.#unkept = this.#unkept.filter((entry) => !entry.hasLeft);
    const [oldest] = this.#unkept;
    if (oldest === undefined) return;
    const leftMs = oldest.queuedAtMs + STORE_AFTER_MS - this.#parts.time.totalMs();
    // All of them: one step costs the disk as much as many events do.
    if (leftMs <= 0) this.#store();
    else this.#keepIn(leftMs);
  };

  #keepIn(delayMs: number): void {
    this.#after(delayMs, this.#keepOld);
  }

  async #drainLog(): Promise<void> {
    // The present turn ends first: its other events belong to the same step.
    await null;
    while (this.#puts.length > 0 || this.#isNoteDue) await this.#logSome();
    this.#logging = null;
  }

  async #logSome(): Promise<void> {
    this.#underWay = this.#puts.splice(0, MOST_AT_ONCE);
    this.#isNoteDue = false;
    const lines = this.#noted.takeLines();
    for (const entry of this.#underWay) if (!entry.hasLeft) lines.push(this.#lineOf(entry));
    if (lines.length > 0 && !this.#isLogBroken) await this.#append(lines);
    this.#settle(this.#underWay);
    this.#underWay = [];
  }

  /** Never rejects. */
  async #append(lines: readonly LogLine[]): Promise<void> {
    const { eventLog, clock } = this.#parts;
    const timer = startLoopTimer(clock, SLOW_MS, () => this.#failed(null));
    try {
      await eventLog.append(lines);
      this.#after(SYNC_MS, this.#syncLog);
      if (eventLog.bytes >= MOST_LOG_BYTES) this.tidy();
    } catch (error) {
      this.#isLogBroken = true;
      this.#failed(error);
    } finally {
      timer.stop();
    }
  }

  readonly #syncLog = () => {
    const { eventLog } = this.#parts;
    if (eventLog.isGone()) this.tidy();
    else eventLog.sync().catch((error: unknown) => this.#failed(error));
  };

  #lineOf({ number, event, queuedAtMs }: Entry): LogLine {
    return ["event", number, [queuedAtMs, this.#parts.sessionId, event as FleetEvent]];
  }

  #store(): void {
    this.#storing ??= this.#drainStore();
  }

  async #drainStore(): Promise<void> {
    await null;
    do {
      if (!(await this.#storeSome())) break;
    } while (this.#unstored.size > 0 || this.#isTidyDue);
    this.#storing = null;
    if (this.#unkept.length > 0) this.#keepIn(STORE_AFTER_MS);
  }

  /** @returns whether the disk took it */
  async #storeSome(): Promise<boolean> {
    // First, so that nothing older is written after something newer.
    const isRetry = this.#unstored.size > 0;
    const entries = (isRetry ? firstOf(this.#unstored) : this.#takeUnkept()).filter(
      ({ hasLeft }) => !hasLeft,
    );
    const steps = this.#stepsOf(entries);
    const handover = this.#isTidyDue && !isRetry ? this.#takeLogged() : null;
    try {
      if (steps.length > 0) await this.#writeAll(steps);
      for (const entry of entries) this.#stored(entry);
      if (handover !== null) await this.#writeLogged(handover);
      if (steps.length > 0 || handover !== null) this.#recovered();
      return true;
    } catch (error) {
      if (handover !== null) this.#noted.putBack(handover);
      for (const entry of [...entries, ...this.#takeUnkept()]) this.#goOnFromMemory(entry);
      this.#failed(error);
      return false;
    }
  }

  /** Including those that are being logged: the file of their lines may end meanwhile. */
  #takeUnkept(): readonly Entry[] {
    const taken = this.#isTidyDue ? [...this.#unkept, ...this.#underWay] : this.#unkept;
    this.#unkept = [];
    return taken;
  }

  #stepsOf(entries: readonly Entry[]): StoreChange[] {
    const steps: StoreChange[] = [];
    for (const entry of entries) {
      if (entry.event === null) continue;
      if (entry.place === "queued") entry.place = "writing";
      const { sessionId = this.#parts.sessionId } = entry.event;
      const value: StoredEvent = [entry.queuedAtMs, sessionId, entry.event];
      steps.push({ key: eventKey(entry.number), value });
    }
    return steps;
  }

  async #writeAll(steps: readonly StoreChange[]): Promise<void> {
    const { store, clock } = this.#parts;
    for (let from = 0; from < steps.length; from += MOST_AT_ONCE) {
      const timer = startLoopTimer(clock, SLOW_MS, () => this.#failed(null));
      try {
        await store.write(steps.slice(from, from + MOST_AT_ONCE));
      } finally {
        timer.stop();
      }
    }
  }

  /** Takes the notes for the store, and continues the log in another file. */
  #takeLogged(): Handover {
    this.#isTidyDue = false;
    this.#timers.get(this.#tidyNow)?.();
    this.#timers.delete(this.#tidyNow);
    return this.#noted.take(this.#parts.eventLog.turn());
  }

  async #writeLogged(handover: Handover): Promise<void> {
    await this.#writeAll(stepsOf(handover));
    this.#isLogBroken = false;
    // A file that remains is not read: the store has its number.
    await this.#parts.eventLog.remove(handover.upTo).catch(() => {});
  }

  #stored(entry: Entry): void {
    entry.place = "stored";
    this.#unstored.delete(entry);
    if (entry.isHistory) entry.event = null;
  }

  #goOnFromMemory(entry: Entry): void {
    if (entry.place === "stored" || entry.hasLeft) return;
    entry.place = "memory";
    this.#unstored.add(entry);
  }

  #settle(entries: readonly Entry[]): void {
    const waiting = entries.filter((entry) => !entry.hasLeft);
    if (waiting.length === 0) return;
    for (const entry of waiting) {
      this.#parts.noteBeside(entry);
      if (entry.place === "queued") this.#unkept.push(entry);
    }
    if (this.#unkept.length > 0) this.#keepIn(STORE_AFTER_MS);
    this.#parts.onSettled(waiting);
  }

  /** Those that are being logged came first: no later event of their robot may pass them. */
  #settleQueued(): void {
    const queued = [...this.#underWay, ...this.#puts];
    this.#underWay = [];
    this.#puts = [];
    for (const entry of queued) this.#goOnFromMemory(entry);
    this.#settle(queued);
  }

  /** @param error null: the disk does not answer */
  #failed(error: unknown): void {
    const isNew = this.#problem === null;
    this.#problem = error === null ? SLOW : causeText(error);
    if (isNew)
      this.#parts.log.error(
        error === null ? {} : { err: error },
        `${this.problem()}: a crash would lose them`,
      );
    if (!this.#isClosing) this.#after(RETRY_MS, this.#retry);
    this.#settleQueued();
  }

  /** The log begins anew with it. */
  readonly #retry = () => this.tidy();

  #recovered(): void {
    if (this.#problem === null || this.#isLogBroken) return;
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
