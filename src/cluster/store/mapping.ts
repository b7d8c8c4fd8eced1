import type { Comparison, Operation } from "../etcd/transaction.ts";
import type { Entry } from "../etcd/values.ts";
import type { WatchEvent } from "../etcd/watch.ts";
import type {
  StoreChanges,
  StoreComparison,
  StoreEntry,
  StorePart,
  StorePut,
} from "../protocol/cluster-store.ts";

/** What the protocol says, in etcd's terms, and back. */
export interface Mapping {
  comparison(comparison: StoreComparison): Comparison;
  /** A nested transaction. */
  part(part: StorePart): Operation;
  entry(entry: Entry): StoreEntry;
  /** By revision, in their order. */
  changes(events: readonly WatchEvent[]): readonly StoreChanges[];
}

/**
 * @param prefix of all keys in etcd
 * @param report is called with a key whose value no gateway has written
 */
export function createMapping(prefix: string, report: (key: string) => void): Mapping {
  function comparison(given: StoreComparison): Comparison {
    const keys = "key" in given ? { key: prefix + given.key } : { prefix: prefix + given.prefix };
    if ("created" in given) {
      return { ...keys, target: "create_revision", is: "equal", to: BigInt(given.created) };
    }
    if ("modified" in given) {
      return { ...keys, target: "mod_revision", is: "equal", to: BigInt(given.modified) };
    }
    return { ...keys, target: "mod_revision", is: "less", to: BigInt(given.notAfter) + 1n };
  }

  function operation({ key, value, lease }: StorePut): Operation {
    if (value === null) return { kind: "delete", keys: { key: prefix + key } };
    const put = { kind: "put", key: prefix + key, value: Buffer.from(value) } as const;
    return lease === undefined ? put : { ...put, lease: BigInt(lease) };
  }

  const relative = (key: string) => key.slice(prefix.length);
  const entry = ({ key, value, createRevision, modRevision }: Entry): StoreEntry => {
    const text = Buffer.from(value).toString();
    if (!seemsJson(text)) report(key);
    return {
      key: relative(key),
      value: text,
      created: numberOf(createRevision),
      modified: numberOf(modRevision),
    };
  };
  const change = (event: WatchEvent) =>
    event.kind === "put"
      ? { key: relative(event.entry.key), entry: entry(event.entry) }
      : { key: relative(event.key), entry: null };

  return {
    comparison,
    part: ({ when, puts }) => ({
      kind: "transaction",
      transaction: { compare: when.map(comparison), success: puts.map(operation) },
    }),
    entry,
    changes(events) {
      const groups = new Map<bigint, Array<ReturnType<typeof change>>>();
      for (const event of events) {
        const group = groups.get(event.revision);
        if (group === undefined) groups.set(event.revision, [change(event)]);
        else group.push(change(event));
      }
      return [...groups].map(([revision, changes]) => ({ revision: numberOf(revision), changes }));
    },
  };
}

/** By its ends alone: a box that starts reads a long journal. */
function seemsJson(text: string): boolean {
  return /^(\{.*\}|\[.*\]|".*"|-?\d.*|true|false|null)$/s.test(text);
}

export function numberOf(revision: bigint): number {
  const number = Number(revision);
  if (!Number.isSafeInteger(number)) throw new Error(`etcd's revision ${revision} is beyond 2^53`);
  return number;
}
