import type { PublishedBefore } from "../../contracts/fleet-view.ts";
import type { FleetEvent } from "../../domain/event.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import type { RunningTime } from "../../platform/running-time.ts";
import type { Store } from "../../platform/store.ts";
import { type EventQueue, type QueuedEvent, type ShowEvent, withoutAnswer } from "../event-queue.ts";
import { type DropRegistry, dropEvent, openDropRegistry } from "./drop-registry.ts";
import { type EventLog, type LeftInLog, leftOf, storeWith } from "./event-log.ts";
import { createHandOver, type HandOver } from "./hand-over.ts";
import { createLines, type Entry, entryOf, type Lines } from "./lines.ts";
import type { OutboxOptions } from "./options.ts";
import { openPublishedStore, type PublishedStore } from "./published-store.ts";
import { AWAITED_KEY, LOGGED_KEY, openRunRecord, type RunRecord, type StoredDrop } from "./records.ts";
import { openStoredEvents, type StoredEvents } from "./stored-events.ts";
import { Writer } from "./writer.ts";

/**
 * Events on their way to one northbound, logged before they are handed over, and stored if they still wait
 * after a moment (docs/internals/decisions.md, Events are logged, and stored when they wait). It is a
 * component of its own, which closes after all that can cause events.
 */
export interface Outbox extends EventQueue, Component {
  /** `wake` is called when something may be handed over. */
  onReady(wake: () => void): void;
  readonly published: PublishedBefore;
  /**
   * Another member of a cluster has published all events of robots that came before this moment, on the
   * monotonic clock. It does not know those of commands of this one.
   */
  leaveBefore(monotonicMs: number): void;
  /**
   * Since when (in running time) a crash of the last run may have lost events of commands; null: it has lost
   * none.
   */
  readonly commandsLostSinceMs: number | null;
}

export interface OutboxParts {
  /** Of the component; absent: `outbox`. */
  readonly name?: string;
  readonly options: OutboxOptions;
  readonly store: Store;
  readonly eventLog: EventLog;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly time: RunningTime;
  readonly log: Log;
}

/** One event for handing over: a waiting one, or one that reports dropped ones. */
interface Handed extends QueuedEvent {
  readonly entry: Entry | null;
  readonly drop: StoredDrop | null;
}

const AGE_LOOK_MS = 1_000;

/**
 * Reads the events of earlier runs.
 *
 * @throws RecordDamaged a record is damaged
 */
export async function openOutbox(parts: OutboxParts): Promise<Outbox> {
  const { store, eventLog } = parts;
  const left = leftOf(await eventLog.read((store.get(LOGGED_KEY) as number | undefined) ?? 0));
  const outbox = new StoredOutbox(parts, left);
  await outbox.load();
  return outbox;
}

class StoredOutbox implements Outbox {
  readonly name: string;
  readonly published: PublishedStore;
  commandsLostSinceMs: number | null = null;
  readonly #parts: OutboxParts;
  readonly #left: LeftInLog;
  readonly #robots: Lines;
  readonly #commands: Lines;
  readonly #drops: DropRegistry;
  readonly #handOver: HandOver;
  readonly #writer: Writer;
  /** Dropped by a bound while they were under way: they may have arrived. */
  readonly #limbo = new Set<Entry>();
  readonly #run: RunRecord;
  readonly #stored: StoredEvents;
  #nextNumber = 1;
  #dropped = 0;
  #wake = () => {};
  #show: ShowEvent | null = null;
  /** A subscriber has taken events from this store, and may come back for more. */
  #isAwaited: boolean;

