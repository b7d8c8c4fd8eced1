import type { Clock } from "../../platform/clock.ts";
import type { ClusterStore, CommitResult, StoreComparison, StorePart } from "./cluster-store.ts";
import { LEADER_KEY } from "./records.ts";

/** A time in which one member leads. */
export interface Epoch {
  readonly clusterId: string;
  /** The revision at which the leader's key was created. */
  readonly revision: number;
}

export type WriteResult =
  /** `askedAtMs`: on the monotonic clock, before the store was asked. */
  | { readonly kind: "written"; readonly revision: number; readonly askedAtMs: number }
  /** A comparison did not hold at this revision. */
  | { readonly kind: "refused"; readonly revision: number }
  | { readonly kind: "failed" }
  /** `askedAtMs` as above: it may turn out to be written. */
  | { readonly kind: "unsure"; readonly askedAtMs: number }
  /** Another epoch has begun, or this one has ended. */
  | { readonly kind: "lost" };

/** Writes in groups. */
export interface EpochWriter {
  write(part: StorePart): Promise<WriteResult>;
}

interface WriterParts {
  readonly store: ClusterStore;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly epoch: Epoch;
  readonly lost: () => void;
}

interface Waiting {
  readonly part: StorePart;
  readonly resolve: (result: WriteResult) => void;
}

/** etcd's default (`--max-txn-ops`), for comparisons and operations together. */
const MOST_OPERATIONS = 128;
/** etcd's default (`--max-request-bytes`). */
const MOST_BYTES = 1_500_000;
/** What a comparison or a put has beside its key and value, generously. */
const FRAME_BYTES = 64;
/** Transactions: etcd writes those to its disk together that come while it writes. */
const MOST_UNDER_WAY = 4;

export function ledBy(epoch: Epoch): StoreComparison {
  return { key: LEADER_KEY, created: epoch.revision };
}

/** Writes what every member may write, without the guard of an epoch. */
export function createOpenWriter(parts: Pick<WriterParts, "store" | "clock">): EpochWriter {
  return createWriter(parts, [], () => {});
}

export function createEpochWriter({ epoch, lost, ...parts }: WriterParts): EpochWriter {
  return createWriter(parts, [ledBy(epoch)], lost);
}

/**
 * Writes that come while enough transactions are under way share the next one. A comparison that fails, fails
 * its own part only. A part waits for the transactions whose keys it puts or compares: what is under way at
 * the same time may be done in any order.
 */
function createWriter(
  { store, clock }: Pick<WriterParts, "store" | "clock">,
  guard: readonly StoreComparison[],
  lost: () => void,
): EpochWriter {
  const waiting = new Set<Waiting>();
  const underWay = new Set<readonly Waiting[]>();

  async function commit(group: readonly Waiting[]): Promise<void> {
    underWay.add(group);
    const askedAtMs = clock.monotonicMs();
    const result = await store.commit({ guard, parts: group.map(({ part }) => part) });
    underWay.delete(group);
    const results = group.map((_each, index) => resultOf(result, index, askedAtMs));
    if (results.some(({ kind }) => kind === "lost")) lost();
    for (const [index, { resolve }] of group.entries())
      resolve(results[index] ?? { kind: "unsure", askedAtMs });
    next();
  }

  function next(): void {
    while (waiting.size > 0 && underWay.size < MOST_UNDER_WAY) {
      const group = firstGroup(waiting, [...underWay].flat());
      if (group.length === 0) return;
      for (const each of group) waiting.delete(each);
      void commit(group);
    }
  }

  return {
    write: (part) =>
      new Promise((resolve) => {
        waiting.add({ part, resolve });
        next();
      }),
  };
}

function resultOf(result: CommitResult, index: number, askedAtMs: number): WriteResult {
  if (result.kind === "unsure") return { kind: "unsure", askedAtMs };
  if (result.kind === "failed") return result;
  const { revision, parts } = result;
  if (parts === null) return { kind: "lost" };
  return parts[index] === true ? { kind: "written", revision, askedAtMs } : { kind: "refused", revision };
}

/** As many of those that wait as fit, and that need not wait for what is under way or came before them. */
function firstGroup(waiting: Iterable<Waiting>, underWay: readonly Waiting[]): readonly Waiting[] {
  const group: Waiting[] = [];
  const before = createKeysInUse();
  for (const { part } of underWay) before.add(part);
  let operations = 0;
  let bytes = 0;
  for (const each of waiting) {
    const { part } = each;
    if (!before.meets(part)) {
      operations += 1 + part.when.length + part.puts.length;
      bytes += sizeOf(part);
      if (group.length > 0 && (operations > MOST_OPERATIONS || bytes > MOST_BYTES)) break;
      group.push(each);
    }
    before.add(part);
  }
  return group;
}

/** What some parts put and compare: another part meets them if their order matters. */
function createKeysInUse() {
  const put = new Set<string>();
  const compared = new Set<string>();
  const prefixes = new Set<string>();
  const isPut = (each: StoreComparison) =>
    "key" in each ? put.has(each.key) : [...put].some((key) => key.startsWith(each.prefix));
  const isCompared = (key: string) =>
    compared.has(key) || [...prefixes].some((prefix) => key.startsWith(prefix));
  return {
    add({ when, puts }: StorePart): void {
      for (const { key } of puts) put.add(key);
      for (const each of when) if ("key" in each) compared.add(each.key);
      for (const each of when) if ("prefix" in each) prefixes.add(each.prefix);
    },
    meets: ({ when, puts }: StorePart): boolean =>
      when.some(isPut) || puts.some(({ key }) => put.has(key) || isCompared(key)),
  };
}

function sizeOf({ when, puts }: StorePart): number {
  const texts = [
    ...when.map((each) => ("key" in each ? each.key : each.prefix)),
    ...puts.map(({ key, value }) => `${key}${value ?? ""}`),
  ];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + FRAME_BYTES, 0);
}
