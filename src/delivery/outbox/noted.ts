import type { StoreChange } from "../../platform/store.ts";
import type { LogLine } from "./event-log.ts";
import { eventKey, LOGGED_KEY } from "./records.ts";

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
