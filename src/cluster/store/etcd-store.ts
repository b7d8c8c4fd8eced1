import { BoundedMap } from "../../platform/bounded-map.ts";
import { type Cancel, type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { createLineBudget, createRecurringProblem } from "../../platform/log-bounds.ts";
import type { EtcdClient, Page, RangeQuery } from "../etcd/client.ts";
import type { Fault, Header, ReadOutcome } from "../etcd/outcome.ts";
import type { Operation } from "../etcd/transaction.ts";
import type {
  ClusterStore,
  CommitResult,
  StoreChanges,
  StoreEntry,
  StoreRead,
  StoreTransaction,
} from "../protocol/cluster-store.ts";
import { createMapping, type Mapping, numberOf } from "./mapping.ts";

export interface EtcdStoreParts {
  readonly client: EtcdClient;
  /** Of the gateway's keys in etcd. It ends with a slash. */
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** How often a page is asked for: a busy machine must not begin a long journal again and again. */
const PAGE_TRIES = 10;
const PAGE_PAUSE_MS = 200;
/**
 * Entries of the first page. For each page etcd 3.4 collects all keys behind it, too, so a long journal needs
 * few pages: each has twice as many entries as the one before, until one is large. One that gets no answer is
 * halved, and those behind it grow slowly.
 */
const FIRST_PAGE = 500;
const LEAST_PAGE = 50;
const LARGE_BYTES = 2_000_000;
/** Keys with foreign values that were logged: each is named once, and few at a time. */
const MAX_NAMED = 1_000;
const NAMED_LINES = { most: 20, windowMs: 60_000 };

/**
 * etcd as a gateway's store (docs/internals/decisions.md, An answer of another store leaves a commit unsure).
 */
export function createEtcdStore({ client, prefix, clock, log }: EtcdStoreParts): ClusterStore {
  const mapping = createMapping(prefix, (key) => {
    if (named.has(key) || !lines.take()) return;
    named.set(key, true);
    log.error({ key }, "etcd has a value that no gateway has written: it counts as none; delete the key");
  });
  const named = new BoundedMap<string, true>(MAX_NAMED);
  const lines = createLineBudget(clock, NAMED_LINES, (count) =>
    log.error({ count }, "etcd has more values that no gateway has written: they count as none"),
  );
  const problem = createRecurringProblem(clock, () => log.info({}, "etcd answers again"));
  const otherStore = createRecurringProblem(clock, () => {});
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

  /** Whether it is the store of all answers before. `asked`: the newest revision when it was asked. */
  function isStore(header: Header, asked: bigint): boolean {
    if (!isCluster(header) || header.revision < asked) {
      if (otherStore.note()) log.error({ prefix }, "etcd is another one than before, or was restored");
      watches.endAll();
      return false;
    }
    if (header.revision > newest) newest = header.revision;
    return true;
  }

  async function commit({ guard, parts }: StoreTransaction): Promise<CommitResult> {
    const asked = newest;
    const outcome = await client.txn({
      compare: guard.map(mapping.comparison),
      success: parts.length === 0 ? [throughLog] : parts.map(mapping.part),
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
    const entries: StoreEntry[] = [];
    let first: Header | null = null;
    let limit = FIRST_PAGE;
    let tries = 1;
    let hasFailed = false;
    for (let query: RangeQuery | null = { keys: { prefix: prefix + keys } }; query !== null; ) {
      const outcome: ReadOutcome<Page> = await client.range({ ...query, limit });
      if (outcome.kind === "done") {
        first ??= outcome.header;
        if (outcome.header.clusterId !== first.clusterId) return null;
        for (const entry of outcome.value.entries) entries.push(mapping.entry(entry));
        query = outcome.value.next;
        tries = 1;
        if (bytesOf(outcome.value) < LARGE_BYTES) limit += hasFailed ? FIRST_PAGE : limit;
      } else {
        note(outcome.fault);
        // All pages are of the revision of the first: a later one is asked for again.
        const isLast = first === null || tries === PAGE_TRIES;
        if (isLast || outcome.fault.code === "COMPACTED") return null;
        hasFailed = true;
        tries += 1;
        limit = Math.max(LEAST_PAGE, limit >> 1);
        await new Promise<void>((resolve) => clock.after(PAGE_PAUSE_MS, resolve));
      }
    }
    if (first === null) return null;
    isStore(first, asked);
    return { clusterId: String(first.clusterId), revision: numberOf(first.revision), entries };
  }

  const watches = createWatches({ client, prefix, mapping, isCluster, note });
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
    watch: watches.begin,
  };
}

function bytesOf({ entries }: Page): number {
  return entries.reduce((bytes, { value }) => bytes + value.length, 0);
}

/**
 * Takes a transaction that puts nothing through etcd's log. One without operations is answered by a member
 * from what it has, which may be old.
 */
const throughLog: Operation = { kind: "transaction", transaction: {} };

/** The watches of a store. */
interface Watches {
  begin(from: number, receive: (changes: StoreChanges) => void, ended: () => void): Cancel;
  /** None of them can go on. */
  endAll(): void;
}

interface WatchesParts {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly mapping: Mapping;
  readonly isCluster: (header: Header) => boolean;
  readonly note: (fault: Fault) => void;
}

function createWatches({ client, prefix, mapping, isCluster, note }: WatchesParts): Watches {
  const open = new Set<Cancel>();
  return {
    begin(from, receive, ended) {
      const close = client.watch(
        { prefix, fromRevision: BigInt(from) },
        {
          onConnected: (_endpoint, header) => {
            if (!isCluster(header)) end();
          },
          onEvents(events) {
            for (const changes of mapping.changes(events)) if (open.has(end)) receive(changes);
          },
          onEnded(why) {
            if (why.kind === "refused") note(why.fault);
            end();
          },
        },
      );
      const cancel = () => {
        open.delete(end);
        close();
      };
      const end = () => {
        if (!open.has(end)) return;
        cancel();
        ended();
      };
      open.add(end);
      return cancel;
    },
    endAll() {
      for (const end of [...open]) end();
    },
  };
}

interface CompactionParts {
  readonly client: Pick<EtcdClient, "compact">;
  readonly clock: Clock;
  /** This member leads: one of them is enough. */
  readonly isLeading: () => boolean;
  /** The newest revision that this member knows. */
  readonly revision: () => number;
  readonly ended: AbortSignal;
}

const PERIOD_MS = 60_000;

/**
 * Lets etcd forget what has been replaced for a minute: it keeps every value that a key ever had, until its
 * disk is full. A watch that is further behind begins anew.
 */
export function startCompaction({ client, clock, isLeading, revision, ended }: CompactionParts): void {
  let known = 0;
  every(clock, PERIOD_MS, ended, () => {
    const before = known;
    known = revision();
    // It has failed if another gateway has done so for a later revision.
    if (before > 0 && isLeading()) void client.compact(BigInt(before));
  });
}
