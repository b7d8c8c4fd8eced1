import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { makeFolder } from "../../platform/folder.ts";
import { createTimeSlices } from "../../platform/loop-time.ts";
import type { Store, StoreChange } from "../../platform/store.ts";
import { eventKey, LOGGED_KEY, type StoredEvent } from "./records.ts";

/** An event has entered the outbox; numbers are no longer needed; a record of the store has changed. */
export type LogLine =
  | readonly ["event", number: number, stored: StoredEvent]
  | readonly ["gone", numbers: readonly number[]]
  | readonly ["change", change: StoreChange];

/**
 * What the store does not have yet, in files that are only appended to. Appended lines survive the end of the
 * process without a sync (docs/internals/decisions.md, Events are logged, and stored when they wait).
 */
export interface EventLog {
  /** The lines of earlier runs in files after the number `stored`, in order. */
  read(stored: number): Promise<readonly LogLine[]>;
  /** One call at a time. Rejects with the disk's error. */
  append(lines: readonly LogLine[]): Promise<void>;
  /**
   * Begins a new file with the next line.
   *
   * @returns the number of the file before
   */
  turn(): number;
  /** The store has all lines of the files up to this number. */
  remove(upTo: number): Promise<void>;
  /** Makes appended lines survive a power cut too. */
  sync(): Promise<void>;
  /** Whether somebody has removed the present file. */
  isGone(): boolean;
  /** How much was appended since the last turn. */
  readonly bytes: number;
  close(): Promise<void>;
}

const NAME = /^log-(\d+)$/;
const OWNER_ONLY = 0o600;
const SUM_RADIX = 36;

/** @param folder the folder of the store */
export function openEventLog(folder: string): EventLog {
  let file: Promise<FileHandle> | null = null;
  let number = 1;
  let bytes = 0;

  const pathOf = (file: number) => join(folder, `log-${file.toFixed()}`);

  async function numbers(): Promise<number[]> {
    const names = existsSync(folder) ? await readdir(folder) : [];
    const found = names.flatMap((name) => NAME.exec(name)?.[1] ?? []);
    return found.map(Number).sort((a, b) => a - b);
  }

  async function begin(path: string): Promise<FileHandle> {
    await makeFolder(folder);
    return open(path, "a", OWNER_ONLY);
  }

  /** Waits for the append under way first. */
  async function close(): Promise<void> {
    const ending = file;
    file = null;
    await (await ending)?.close();
  }

  return {
    async read(stored) {
      const lines: LogLine[] = [];
      number = stored + 1;
      for (const each of await numbers()) {
        number = Math.max(number, each + 1);
        if (each <= stored) continue;
        for (const line of linesOf(await readFile(pathOf(each), "utf8"))) lines.push(line);
      }
      return lines;
    },
    async append(lines) {
      // Before the file is looked at: it may end meanwhile.
      const text = await textsOf(lines);
      file ??= begin(pathOf(number));
      bytes += text.length;
      await (await file).appendFile(text);
    },
    turn() {
      const before = number;
      // The store takes over its lines.
      close().catch(() => {});
      number += 1;
      bytes = 0;
      return before;
    },
    async remove(upTo) {
      for (const each of await numbers()) if (each <= upTo) await rm(pathOf(each), { force: true });
    },
    async sync() {
      await (await file)?.datasync();
    },
    isGone: () => file !== null && !existsSync(pathOf(number)),
    get bytes() {
      return bytes;
    },
    close,
  };
}

/** In time slices: a slow disk leaves thousands of lines to the next step. */
async function textsOf(lines: readonly LogLine[]): Promise<string> {
  const slices = createTimeSlices();
  let text = "";
  for (const line of lines) {
    text += textOf(line);
    const slice = slices.next();
    if (slice !== undefined) await slice;
  }
  return text;
}

function textOf(line: LogLine): string {
  const text = JSON.stringify(line);
  return `${crc32(text).toString(SUM_RADIX)} ${text}\n`;
}

