import { describeError } from "../error-text.ts";
import type { Log } from "../log.ts";
import type { KeyedStore, StoreChange, StoreRange } from "../store.ts";
import { RecordDamaged } from "./record-seal.ts";
import {
  type Codec,
  type OnLoss,
  type OwnTableStore,
  RecordRefused,
  recordChanges,
  type Table,
  type TablesContent,
} from "./table-store.ts";

/** A key of the environment is the name of the table, a slash, and the key in the table. */
const SLASH = "/";
const AFTER_SLASH = "0";

/** Tables in one lmdb environment that its owner closes. A table that is lost takes no other one with it. */
export function createLmdbStore(records: KeyedStore, log: Log): OwnTableStore {
  /** Tables of which nothing is shown until their records are removed. */
  const lost = new Set<string>();
  let clearing: Promise<void> | null = null;

  function lose(table: string, error: unknown): void {
    // Any other error comes from the disk, and says nothing about the records.
    if (error instanceof RecordDamaged) lost.add(table);
    log.error({ table, cause: describeError(error) }, "a table cannot be read: it begins empty");
  }

  async function clear(): Promise<void> {
    const names = [...lost];
    const keys = names.flatMap((name) => [...records.keys(rangeOf(name))]);
    await records.write(keys.map((key) => ({ key, value: undefined })));
    for (const name of names) lost.delete(name);
  }

  function open<V>(name: string, { encode, decode }: Codec<V>, onLoss: OnLoss): Table<V> {
    const prefix = name + SLASH;

    function decoded(key: string, json: unknown): V {
      const value = decode(json);
      if (value === null)
        throw new RecordRefused(`the record ${key} of the table ${name} is not what was written`);
      return value;
    }

    function* read(): Generator<[string, V]> {
      for (const { key, value } of records.range(rangeOf(name))) {
        const own = key.slice(prefix.length);
        yield [own, decoded(own, value)];
      }
    }

    function orLost<T>(read: () => T, nothing: T): T {
      if (onLoss === "confirm") return read();
      if (lost.has(name)) return nothing;
      try {
        return read();
      } catch (error) {
        lose(name, error);
        return nothing;
      }
    }

    return {
      get: (key) =>
        orLost(() => {
          const json = records.get(prefix + key);
          return json === undefined ? undefined : decoded(key, json);
        }, undefined),
      // A table that may begin empty is read at once: whole, or not at all.
      entries: () => (onLoss === "confirm" ? read() : orLost(() => [...read()], [])),
      ...recordChanges(name, encode),
    };
  }

  return {
    table: open,
    async write(changes, isUrgent) {
      if (lost.size > 0) {
        clearing ??= clear().finally(() => {
          clearing = null;
        });
        await clearing;
      }
      const own = changes.map(({ table, key, value }) => ({ key: table + SLASH + key, value }));
      await records.write(own, isUrgent);
    },
    figures: () => records.figures(),
    close: () => records.close(),
  };
}

/** The content of all tables of an environment. */
export function contentOf(records: Iterable<StoreChange>): TablesContent {
  const tables = new Map<string, Array<[string, unknown]>>();
  for (const { key, value } of records) {
    const end = key.indexOf(SLASH);
    const table = tables.get(key.slice(0, end)) ?? [];
    tables.set(key.slice(0, end), table);
    table.push([key.slice(end + 1), value]);
  }
  return Object.fromEntries(Array.from(tables, ([name, table]) => [name, Object.fromEntries(table)]));
}

function rangeOf(table: string): StoreRange {
  return { from: table + SLASH, to: table + AFTER_SLASH };
}