  constructor(parts: OutboxParts, left: LeftInLog) {
    const { options, eventLog, sessionId, clock, time, log } = parts;
    const store = storeWith(parts.store, left.changes);
    this.name = parts.name ?? "outbox";
    this.#parts = parts;
    this.#left = left;
    this.#robots = createLines(options.maxEvents);
    this.#commands = createLines(options.maxEvents);
    this.published = openPublishedStore(store, time);
    this.#drops = openDropRegistry({ store, sessionId, nowMs: clock.nowMs });
    const lines = [this.#robots, this.#commands] as const;
    this.#handOver = createHandOver({ lines, drops: this.#drops, replayRate: options.replayRate, clock });
    this.#writer = new Writer({
      store: parts.store,
      eventLog,
      sessionId,
      clock,
      time,
      log,
      noteBeside: ({ event, queuedAtMs }) => {
        if (event !== null) this.#noteBeside(event, queuedAtMs);
      },
      onSettled: (entries) => this.#onSettled(entries),
    });
    this.#run = openRunRecord(store, time);
    this.#stored = openStoredEvents(parts.store, sessionId, clock);
    this.#isAwaited = store.get(AWAITED_KEY) === true;
  }

  async load(): Promise<void> {
    const { events, gone, changes } = this.#left;
    for (const change of changes.values()) this.#writer.note(change);
    await this.#stored.readAll(events, (number, stored, isStored) => {
      const [queuedAtMs, seenBy, event] = stored;
      this.#parts.time.atLeast(queuedAtMs);
      this.#nextNumber = number + 1;
      this.#noteBeside(event, queuedAtMs);
      if (gone.has(number)) this.#writer.leaveStore(number, isStored);
      else this.#restore(entryOf({ ...event, sessionId: seenBy }, number, queuedAtMs), isStored);
    });
    for (const number of gone) this.#nextNumber = Math.max(this.#nextNumber, number + 1);
    this.#dropOld();
    this.commandsLostSinceMs = this.#run.lostSinceMs();
    this.#writer.note(this.#run.change(false));
    this.#writer.tidy();
  }

  #restore(entry: Entry, isStored: boolean): void {
    if (isStored) {
      entry.place = "stored";
      entry.event = null;
    } else this.#writer.restore(entry);
    this.#enter(entry);
    if (!entry.hasLeft) this.#linesOf(entry).line(entry, true);
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    this.#handOver.onAllowance(wake);
  }

  push(event: FleetEvent): string | null {
    const { kinds } = this.#parts.options;
    if (kinds !== undefined && !kinds.has(event.kind)) return null;
    const entry = entryOf(withoutAnswer(event), this.#nextNumber, this.#parts.time.totalMs());
    this.#nextNumber += 1;
    const evicted = this.#enter(entry);
    this.#writer.put(entry);
    return evicted;
  }

  peek(most: number): readonly QueuedEvent[] {
    const { drops, entries } = this.#handOver.peek(most);
    const published = drops.map((drop): Handed => ({ event: dropEvent(drop), entry: null, drop }));
    const waiting = entries.map((entry): Handed => ({ event: this.#stored.of(entry), entry, drop: null }));
    return [...published, ...waiting];
  }

  release(held: readonly QueuedEvent[]): void {
    for (const { entry, drop } of held as readonly Handed[]) {
      if (drop !== null) this.#writer.note(this.#drops.release(drop));
      // A lost connection may answer late.
      if (entry === null || entry.hasLeft) continue;
      entry.isUnderWay = false;
      if (!this.#limbo.delete(entry)) this.#linesOf(entry).leave(entry);
      this.#end(entry);
    }
  }

  get length(): number {
    return this.#robots.length + this.#commands.length + this.#drops.length;
  }

  get dropped(): number {
    return this.#dropped + this.#stored.damaged;
  }

  hasReady(): boolean {
    return this.#handOver.hasReady();
  }

  recall(): void {
    for (const entry of this.#handOver.recall()) {
      if (!entry.isUnderWay) continue;
      entry.isUnderWay = false;
      // There is no longer room for it.
      if (this.#limbo.delete(entry)) this.#drop(entry, "too_many");
    }
  }

  setOpen(isOpen: boolean, show?: ShowEvent): void {
    this.#handOver.setOpen(isOpen);
    this.#show = show ?? null;
    if (isOpen) {
      this.#await();
      return;
    }
    this.recall();
    for (const lines of [this.#robots, this.#commands]) lines.endLive();
  }

  stateIsPublished(): void {
    this.#handOver.stateIsPublished();
  }

  figures(): Readonly<Record<string, number>> {
    return {
      eventsHistorical: this.#robots.history.length + this.#commands.history.length,
      oldestEventSeconds: Math.round(this.#oldestMs() / 1_000),
    };
  }

  health(): Health {
    const figures = this.#writer.figures();
    const problem = this.#writer.problem();
    return problem === null ? { state: "up", figures } : { state: "degraded", detail: problem, figures };
  }

  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    every(this.#parts.clock, AGE_LOOK_MS, signal, () => {
      this.#dropOld();
      const quiet = this.#writer.hasAllCommands() ? this.#run.noteQuiet() : null;
      if (quiet !== null) this.#writer.note(quiet);
    });
    ready();
    await aborted(signal);
    await this.#writer.close(this.#run.change(true));
    await this.#parts.store.close();
  }

  /** How long the oldest event has waited. */
  #oldestMs(): number {
    const nowMs = this.#parts.time.totalMs();
    const heads = [this.#robots, this.#commands].flatMap(({ live, history }) => [live.first, history.first]);
    return nowMs - Math.min(...heads.map((head) => head?.value.queuedAtMs ?? nowMs));
  }

  #linesOf({ isOfCommand }: Entry): Lines {
    return isOfCommand ? this.#commands : this.#robots;
  }

  #noteBeside(event: FleetEvent, queuedAtMs: number): void {
    const changes = event.kind === "command" ? [this.#run.note(queuedAtMs)] : this.published.note(event);
    for (const change of changes) this.#writer.noteBeside(change);
  }

  #await(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#writer.note({ key: AWAITED_KEY, value: true });
  }

  /**
   * No subscriber that acknowledges is there.
   *
   * @returns whether it waits for one
   */
  #showAndKeep(entry: Entry, show: ShowEvent): boolean {
    if (entry.event !== null && !entry.hasLeft) show(entry.event);
    const lines = this.#linesOf(entry);
    if (this.#isAwaited || entry.hasLeft || lines.hasHistory(entry.key)) return true;
    lines.leave(entry);
    this.#end(entry);
    return false;
  }

  #onSettled(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (this.#show !== null && !this.#handOver.isOpen() && !this.#showAndKeep(entry, this.#show)) continue;
      const lines = this.#linesOf(entry);
      const mustWait = lines.hasHistory(entry.key) || this.#drops.has(entry.key);
      lines.line(entry, mustWait || !this.#handOver.isOpen());
      if (entry.isHistory && entry.place === "stored") entry.event = null;
    }
    this.#wake();
  }

  #enter(entry: Entry): string | null {
    const evicted = this.#linesOf(entry).enter(entry);
    if (evicted === null) return null;
    if (evicted.isUnderWay) {
      this.#limbo.add(evicted);
      return null;
    }
    const { key } = evicted;
    this.#drop(evicted, "too_many");
    return key;
  }

  #drop(entry: Entry, reason: "too_many" | "too_old"): void {
    this.#dropped += 1;
    this.#writer.note(this.#drops.note(entry, reason));
    this.#end(entry);
  }

  #end(entry: Entry): void {
    entry.hasLeft = true;
    this.#writer.leave(entry);
    entry.event = null;
  }

  leaveBefore(monotonicMs: number): void {
    const { time, clock } = this.#parts;
    const beforeMs = time.totalMs() - (clock.monotonicMs() - monotonicMs);
    for (const entry of takeOld([this.#robots], beforeMs)) this.#end(entry);
  }

  #dropOld(): void {
    const oldestMs = this.#parts.time.totalMs() - this.#parts.options.maxAgeMs;
    for (const entry of takeOld([this.#robots, this.#commands], oldestMs)) this.#drop(entry, "too_old");
  }
}

function* takeOld(all: readonly Lines[], oldestMs: number): Iterable<Entry> {
  for (const lines of all)
    for (let old = lines.takeOld(oldestMs); old !== null; old = lines.takeOld(oldestMs)) yield old;
}
