import type { Store, StoreChange } from "../../platform/store.ts";
import type { LogLine } from "./event-log.ts";
import type { StoredEvent } from "./records.ts";

/** What earlier runs have left in the log: the store does not have it. */
export interface LeftInLog {
  /** By number; also those that have left, for what they have said. */
  readonly events: ReadonlyMap<number, StoredEvent>;
  /** Events that have left, of the log and of the store. */
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

/** The store as it will be with these changes. */
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
