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

/** Writes what only the leader may write. */
export interface EpochWriter {
  write(part: StorePart): Promise<WriteResult>;
}

/** Writes what every member may write: without the guard of an epoch, one by one. */
export function createOpenWriter({ store, clock }: Pick<WriterParts, "store" | "clock">): EpochWriter {
  return {
    async write(part) {
      const askedAtMs = clock.monotonicMs();
      return resultOf(await store.commit({ guard: [], parts: [part] }), 0, askedAtMs);
    },
  };
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

export function ledBy(epoch: Epoch): StoreComparison {
  return { key: LEADER_KEY, created: epoch.revision };
}

/**
 * Writes that come while a transaction is under way share the next one. A comparison that fails, fails its
 * own part only.
 */
export function createEpochWriter({ store, clock, epoch, lost }: WriterParts): EpochWriter {
  let waiting: readonly Waiting[] = [];
  let isBusy = false;

  async function work(): Promise<void> {
    isBusy = true;
    while (waiting.length > 0) {
      const group = firstGroup(waiting);
      waiting = waiting.filter((each) => !group.includes(each));
      const askedAtMs = clock.monotonicMs();
      const result = await store.commit({ guard: [ledBy(epoch)], parts: group.map(({ part }) => part) });
      const results = group.map((_each, index) => resultOf(result, index, askedAtMs));
      if (results.some(({ kind }) => kind === "lost")) lost();
      for (const [index, { resolve }] of group.entries())
        resolve(results[index] ?? { kind: "unsure", askedAtMs });
    }
    isBusy = false;
  }

  return {
    write: (part) =>
      new Promise((resolve) => {
        waiting = [...waiting, { part, resolve }];
        if (!isBusy) void work();
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

/** The first of those that wait, as many as fit. A key is put once, and what waits for it keeps its order. */
function firstGroup(waiting: readonly Waiting[]): readonly Waiting[] {
  const group: Waiting[] = [];
  const keys = new Set<string>();
  let operations = 0;
  let bytes = 0;
  for (const each of waiting) {
    const { when, puts } = each.part;
    operations += 1 + when.length + puts.length;
    bytes += sizeOf(each.part);
    const isFull = operations > MOST_OPERATIONS || bytes > MOST_BYTES;
    if (group.length > 0 && (isFull || puts.some(({ key }) => keys.has(key)))) break;
    for (const { key } of puts) keys.add(key);
    group.push(each);
  }
  return group;
}

function sizeOf({ when, puts }: StorePart): number {
  const texts = [
    ...when.map((each) => ("key" in each ? each.key : each.prefix)),
    ...puts.map(({ key, value }) => `${key}${value ?? ""}`),
  ];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + FRAME_BYTES, 0);
}
