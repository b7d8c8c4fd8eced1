import type { Store } from "../store.ts";
import { RecordDamaged } from "./record-seal.ts";

/** One record to write to a table; `value` undefined removes it. */
export interface TableChange {
  readonly table: string;
  readonly key: string;
  /** JSON. */
  readonly value: unknown;
}

/** How the values of a table become JSON and back. */
export interface Codec<V> {
  encode(value: V): unknown;
  /** Null: it is not what `encode` makes. */
  decode(json: unknown): V | null;
  /** A shared store may have a text that is no JSON: it is refused like another foreign value. */
  readonly refusesTexts?: true;
}

/**
 * What a record that cannot be read means for its table:
 *
 * - `begin empty`: the table begins empty, and the log says so. Its reads never throw.
 * - `confirm`: reads throw, and an operator confirms the loss.
 */
export type OnLoss = "begin empty" | "confirm";

/** Records that survive a restart, by key. */
export interface Table<V> {
  /** The value that was written last, once its write has resolved. */
  get(key: string): V | undefined;
  /** In the order of the keys, read one by one while they are taken. */
  entries(): Iterable<[string, V]>;
  /** The change by which a record has this value. */
  put(key: string, value: V): TableChange;
  /** The change by which there is no such record. */
  remove(key: string): TableChange;
}

/** The changes of the records of a table. */
export function recordChanges<V>(
  table: string,
  encode: Codec<V>["encode"],
): Pick<Table<V>, "put" | "remove"> {
  return {
    put: (key, value) => ({ table, key, value: encode(value) }),
    remove: (key) => ({ table, key, value: undefined }),
  };
}

/** What survives a restart. */
export interface TableStore {
  /** @param name without a slash */
  table<V>(name: string, codec: Codec<V>, onLoss: OnLoss): Table<V>;
  /**
   * Writes all of `changes` or none. Resolves when they survive a crash; rejects when they may not, or at
   * once when too many writes wait.
   *
   * @param isUrgent it may use the room that is reserved for such writes
   */
  write(changes: readonly TableChange[], isUrgent?: boolean): Promise<void>;
}

/** A store of tables that its owner alone uses. */
export interface OwnTableStore extends TableStore, Pick<Store, "figures" | "close"> {
  /** Whether a call that rests on the last write of this record may leave now. Absent: always. */
  permits?(table: string, key: string): boolean;
  /** How many changes it takes at once, at most. Absent: any number. */
  readonly mostChanges?: number;
}

/** Says that a record of a table is not what its codec makes. */
export class RecordRefused extends RecordDamaged {
  override readonly name: string = "RecordRefused";
}

/**
 * The changes by which records of a table have these values; null: there is no such record. Values are
 * compared by identity. `kept` is what the table has, and becomes what it will have.
 */
export function changesOf<V>(
  table: Table<V>,
  kept: Map<string, V>,
  records: Iterable<readonly [string, V | null]>,
): readonly TableChange[] {
  const changes: TableChange[] = [];
  for (const [key, value] of records) {
    if (value === null) {
      if (kept.delete(key)) changes.push(table.remove(key));
    } else if (kept.get(key) !== value) {
      kept.set(key, value);
      changes.push(table.put(key, value));
    }
  }
  return changes;
}

/** The content of tables as JSON: by the name of the table, then by key. */
export type TablesContent = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Of any value that JSON can have. */
export const anyJson: Codec<unknown> = { encode: (value) => value, decode: (json) => json };

/** The changes by which the tables that `content` names have it, and nothing else. */
export function replacement(store: TableStore, content: TablesContent): readonly TableChange[] {
  return Object.entries(content).flatMap(([name, records]) => {
    const table = store.table(name, anyJson, "begin empty");
    const gone = Array.from(table.entries(), ([key]) => key).filter((key) => !Object.hasOwn(records, key));
    return [
      ...gone.map(table.remove),
      ...Object.entries(records).map(([key, value]) => table.put(key, value)),
    ];
  });
}
