import type { ToldBefore } from "../../contracts/told-before.ts";
import type { FleetEvent } from "../../domain/event.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { RecordDamaged } from "../../platform/stores/record-seal.ts";
import { causeOf, type EventQueue, type QueuedEvent, withoutAnswer } from "../event-queue.ts";
import { type DropBook, dropEvent, openDropBook } from "./drop-book.ts";
import { Entries, type Entry } from "./entry.ts";
import { createHandOver, type HandOver } from "./hand-over.ts";
import { createLines, type Lines } from "./lines.ts";
import type { OutboxOptions } from "./options.ts";
import {
  EVENTS,
  eventKey,
  numberOf,
  RUN_KEY,
  type StoredDrop,
  type StoredEvent,
  type StoredRun,
} from "./records.ts";
import { openToldMemory, type ToldMemory } from "./told-memory.ts";
import { Writer } from "./writer.ts";

/**
 * Events on their way to one northbound, on the disk before they are handed over, until they have arrived
 * (decisions.md, Delivery). It is a component of its own: it closes when nothing can happen any more.
 */
export interface Outbox extends EventQueue, Component {
  /** `wake` is called when something may be handed over. */
  onReady(wake: () => void): void;
  readonly told: ToldBefore;
  /**
   * Since when, by the wall clock, a crash of the run before may have lost events of commands; null when it
   * has lost none.
   */
  readonly commandsLostSinceMs: number | null;
}

export interface OutboxParts {
  readonly options: OutboxOptions;
  readonly store: Store;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** What is handed over: an event that waits, or what tells of those that do not any more. */
interface Handed extends QueuedEvent {
  readonly entry: Entry | null;
  readonly drop: StoredDrop | null;
}

const AGE_LOOK_MS = 1_000;
/** Read in one turn of the event loop at a start. */
const READ_AT_ONCE = 2_000;
/** Commands that end at the same time are told of in any order, some of them as late as this. */
const COMMANDS_APART_MS = 2_000;

/** Reads what earlier runs have left. @throws RecordDamaged where a record is not as it was written */
export async function openOutbox(parts: OutboxParts): Promise<Outbox> {
  const outbox = new StoredOutbox(parts);
  await outbox.load();
  return outbox;
}

class StoredOutbox implements Outbox {
  readonly name = "outbox";
  readonly told: ToldMemory;
  commandsLostSinceMs: number | null = null;
  readonly #parts: OutboxParts;
  readonly #robots: Lines;
  readonly #commands: Lines;
  readonly #entries = new Entries();
  readonly #drops: DropBook;
  readonly #handOver: HandOver;
  readonly #writer: Writer;
  /** Dropped by a bound while they were under way: they may have arrived. */
  readonly #limbo = new Set<Entry>();
  /** The run before has not ended in order. */
  readonly #hasCrashed: boolean;
  #commandsUntilMs: number;
  /** Since when no event of a command has come to the disk; null: that is in `#commandsUntilMs`. */
  #quietSinceMs: number | null = null;
  #nextNumber = 1;
  #dropped = 0;
  #damaged = 0;
  #wake = () => {};

  constructor(parts: OutboxParts) {
    const { options, store, sessionId, clock } = parts;
    this.#parts = parts;
    this.#robots = createLines(options.maxEvents);
    this.#commands = createLines(options.maxEvents);
    this.told = openToldMemory(store);
    this.#drops = openDropBook({ store, sessionId, nowMs: clock.nowMs });
    const lines = [this.#robots, this.#commands] as const;
    this.#handOver = createHandOver({ lines, drops: this.#drops, replayRate: options.replayRate, clock });
    this.#writer = new Writer({
      ...parts,
      besides: (event) => this.#besides(event),
      onSettled: (entries) => this.#onSettled(entries),
    });
    const run = store.get(RUN_KEY) as StoredRun | undefined;
    this.#commandsUntilMs = run?.commandsUntilMs ?? clock.nowMs();
    this.#hasCrashed = run?.isClosed === false;
  }

