import { type Clock, sleep } from "../../platform/clock.ts";
import { isJsonObject } from "../../platform/json.ts";
import { ChangedMeanwhile, StoreFailed, type StoreFigures } from "../../platform/store.ts";
import {
  type Codec,
  type OwnTableStore,
  RecordRefused,
  recordChanges,
  type Table,
  type TableChange,
} from "../../platform/stores/table-store.ts";
import type { StoreComparison, StorePut } from "./cluster-store.ts";
import type { EpochWriter } from "./epoch-writer.ts";
import type { KnownKeys, Mirror } from "./mirror.ts";
import { decode as decodeJson, tableKey, unchanged } from "./records.ts";
import type { ProtocolTimes } from "./times.ts";

/** The tables of a cluster, as one member reads them, and as it writes them while it leads. */
export interface ReplicatedStore extends OwnTableStore {
  /** The newest write of this record permits a call to leave now. */
  permits(table: string, key: string): boolean;
}

export interface ReplicatedParts {
  readonly mirror: Pick<Mirror, "reached">;
  /** What this process knows: all its stores share it. */
  readonly keys: KnownKeys;
  readonly writer: EpochWriter;
  readonly clock: Clock;
  readonly times: Pick<ProtocolTimes, "permissionMs" | "retryMs">;
  readonly conditionsOf: ConditionsOf;
  readonly ended: AbortSignal;
}

/** What else must be as it is known, so that a change may be written. */
export type ConditionsOf = (change: TableChange) => readonly StoreComparison[];

/** Each is a comparison and an operation of a transaction, and etcd takes 128 of each by default. */
const MOST_CHANGES = 100;
/** A record that is not there, and that no late transaction can make. */
const TOMBSTONE = "null";

/**
 * Each write compares the revisions of what it writes with those that are known, so a write that comes late
 * changes nothing. A write that rejects has not happened, and will not; when another member leads, it never
 * ends.
 */
export function createReplicatedStore(parts: ReplicatedParts): ReplicatedStore {
  const { mirror, keys, writer, clock, times, conditionsOf, ended } = parts;
  /** Writes of the same key follow each other. */
  const busy = new Map<string, Promise<void>>();
  const permittedUntilMs = new Map<string, number>();
  const figures = { records: 0, syncs: 0, failures: 0, slowestMs: 0 };

  function permit(puts: readonly StorePut[], askedAtMs: number): void {
    for (const { key, value } of puts) {
      if (value === null) permittedUntilMs.delete(key);
      else permittedUntilMs.set(key, askedAtMs + times.permissionMs);
    }
  }

  async function write(changes: readonly TableChange[]): Promise<void> {
    const puts = changes.map(({ table, key, value }) => ({
      key: tableKey(table, key),
      value: value === undefined ? null : JSON.stringify(value),
    }));
    const own = puts.map(({ key }) => unchanged(key, keys.get(key)));
    const result = await writer.write({ when: [...own, ...changes.flatMap(conditionsOf)], puts });
    switch (result.kind) {
      case "written":
        keys.note(puts, result.revision);
        permit(puts, result.askedAtMs);
        return;
      case "refused":
        // Then this process knows what the others have written, and has drawn its conclusions.
        await mirror.reached(result.revision);
        throw new ChangedMeanwhile("another member has stopped or held the robot meanwhile");
      case "failed":
        throw new StoreFailed("the store of the cluster did not take it");
      case "unsure":
        return settle(own, puts, result.askedAtMs);
      case "lost":
        return never();
    }
  }

  /** Finds out what became of a write. If it is not there, it is kept from coming later. */
  async function settle(
    own: readonly StoreComparison[],
    puts: readonly StorePut[],
    askedAtMs: number,
  ): Promise<void> {
    const closing = puts.map(({ key }) => ({ key, value: keys.get(key).value ?? TOMBSTONE }));
    while (!ended.aborted) {
      const result = await writer.write({ when: own, puts: closing });
      if (result.kind === "lost") break;
      if (result.kind === "written") {
        keys.note(closing, result.revision);
        throw new StoreFailed("the store of the cluster did not answer in time");
      }
      if (result.kind === "refused") {
        await mirror.reached(result.revision);
        if (puts.every(({ key, value }) => keys.get(key).value === value)) return permit(puts, askedAtMs);
        throw new StoreFailed("the store of the cluster did not answer in time");
      }
      await sleep(clock, times.retryMs, ended);
    }
    return never();
  }

  /** When it is the turn of all its keys. */
  async function inTurn(changes: readonly TableChange[]): Promise<void> {
    const own = changes.map(({ table, key }) => tableKey(table, key));
    const before = own.map((key) => busy.get(key));
    const writing = Promise.all(before).then(() => write(changes));
    const over = writing.then(
      () => {},
      () => {},
    );
    for (const key of own) busy.set(key, over);
    const askedAtMs = clock.monotonicMs();
    try {
      await writing;
      figures.records += changes.length;
      figures.syncs += 1;
    } catch (error) {
      figures.failures += 1;
      throw error;
    } finally {
      figures.slowestMs = Math.max(figures.slowestMs, clock.monotonicMs() - askedAtMs);
      for (const key of own) if (busy.get(key) === over) busy.delete(key);
    }
  }

  return {
    mostChanges: MOST_CHANGES,
    table: (name, codec, onLoss) => createTable(name, codec, keys, onLoss === "confirm"),
    write: inTurn,
    permits: (table, key) =>
      clock.monotonicMs() < (permittedUntilMs.get(tableKey(table, key)) ?? Number.NEGATIVE_INFINITY),
    figures: (): StoreFigures => ({ ...figures }),
    close: () => Promise.resolve(),
  };
}

/**
 * A value that no gateway has written counts as none. An object may be a later version's record: it is
 * refused where a promise rests on it. With `refusesTexts` a text is, too: it may have replaced a record.
 */
function createTable<V>(
  name: string,
  { encode, decode, refusesTexts }: Codec<V>,
  keys: KnownKeys,
  isPromised: boolean,
): Table<V> {
  const prefix = tableKey(name, "");

  function read(key: string, isTextRefused: boolean): V | undefined {
    const { value } = keys.get(prefix + key);
    if (value === null || value === TOMBSTONE) return undefined;
    const json = decodeJson<unknown>({ value });
    const decoded = json === null ? null : decode(json);
    if (decoded === null && isPromised && (isTextRefused || isJsonObject(json)))
      throw new RecordRefused(`the record ${key} of the table ${name} is not what was written`);
    return decoded ?? undefined;
  }

  return {
    get: (key) => read(key, refusesTexts === true),
    *entries() {
      for (const key of keys.range(prefix).map((full) => full.slice(prefix.length))) {
        const value = read(key, false);
        if (value !== undefined) yield [key, value];
      }
    },
    ...recordChanges(name, encode),
  };
}

/** Another member tells what became of it. */
function never(): Promise<never> {
  return new Promise(() => {});
}