/** A crash may leave a part of a line, and a power cut anything after the last sync. */
function* linesOf(text: string): Generator<LogLine> {
  for (const each of text.split("\n")) {
    const end = each.indexOf(" ");
    const json = each.slice(end + 1);
    if (end < 0 || crc32(json).toString(SUM_RADIX) !== each.slice(0, end)) return;
    yield JSON.parse(json) as LogLine;
  }
}

/** The lines of earlier runs that the store does not have. */
export interface LeftInLog {
  /** By number; with those that have left, because their content was published. */
  readonly events: ReadonlyMap<number, StoredEvent>;
  /** Numbers of events that have left, of the log and of the store. */
  readonly gone: ReadonlySet<number>;
  /** By key. */
  readonly changes: ReadonlyMap<string, StoreChange>;
}

export function leftOf(lines: readonly LogLine[]): LeftInLog {
  const events = new Map<number, StoredEvent>();
  const gone = new Set<number>();
  const changes = new Map<string, StoreChange>();
  for (const line of lines) {
    if (line[0] === "event") events.set(line[1], line[2]);
    else if (line[0] === "change") changes.set(line[1].key, line[1]);
    else for (const number of line[1]) gone.add(number);
  }
  return { events, gone, changes };
}

/** The store as it will be after these changes. */
export function storeWith(store: Store, changes: LeftInLog["changes"]): Store {
  return {
    ...store,
    get(key) {
      const change = changes.get(key);
      return change === undefined ? store.get(key) : change.value;
    },
    *range(range) {
      for (const each of store.range(range)) if (!changes.has(each.key)) yield each;
      for (const each of changes.values())
        if (each.key >= range.from && each.key < range.to && each.value !== undefined) yield each;
    },
  };
}

/** What the store takes over from the files of the log up to a number. */
export interface Handover {
  readonly upTo: number;
  readonly changes: Map<string, StoreChange>;
  readonly gone: number[];
}

/** Notes for the store and the log that are not urgent. */
export class Noted {
  #changes = new Map<string, StoreChange>();
  /** The numbers of events that are in the store, and no longer needed. */
  #gone: number[] = [];
  #unloggedChanges = new Map<string, StoreChange>();
  #unloggedGone: number[] = [];

  /** A record that does not follow from an event of the log. */
  add(change: StoreChange): void {
    this.#unloggedChanges.set(change.key, change);
    this.addBeside(change);
  }

  /** A record that changes with an event: a start makes it again from the log, or from the event itself. */
  addBeside(change: StoreChange): void {
    this.#changes.set(change.key, change);
  }

  /** An event is no longer needed. */
  addGone(number: number, isStored: boolean): void {
    this.#unloggedGone.push(number);
    if (isStored) this.#gone.push(number);
  }

  get gone(): number {
    return this.#gone.length;
  }

  /** Removes and returns the notes for the log. */
  takeLines(): LogLine[] {
    const lines = Array.from(this.#unloggedChanges.values(), (change): LogLine => ["change", change]);
    if (this.#unloggedGone.length > 0) lines.push(["gone", this.#unloggedGone]);
    this.#unloggedChanges = new Map();
    this.#unloggedGone = [];
    return lines;
  }

  /** Removes and returns the notes for the store. */
  take(upTo: number): Handover {
    const handover = { upTo, changes: this.#changes, gone: this.#gone };
    this.#changes = new Map();
    this.#gone = [];
    this.#unloggedChanges = new Map();
    return handover;
  }

  /** The store did not take them. Later notes are newer. */
  putBack({ changes, gone }: Handover): void {
    this.#changes = new Map([...changes, ...this.#changes]);
    this.#gone = gone.concat(this.#gone);
  }
}

/** Records first: the change that an event caused is in the store before the event leaves it. */
export function stepsOf({ upTo, changes, gone }: Handover): readonly StoreChange[] {
  const removed = gone.map((number) => ({ key: eventKey(number), value: undefined }));
  return [...changes.values(), ...removed, { key: LOGGED_KEY, value: upTo }];
}
