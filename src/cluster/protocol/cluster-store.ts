import type { Cancel } from "../../platform/clock.ts";

/** A key of the store, with the revisions of its creation and of its last change. */
export interface StoreEntry {
  readonly key: string;
  readonly value: string;
  readonly created: number;
  readonly modified: number;
}

/** A condition of a transaction. Of a key that is absent both revisions are 0. */
export type StoreComparison =
  | { readonly key: string; readonly created: number }
  | { readonly key: string; readonly modified: number }
  /** It was not written after the revision. A removal is not seen. */
  | { readonly key: string; readonly notAfter: number }
  /** The same of all keys that begin so. */
  | { readonly prefix: string; readonly notAfter: number };

/** `value` null removes the key. A key with a lease ends with it. */
export interface StorePut {
  readonly key: string;
  readonly value: string | null;
  readonly lease?: string;
}

/** A nested transaction: it puts all, if all its comparisons hold. */
export interface StorePart {
  readonly when: readonly StoreComparison[];
  readonly puts: readonly StorePut[];
}

/** If the guard does not hold, none of the parts is looked at. No key is put twice. */
export interface StoreTransaction {
  readonly guard: readonly StoreComparison[];
  readonly parts: readonly StorePart[];
}

export type CommitResult =
  /** `parts`: which of them have put; null: the guard did not hold. `revision`: the store's afterwards. */
  | { readonly kind: "done"; readonly revision: number; readonly parts: readonly boolean[] | null }
  /** It was not applied, and will not be. */
  | { readonly kind: "failed" }
  /** It was applied, was not, or will be: only the store knows. */
  | { readonly kind: "unsure" };

/** What a linearizable read has found at one revision. */
export interface StoreRead {
  readonly clusterId: string;
  readonly revision: number;
  readonly entries: readonly StoreEntry[];
}

/** The changes of one revision. `entry` null: the key was removed. */
export interface StoreChanges {
  readonly revision: number;
  readonly changes: readonly { readonly key: string; readonly entry: StoreEntry | null }[];
}

/** The replicated store, as the protocol needs it. No call rejects, and each ends within its own time. */
export interface ClusterStore {
  commit(transaction: StoreTransaction): Promise<CommitResult>;
  /** The keys that begin with `prefix`; null: no answer. */
  read(prefix: string): Promise<StoreRead | null>;
  /** A new lease; null: there may be one, but nobody knows it. */
  grant(ttlMs: number): Promise<string | null>;
  keepAlive(lease: string): Promise<"alive" | "gone" | null>;
  /** Passes the changes from this revision on, in their order, until it ends or is cancelled. */
  watch(from: number, receive: (changes: StoreChanges) => void, ended: () => void): Cancel;
}