  async load(): Promise<void> {
    const { store, clock } = this.#parts;
    const loadedAtMs = clock.monotonicMs();
    const nowMs = clock.nowMs();
    let from = EVENTS.from;
    for (;;) {
      const records = [...store.range({ from, to: EVENTS.to, limit: READ_AT_ONCE })];
      for (const { key, value } of records) {
        const [storedAtMs, , event] = value as StoredEvent;
        this.#nextNumber = numberOf(key) + 1;
        const queuedAtMs = loadedAtMs - Math.max(0, nowMs - storedAtMs);
        const entry = this.#entries.take(event, this.#nextNumber - 1, queuedAtMs);
        for (const change of this.#besides(event)) this.#writer.note(change);
        entry.place = "stored";
        entry.event = null;
        this.#enter(entry);
        this.#linesOf(entry).line(entry, true);
      }
      if (records.length < READ_AT_ONCE) break;
      from = `${records.at(-1)?.key}\0`;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#dropOld();
    if (this.#hasCrashed) this.commandsLostSinceMs = this.#commandsUntilMs - COMMANDS_APART_MS;
    this.#writer.note(this.#run(false));
    this.#writer.tidy();
  }

  onReady(wake: () => void): void {
    this.#wake = wake;
    this.#handOver.onAllowance(wake);
  }

  push(event: FleetEvent): string | null {
    const nowMs = this.#parts.clock.monotonicMs();
    const entry = this.#entries.take(withoutAnswer(event), this.#nextNumber, nowMs);
    this.#nextNumber += 1;
    const evicted = this.#enter(entry);
    this.#writer.put(entry);
    return evicted;
  }

  peek(most: number): readonly QueuedEvent[] {
    const { drops, entries } = this.#handOver.peek(most);
    const told = drops.map((drop): Handed => ({ event: dropEvent(drop), number: 0, entry: null, drop }));
    const waiting = entries.map(
      (entry): Handed => ({ event: this.#eventOf(entry), number: entry.number, entry, drop: null }),
    );
    return [...told, ...waiting];
  }

  release(held: readonly QueuedEvent[]): void {
    for (const { entry, drop, number } of held as readonly Handed[]) {
      if (drop !== null) this.#writer.note(this.#drops.release(drop));
      // A connection that was lost may answer late: by now the entry can be of another event.
      if (entry === null || entry.hasLeft || entry.number !== number) continue;
      entry.isUnderWay = false;
      if (!this.#limbo.delete(entry)) this.#linesOf(entry).leave(entry);
      this.#end(entry);
    }
  }

  get length(): number {
    return this.#robots.length + this.#commands.length + this.#drops.length;
  }

  get dropped(): number {
    return this.#dropped;
  }

  hasReady(): boolean {
    return this.#handOver.hasReady();
  }

  setOpen(isOpen: boolean): void {
    this.#handOver.setOpen(isOpen);
    if (isOpen) return;
    // What was under way and is not known to have arrived waits again, if there is room for it.
    for (const entry of this.#handOver.recall()) {
      if (!entry.isUnderWay) continue;
      entry.isUnderWay = false;
      if (this.#limbo.delete(entry)) this.#drop(entry, "too_many");
    }
    for (const lines of [this.#robots, this.#commands]) {
      lines.endLive();
      forgetStored(lines);
    }
  }

  stateIsTold(): void {
    this.#handOver.stateIsTold();
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
      this.#noteQuiet();
    });
    ready();
    await aborted(signal);
    await this.#writer.close(this.#run(true));
    await this.#parts.store.close();
  }

  /** How long the oldest event has waited. */
  #oldestMs(): number {
    const nowMs = this.#parts.clock.monotonicMs();
    const heads = [this.#robots, this.#commands].flatMap(({ live, history }) => [live.first, history.first]);
    return nowMs - Math.min(...heads.map((head) => head?.value.queuedAtMs ?? nowMs));
  }

  #linesOf({ isOfCommand }: Entry): Lines {
    return isOfCommand ? this.#commands : this.#robots;
  }

  #run(isClosed: boolean): StoreChange {
    const value: StoredRun = { isClosed, commandsUntilMs: this.#commandsUntilMs };
    return { key: RUN_KEY, value };
  }

  #besides(event: FleetEvent): readonly StoreChange[] {
    if (event.kind !== "command") return this.told.note(event);
    this.#commandsUntilMs = Math.max(this.#commandsUntilMs, event.atMs);
    this.#quietSinceMs = this.#parts.clock.monotonicMs();
    return [this.#run(false)];
  }

  /** Nothing has come for long enough: a crash later on does not concern the last event of a command. */
  #noteQuiet(): void {
    const { clock } = this.#parts;
    if (this.#quietSinceMs === null || !this.#writer.isIdle()) return;
    const quietMs = clock.monotonicMs() - this.#quietSinceMs;
    if (quietMs <= COMMANDS_APART_MS) return;
    // A clock that was set back, or ahead and back, moves it no further than the time that has passed.
    const untilMs = Math.min(this.#commandsUntilMs + quietMs, clock.nowMs());
    this.#commandsUntilMs = Math.max(this.#commandsUntilMs, untilMs);
    this.#quietSinceMs = null;
    this.#writer.note(this.#run(false));
  }

  #onSettled(entries: readonly Entry[]): void {
    for (const entry of entries) {
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
    entry.event = null;
    this.#writer.remove(entry);
    this.#entries.giveBack(entry);
  }

  #dropOld(): void {
    const oldestMs = this.#parts.clock.monotonicMs() - this.#parts.options.maxAgeMs;
    for (const lines of [this.#robots, this.#commands]) {
      for (const chain of ["history", "live"] as const) {
        let first = lines[chain].first?.value;
        while (first !== undefined && first.queuedAtMs < oldestMs && !first.isUnderWay) {
          lines.leave(first);
          this.#drop(first, "too_old");
          first = lines[chain].first?.value;
        }
      }
    }
  }

  /** The event with its marks. One that cannot be read is told of as dropped, in its place. */
  #eventOf(entry: Entry): FleetEvent {
    if (entry.event !== null) return entry.isHistory ? { ...entry.event, historical: true } : entry.event;
    const { store, sessionId, clock } = this.#parts;
    try {
      const record = store.get(eventKey(entry.number));
      if (record === undefined) throw new RecordDamaged("a record is missing");
      const [, seenBy, event] = record as StoredEvent;
      return { ...event, historical: true, ...(seenBy === sessionId ? {} : { sessionId: seenBy }) };
    } catch (error) {
      if (!(error instanceof RecordDamaged)) throw error;
      this.#damaged += 1;
      this.#dropped += 1;
      const { key: cause, isOfCommand: isOfCommands, atMs } = entry;
      const eventId = `${sessionId}.x${this.#damaged}`;
      const times = { fromMs: atMs, toMs: atMs, atMs: clock.nowMs() };
      return dropEvent({ eventId, cause, isOfCommands, reason: "damaged", count: 1, ...times, sessionId });
    }
  }
}

/** While nothing is handed over, the memory keeps no event that the disk has. */
function forgetStored({ history }: Lines): void {
  for (let link = history.first; link !== null; link = link.next)
    if (link.value.place === "stored") link.value.event = null;
}
