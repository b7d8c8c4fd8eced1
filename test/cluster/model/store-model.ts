import type {
  CommitResult,
  StoreChanges,
  StoreComparison,
  StoreEntry,
  StorePut,
  StoreRead,
  StoreTransaction,
} from "../../../src/cluster/protocol/cluster-store.ts";
import type { Simulation } from "./simulation.ts";

interface Lease {
  readonly ttlMs: number;
  endsAtMs: number;
}

/** Who writes, and what: called before a put is applied. */
export type OnPut = (writer: string, key: string, value: string | null) => void;

/** etcd, as far as the protocol uses it: revisions, nested transactions, leases and watches. */
export class StoreModel {
  revision = 1;
  readonly entries = new Map<string, StoreEntry>();
  private readonly leaseOf = new Map<string, string>();
  private readonly leases = new Map<string, Lease>();
  private readonly history: StoreChanges[] = [];
  private readonly watchers = new Set<(changes: StoreChanges) => void>();
  private readonly sim: Simulation;
  private readonly onPut: OnPut;
  private granted = 0;

  constructor(sim: Simulation, onPut: OnPut) {
    this.sim = sim;
    this.onPut = onPut;
  }

  /** All comparisons are made before anything is put, those of nested transactions too. */
  apply(writer: string, { guard, parts }: StoreTransaction): CommitResult {
    const keys = parts.flatMap(({ puts }) => puts.map(({ key }) => key));
    if (new Set(keys).size < keys.length) throw new Error("a key is put twice");
    if (!guard.every((each) => this.holds(each)))
      return { kind: "done", revision: this.revision, parts: null };
    const done = parts.map(({ when }) => when.every((each) => this.holds(each)));
    const puts = parts.flatMap((part, index) => (done[index] ? part.puts : []));
    if (puts.some(({ lease }) => lease !== undefined && !this.leases.has(lease))) return { kind: "failed" };
    for (const { key, value } of puts) this.onPut(writer, key, value);
    this.put(puts);
    return { kind: "done", revision: this.revision, parts: done };
  }

  read(prefix: string): StoreRead {
    const found = [...this.entries.values()].filter(({ key }) => key.startsWith(prefix));
    const entries = found.sort((one, other) => compare(one.key, other.key));
    return { clusterId: "c", revision: this.revision, entries };
  }

  grant(ttlMs: number): string {
    this.granted += 1;
    const id = `lease${this.granted}`;
    const lease = { ttlMs, endsAtMs: this.sim.nowMs + ttlMs };
    this.leases.set(id, lease);
    this.endLater(id, lease);
    return id;
  }

  keepAlive(id: string): "alive" | "gone" {
    const lease = this.leases.get(id);
    if (lease === undefined) return "gone";
    lease.endsAtMs = this.sim.nowMs + lease.ttlMs;
    return "alive";
  }

  /** As etcd does when another of its members leads. */
  renewAll(): void {
    for (const lease of this.leases.values()) lease.endsAtMs = this.sim.nowMs + lease.ttlMs;
  }

  /** Returns what ends it. */
  watch(from: number, receive: (changes: StoreChanges) => void): () => void {
    const watcher = (changes: StoreChanges) => {
      if (changes.revision >= from) receive(changes);
    };
    for (const changes of this.history) watcher(changes);
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  private holds(comparison: StoreComparison): boolean {
    if ("prefix" in comparison) {
      const { prefix, notAfter } = comparison;
      return ![...this.entries.values()].some(
        ({ key, modified }) => key.startsWith(prefix) && modified > notAfter,
      );
    }
    const entry = this.entries.get(comparison.key);
    if ("notAfter" in comparison) return (entry?.modified ?? 0) <= comparison.notAfter;
    if ("created" in comparison) return (entry?.created ?? 0) === comparison.created;
    return (entry?.modified ?? 0) === comparison.modified;
  }

  /** The revision stays if nothing changes: the removal of an absent key is none. */
  private put(puts: readonly StorePut[]): void {
    const changing = puts.filter(({ key, value }) => value !== null || this.entries.has(key));
    if (changing.length === 0) return;
    this.revision += 1;
    const { revision } = this;
    const changes = changing.map(({ key, value, lease }) => {
      const created = this.entries.get(key)?.created ?? revision;
      const entry = value === null ? null : { key, value, created, modified: revision };
      if (entry === null) this.entries.delete(key);
      else this.entries.set(key, entry);
      if (entry === null || lease === undefined) this.leaseOf.delete(key);
      else this.leaseOf.set(key, lease);
      return { key, entry };
    });
    const batch = { revision, changes };
    this.history.push(batch);
    for (const watcher of this.watchers) watcher(batch);
  }

  private endLater(id: string, lease: Lease): void {
    this.sim.after(lease.endsAtMs - this.sim.nowMs, () => {
      if (this.sim.nowMs < lease.endsAtMs) return this.endLater(id, lease);
      this.leases.delete(id);
      const ended = [...this.leaseOf].filter(([, lease]) => lease === id).map(([key]) => key);
      this.put(ended.sort(compare).map((key) => ({ key, value: null })));
    });
  }
}

function compare(one: string, other: string): number {
  return one < other ? -1 : 1;
}
