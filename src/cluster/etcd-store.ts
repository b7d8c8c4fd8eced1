import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";
import { createRecurringProblem } from "../platform/recurring-problem.ts";
import type { EtcdClient, Page, RangeQuery } from "./etcd/client.ts";
import type { Fault, Header } from "./etcd/outcome.ts";
import type { Comparison, Operation } from "./etcd/transaction.ts";
import type { Entry } from "./etcd/values.ts";
import type { WatchEvent } from "./etcd/watch.ts";
import type {
  ClusterStore,
  CommitResult,
  StoreChanges,
  StoreComparison,
  StoreEntry,
  StorePart,
  StorePut,
  StoreRead,
  StoreTransaction,
} from "./protocol/cluster-store.ts";

export interface EtcdStoreParts {
  readonly client: EtcdClient;
  /** Of the gateway's keys in etcd. It ends with a slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** etcd as the store of one gateway (docs/decisions.md, An answer of another etcd leaves a commit unsure). */
export function createEtcdStore({ client, prefix, clock, log }: EtcdStoreParts): ClusterStore {
  const problem = createRecurringProblem(clock, () => log.info({}, "etcd answers again"));
  const watches = new Set<() => void>();
  /** Of the first answer. */
  let clusterId: bigint | null = null;
  /** The highest that a linearizable answer had. */
  let newest = 0n;

  function note({ message }: Fault): void {
    if (problem.note()) log.warn({ problem: message }, "etcd has not done what it was asked");
  }

  function isCluster(header: Header): boolean {
    clusterId ??= header.clusterId;
    return header.clusterId === clusterId;
  }

  /** Whether the store is the one of all answers before. `asked`: the newest revision when it was asked. */
  function isStore(header: Header, asked: bigint): boolean {
    const isSame = isCluster(header) && header.revision >= asked;
    if (!isSame) {
      log.error({ prefix }, "etcd is another one than before, or was restored");
      for (const end of [...watches]) end();
    } else if (header.revision > newest) newest = header.revision;
    return isSame;
  }

  async function commit({ guard, parts }: StoreTransaction): Promise<CommitResult> {
    const asked = newest;
    const outcome = await client.txn({
      compare: guard.map(comparisonOf),
      success: parts.length === 0 ? [throughLog] : parts.map(nested),
    });
    if (outcome.kind !== "done") {
      note(outcome.fault);
      return { kind: outcome.kind };
    }
    const { header, value } = outcome;
    if (!isStore(header, asked)) return { kind: "unsure" };
    const done = parts.map((_part, index) => {
      const result = value.results[index];
      return result?.kind === "transaction" && result.result.succeeded;
    });
    return { kind: "done", revision: numberOf(header.revision), parts: value.succeeded ? done : null };
  }

  async function read(keys: string): Promise<StoreRead | null> {
    const asked = newest;
    const pages: Page[] = [];
    let first: Header | null = null;
    for (let query: RangeQuery | null = { keys: { prefix: prefix + keys } }; query !== null; ) {
      const outcome = await client.range(query);
      if (outcome.kind !== "done") {
        note(outcome.fault);
        return null;
      }
      first ??= outcome.header;
      if (outcome.header.clusterId !== first.clusterId) return null;
      pages.push(outcome.value);
      query = outcome.value.next;
    }
    if (first === null) return null;
    isStore(first, asked);
    const entries = pages.flatMap((page) => page.entries.map(entryOf));
    return { clusterId: String(first.clusterId), revision: numberOf(first.revision), entries };
  }

  function watch(from: number, receive: (changes: StoreChanges) => void, ended: () => void) {
    const close = client.watch(
      { prefix, fromRevision: BigInt(from) },
      {
        onConnected: (_endpoint, header) => {
          if (!isCluster(header)) end();
        },
        onEvents(events) {
          for (const changes of byRevision(events)) if (watches.has(end)) receive(changes);
        },
        onEnded(why) {
          if (why.kind === "refused") note(why.fault);
          end();
        },
      },
    );
    const cancel = () => {
      watches.delete(end);
      close();
    };
    const end = () => {
      if (!watches.has(end)) return;
      cancel();
      ended();
    };
    watches.add(end);
    return cancel;
  }

  /** The changes of the store, revision by revision. */
  function byRevision(events: readonly WatchEvent[]): readonly StoreChanges[] {
    const revisions = new Map<bigint, Array<StoreChanges["changes"][number]>>();
    for (const event of events) {
      const changes = revisions.get(event.revision) ?? [];
      revisions.set(event.revision, changes);
      if (event.kind === "delete") changes.push({ key: event.key.slice(prefix.length), entry: null });
      else {
        const entry = entryOf(event.entry);
        changes.push({ key: entry.key, entry });
      }
    }
    return [...revisions].map(([revision, changes]) => ({ revision: numberOf(revision), changes }));
  }

  function entryOf({ key, value, createRevision, modRevision }: Entry): StoreEntry {
    return {
      key: key.slice(prefix.length),
      value: Buffer.from(value).toString(),
      created: numberOf(createRevision),
      modified: numberOf(modRevision),
    };
  }

  function comparisonOf(comparison: StoreComparison): Comparison {
    const keys =
      "key" in comparison ? { key: prefix + comparison.key } : { prefix: prefix + comparison.prefix };
    if ("created" in comparison)
      return { ...keys, target: "create_revision", is: "equal", to: BigInt(comparison.created) };
    if ("modified" in comparison)
      return { ...keys, target: "mod_revision", is: "equal", to: BigInt(comparison.modified) };
    return { ...keys, target: "mod_revision", is: "less", to: BigInt(comparison.notAfter) + 1n };
  }

  function operationOf({ key, value, lease }: StorePut): Operation {
    if (value === null) return { kind: "delete", keys: { key: prefix + key } };
    const put = { kind: "put", key: prefix + key, value: Buffer.from(value) } as const;
    return lease === undefined ? put : { ...put, lease: BigInt(lease) };
  }

  function nested({ when, puts }: StorePart): Operation {
    const transaction = { compare: when.map(comparisonOf), success: puts.map(operationOf) };
    return { kind: "transaction", transaction };
  }

  return {
    commit,
    read,
    async grant(ttlMs) {
      const outcome = await client.grantLease(Math.ceil(ttlMs / 1_000));
      if (outcome.kind === "done") return isCluster(outcome.header) ? String(outcome.value.id) : null;
      note(outcome.fault);
      return null;
    },
    async keepAlive(lease) {
      const outcome = await client.keepLeaseAlive(BigInt(lease));
      if (outcome.kind === "done") return isCluster(outcome.header) ? "alive" : null;
      if (outcome.fault.code === "NO_LEASE") return "gone";
      note(outcome.fault);
      return null;
    },
    watch,
  };
}

/**
 * Makes a transaction that puts nothing pass etcd's log. A member answers one without operations from what it
 * knows, which may be old.
 */
const throughLog: Operation = { kind: "transaction", transaction: {} };

function numberOf(revision: bigint): number {
  const number = Number(revision);
  if (!Number.isSafeInteger(number)) throw new Error(`revision ${revision} of etcd is beyond 2^53`);
  return number;
}
