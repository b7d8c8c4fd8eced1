import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EtcdClient } from "../../src/cluster/etcd/client.ts";
import type {
  ClusterStore,
  StoreComparison,
  StorePart,
  StorePut,
  StoreTransaction,
} from "../../src/cluster/protocol/cluster-store.ts";
import { createEtcdStore } from "../../src/cluster/store/etcd-store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd } from "./etcd-harness.ts";
import { createRandom, type Random, Simulation } from "./model/simulation.ts";
import { StoreModel } from "./model/store-model.ts";
import { observe, type Seen, storeContract } from "./store-contract.ts";

function modelLink(model: StoreModel): ClusterStore {
  return {
    commit: async (transaction) => model.apply("test", transaction),
    read: async (prefix) => model.read(prefix),
    grant: async (ttlMs) => model.grant(ttlMs),
    keepAlive: async (lease) => model.keepAlive(lease),
    watch: (from, receive) => model.watch(from, receive),
  };
}

describe("the model of the store", () => {
  storeContract(async () => {
    const sim = new Simulation();
    const model = new StoreModel(sim, () => {});
    return {
      store: modelLink(model),
      async writeBeside() {
        model.revision += 1;
      },
      async until(isTrue) {
        if (!isTrue()) await sim.play(sim.nowMs + 60_000, isTrue);
        expect(isTrue()).toBe(true);
      },
    };
  });

  it("takes no key twice, whatever the comparisons say: etcd refuses it before it compares", () => {
    const model = new StoreModel(new Simulation(), () => {});
    const put = { key: "a", value: "x" };
    const parts = [
      { when: [], puts: [put] },
      { when: [{ key: "a", created: 1 }], puts: [put] },
    ];
    expect(() => model.apply("test", { guard: [], parts })).toThrow("a key is put twice");
  });
});

describe.skipIf(!hasEtcd)("etcd", () => {
  let etcd: TestEtcd;
  let client: EtcdClient;
  let opened = 0;
  beforeAll(async () => {
    if (!hasEtcd) return;
    etcd = await startEtcd();
    client = etcd.client();
  });
  afterAll(() => etcd?.close());

  const open = (): ClusterStore => {
    opened += 1;
    return createEtcdStore({ client, prefix: `/gate/${opened}/`, clock: systemClock, log: silentLog });
  };

  describe("as a store", () => {
    storeContract(async () => ({
      store: open(),
      async writeBeside() {
        done(await client.put("/gate/beside", bytes("x")));
      },
      until: (isTrue) => expect.poll(isTrue, { interval: 5 }).toBe(true),
    }));
  });

  it.each([1, 2, 3])("answers random transactions as the model does (seed %i)", async (seed) => {
    const random = createRandom(seed);
    const sim = new Simulation();
    const model = new StoreModel(sim, () => {});
    const link = modelLink(model);
    const store = open();
    const begin = (await readOf(store)).revision;
    model.revision = begin;
    const leases: Lease[] = [];
    const watches: Array<readonly [Seen, Seen]> = [];

    for (let n = 0; n < TRANSACTIONS; n += 1) {
      if (n % 50 === 0) {
        const from = begin + 1 + random.below(model.revision - begin + 3);
        watches.push([observe(link, from), observe(store, from)]);
      }
      if (n % 20 === 0) leases.push(await grant(model, sim.nowMs, store, n + 1));
      if (random.chance(0.03)) await endOne(leases, sim, client);
      if (random.chance(0.05)) {
        model.revision += 1;
        done(await client.put("/gate/beside", bytes("x")));
      }
      const transaction = randomTransaction(random, model, leases);
      const expected = model.apply("test", transaction);
      const answer = await store.commit(withIds(transaction, leases));
      expect(answer, JSON.stringify({ n, transaction })).toEqual(expected);
      if (n % 10 === 0) expect({ ...(await readOf(store)), clusterId: "c" }).toEqual(model.read(""));
    }
    for (const [expected, seen] of watches) {
      await expect.poll(() => seen.changes.length, { interval: 5 }).toBe(expected.changes.length);
      expect(seen.changes).toEqual(expected.changes);
      seen.cancel();
    }
  });
});

