import type {
  CommitResult,
  StoreChanges,
  StoreComparison,
  StoreEntry,
  StoreRead,
  StoreTransaction,
} from "../../../src/cluster/protocol/cluster-store.ts";
import type { Simulation } from "./simulation.ts";

interface Kept extends StoreEntry {
  readonly lease: string | null;
}

interface Lease {
  readonly ttlMs: number;
  endsAtMs: number;
}

/** Who writes, and what: called before a put is applied. */
export type OnPut = (writer: string, key: string, value: string | null) => void;

/** etcd, as far as the protocol uses it: linearizable, with revisions, nested transactions, leases, watches. */
export class StoreModel {
  revision = 1;
  readonly entries = new Map<string, Kept>();
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
    if (!guard.every((each) => this.holds(each)))
      return { kind: "done", revision: this.revision, parts: null };
    const done = parts.map(({ when }) => when.every((each) => this.holds(each)));
    const puts = parts.flatMap((part, index) => (done[index] ? part.puts : []));
    if (puts.some(({ lease }) => lease !== undefined && !this.leases.has(lease))) return { kind: "failed" };
    if (new Set(puts.map(({ key }) => key)).size < puts.length) throw new Error("a key is put twice");
    for (const { key, value } of puts) this.onPut(writer, key, value);
    this.put(puts.map(({ key, value, lease = null }) => ({ key, value, lease })));
    return { kind: "done", revision: this.revision, parts: done };
  }

  read(prefix: string): StoreRead {
    const entries = [...this.entries.values()].filter(({ key }) => key.startsWith(prefix));
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

  /** Returns what ends it. */
  watch(from: number, receive: (changes: StoreChanges) => void): () => void {
    for (const changes of this.history) if (changes.revision >= from) receive(changes);
    this.watchers.add(receive);
    return () => this.watchers.delete(receive);
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

  private put(puts: readonly { key: string; value: string | null; lease: string | null }[]): void {
    if (puts.length === 0) return;
    this.revision += 1;
    const { revision } = this;
    const changes = puts.map(({ key, value, lease }) => {
      const created = this.entries.get(key)?.created ?? revision;
      const entry = value === null ? null : { key, value, created, modified: revision, lease };
      if (entry === null) this.entries.delete(key);
      else this.entries.set(key, entry);
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
      const ended = [...this.entries.values()].filter((entry) => entry.lease === id);
      this.put(ended.map(({ key }) => ({ key, value: null, lease: null })));
    });
  }
}