const TRANSACTIONS = 500;
const KEYS = ["a", "b", "b/", "b/1", "b/2", "b0", "c/1", "c/2"];
const PREFIXES = ["", "b", "b/", "c/", "d/"];

interface Lease {
  readonly inModel: string;
  readonly id: string;
  readonly endsAtMs: number;
  isOver: boolean;
}

async function readOf(store: ClusterStore) {
  const read = await store.read("");
  if (read === null) throw new Error("there is no answer");
  return read;
}

/** A lease that ends in etcd only if it is revoked, and in the model after those before it. */
async function grant(model: StoreModel, nowMs: number, store: ClusterStore, seconds: number): Promise<Lease> {
  const id = await store.grant(3_600_000);
  if (id === null) throw new Error("no lease was granted");
  const ttlMs = seconds * 1_000;
  return { inModel: model.grant(ttlMs), id, endsAtMs: nowMs + ttlMs, isOver: false };
}

/** The one that ends first. etcd revokes a lease that expires. */
async function endOne(leases: readonly Lease[], sim: Simulation, client: EtcdClient): Promise<void> {
  const lease = leases.find(({ isOver }) => !isOver);
  if (lease === undefined) return;
  lease.isOver = true;
  await sim.play(lease.endsAtMs, () => false);
  done(await client.revokeLease(BigInt(lease.id)));
}

function withIds({ guard, parts }: StoreTransaction, leases: readonly Lease[]): StoreTransaction {
  const idOf = ({ lease, ...put }: StorePut): StorePut => {
    const id = leases.find(({ inModel }) => inModel === lease)?.id;
    return id === undefined ? put : { ...put, lease: id };
  };
  return { guard, parts: parts.map(({ when, puts }) => ({ when, puts: puts.map(idOf) })) };
}

function randomTransaction(random: Random, model: StoreModel, leases: readonly Lease[]): StoreTransaction {
  const comparisons = (most: number) =>
    Array.from({ length: random.below(most + 1) }, () => randomComparison(random, model));
  const free = [...KEYS];
  const puts = (): StorePut[] =>
    Array.from({ length: Math.min(random.below(4), free.length) }, () => {
      const [key = ""] = free.splice(random.below(free.length), 1);
      if (random.chance(0.4)) return { key, value: null };
      const lease = random.chance(0.4) ? leases[random.below(leases.length)] : undefined;
      // One that is over fails the transaction, so it is rare.
      const isUsed = lease !== undefined && (!lease.isOver || random.chance(0.05));
      const value = `${model.revision}ü${random.below(1_000)}`;
      return isUsed ? { key, value, lease: lease.inModel } : { key, value };
    });
  const parts = Array.from({ length: random.below(5) }, (): StorePart => {
    const when = comparisons(2);
    return { when, puts: puts() };
  });
  return { guard: random.chance(0.5) ? comparisons(2) : [], parts };
}

/** It holds more often than not. */
function randomComparison(random: Random, model: StoreModel): StoreComparison {
  const key = KEYS[random.below(KEYS.length)] ?? "";
  const { created, modified } = model.entries.get(key) ?? { created: 0, modified: 0 };
  const off = random.chance(0.7) ? 0 : random.below(3) - 1;
  switch (random.below(4)) {
    case 0:
      return { key, created: Math.max(0, created + off) };
    case 1:
      return { key, modified: Math.max(0, modified + off) };
    case 2:
      return { key, notAfter: Math.max(0, modified + off) };
    default: {
      const prefix = PREFIXES[random.below(PREFIXES.length)] ?? "";
      const newest = Math.max(0, ...model.read(prefix).entries.map((entry) => entry.modified));
      return { prefix, notAfter: Math.max(0, newest + off) };
    }
  }
}
