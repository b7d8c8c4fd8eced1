import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EtcdClient, Page, RangeQuery } from "../../../src/cluster/etcd/client.ts";
import type { Comparison, Operation, Relation, Transaction } from "../../../src/cluster/etcd/transaction.ts";
import { freePorts } from "../../support/free-ports.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd, text } from "../etcd-harness.ts";

/** Below the time after which a silent connection is given up; a deadline that is kept is far below it. */
const IN_TIME_MS = 10_000;

let etcd: TestEtcd;
let client: EtcdClient;

beforeAll(async () => {
  if (!hasEtcd) return;
  etcd = await startEtcd();
  client = etcd.client();
});
afterAll(() => etcd?.close());

const put = (key: string, value = "x"): Operation => ({ kind: "put", key, value: bytes(value) });
const absent = (key: string): Comparison => ({ key, target: "create_revision", is: "equal", to: 0n });
const nested = (transaction: Transaction): Operation => ({ kind: "transaction", transaction });

async function read(key: string): Promise<string | null> {
  const { value } = done(await client.range({ keys: { key } }));
  const [entry] = value.entries;
  return entry === undefined ? null : text(entry.value);
}

describe.skipIf(!hasEtcd)("a transaction", () => {
  it("does each nested one by its own comparisons", async () => {
    done(await client.put("group/2", bytes("was here")));
    const { value, header } = done(
      await client.txn({
        compare: [absent("group/leader")],
        success: ["group/1", "group/2", "group/3"].map((key) =>
          nested({
            compare: [absent(key)],
            success: [put(key, "mine")],
            failure: [{ kind: "range", keys: { key } }],
          }),
        ),
      }),
    );
    expect(value.succeeded).toBe(true);
    expect(value.results).toMatchObject([
      { result: { succeeded: true, results: [{ kind: "put" }] } },
      { result: { succeeded: false, results: [{ kind: "range", entries: [{ key: "group/2" }] }] } },
      { result: { succeeded: true } },
    ]);
    const { entries } = done(await client.range({ keys: { prefix: "group/" } })).value;
    expect(entries.map((entry) => [entry.key, text(entry.value)])).toEqual([
      ["group/1", "mine"],
      ["group/2", "was here"],
      ["group/3", "mine"],
    ]);
    expect(entries[0]).toMatchObject({ createRevision: header.revision, version: 1n, lease: 0n });
  });

  it("compares every target by every relation", async () => {
    const lease = done(await client.grantLease(60)).value.id;
    done(await client.put("compared", bytes("a")));
    done(await client.put("compared", bytes("m"), lease));
    const [entry] = done(await client.range({ keys: { key: "compared" } })).value.entries;
    if (entry === undefined) throw new Error("nothing was stored");
    expect(entry).toMatchObject({ version: 2n, lease, createRevision: entry.modRevision - 1n });
    const numbers = {
      create_revision: entry.createRevision,
      mod_revision: entry.modRevision,
      version: 2n,
      lease,
    };
    const holds: Readonly<Record<Relation, readonly boolean[]>> = {
      // Of what is stored, against one less, itself and one more.
      equal: [false, true, false],
      not_equal: [true, false, true],
      greater: [true, false, false],
      less: [false, false, true],
    };
    for (const is of ["equal", "not_equal", "greater", "less"] as const) {
      for (const target of ["create_revision", "mod_revision", "version", "lease"] as const) {
        const found = [-1n, 0n, 1n].map(async (by) => {
          const compare = [{ key: "compared", target, is, to: numbers[target] + by }];
          return done(await client.txn({ compare })).value.succeeded;
        });
        expect(await Promise.all(found), `${target} ${is}`).toEqual(holds[is]);
      }
      const found = ["l", "m", "n"].map(async (to) => {
        const compare = [{ key: "compared", target: "value" as const, is, to: bytes(to) }];
        return done(await client.txn({ compare })).value.succeeded;
      });
      expect(await Promise.all(found), `value ${is}`).toEqual(holds[is]);
    }
    done(await client.revokeLease(lease));
    expect(await read("compared")).toBeNull();
  });

  it("deletes by prefix, and nothing beside it", async () => {
    done(await client.txn({ success: [put("del/a"), put("del/b"), put("del0"), put("del")] }));
    const removal = done(await client.txn({ success: [{ kind: "delete", keys: { prefix: "del/" } }] }));
    expect(removal.value.results).toEqual([{ kind: "delete", deleted: 2n }]);
    const { entries } = done(await client.range({ keys: { prefix: "del" } })).value;
    expect(entries.map(({ key }) => key)).toEqual(["del", "del0"]);
  });

  it("is refused before it is sent if it is too large, and only then", async () => {
    const many = (count: number, of = (n: number) => put(`many/${n}`)) =>
      Array.from({ length: count }, (_, n) => of(n));
    const one = (n: number) => nested({ success: [put(`many/${n}`)] });
    const fits: Transaction[] = [
      { success: many(128) },
      { success: many(127, one) },
      { success: [put("large", "x".repeat(1_499_900))] },
    ];
    for (const transaction of fits) done(await client.txn(transaction));

    const { header } = done(await client.range({ keys: { key: "many/0" } }));
    const tooLarge: ReadonlyArray<readonly [Transaction, RegExp]> = [
      [{ success: many(129) }, /a transaction of 129 operations, and etcd takes 128 \(TOO_LARGE\); split it/],
      [{ compare: many(129).map((_, n) => absent(`many/${n}`)) }, /129 operations/],
      [{ failure: many(128, one) }, /a nested transaction of 1 operations, .* leave room for 0/],
      [{ success: [put("large", "x".repeat(1_500_001))] }, /a transaction of 1500\d+ bytes/],
    ];
    for (const [transaction, message] of tooLarge) {
      expect(await client.txn(transaction)).toMatchObject({
        kind: "failed",
        fault: { endpoint: null, code: "TOO_LARGE", message: expect.stringMatching(message) },
      });
    }
    expect(done(await client.range({ keys: { key: "many/0" } })).header.revision).toBe(header.revision);
  });

  it("is failed, not unsure, if etcd refuses it", async () => {
    const [endpoint] = etcd.endpoints;
    const refused = [
      [await client.txn({ success: [put("twice"), put("twice")] }), "DUPLICATE_KEY"],
      [await client.put("leased", bytes("x"), 12345n), "NO_LEASE"],
      [await client.revokeLease(12345n), "NO_LEASE"],
      [await client.compact(1_000_000n), "OUT_OF_RANGE"],
    ] as const;
    for (const [outcome, code] of refused) expect(outcome).toMatchObject({ kind: "failed", fault: { code } });
    expect(refused[1][0]).toMatchObject({
      fault: {
        endpoint,
        message: `etcd at ${endpoint}: etcdserver: requested lease not found (NO_LEASE); grant a lease anew`,
      },
    });
    expect(await read("leased")).toBeNull();
  });
});

describe.skipIf(!hasEtcd)("a range", () => {
  it("is read in pages of one revision, whatever is written meanwhile", async () => {
    const keys = Array.from({ length: 25 }, (_, n) => `page/${String(n).padStart(2, "0")}`);
    done(await client.txn({ success: keys.map((key) => put(key)) }));
    const found: string[] = [];
    const sizes: number[] = [];
    for (let query: RangeQuery | null = { keys: { prefix: "page/" }, limit: 10 }; query !== null; ) {
      const value: Page = done(await client.range(query)).value;
      found.push(...value.entries.map(({ key }) => key));
      sizes.push(value.entries.length);
      done(await client.txn({ success: [put("page/99"), { kind: "delete", keys: { key: "page/24" } }] }));
      query = value.next;
    }
    expect(found).toEqual(keys);
    expect(sizes).toEqual([10, 10, 5]);
  });

  it("shows an older revision until that is compacted", async () => {
    const { revision } = done(await client.put("old", bytes("first"))).header;
    const { revision: second } = done(await client.put("old", bytes("second"))).header;
    const { entries } = done(await client.range({ keys: { key: "old" }, revision })).value;
    expect(entries.map(({ value }) => text(value))).toEqual(["first"]);
    done(await client.compact(second));
    expect(await client.range({ keys: { key: "old" }, revision })).toMatchObject({
      kind: "failed",
      fault: { code: "COMPACTED", message: expect.stringMatching(/read everything anew/) },
    });
  });
});

describe.skipIf(!hasEtcd)("a lease", () => {
  it("takes its keys along when it expires, and can be renewed before", async () => {
    // Longer than a busy machine needs until it is renewed and read.
    const { id, ttlS } = done(await client.grantLease(3)).value;
    done(await client.put("leased/a", bytes("x"), id));
    expect(done(await client.keepLeaseAlive(id)).value).toEqual({ ttlS });
    expect(done(await client.leaseTimeToLive(id)).value).toBeLessThanOrEqual(ttlS);
    expect(await read("leased/a")).toBe("x");
    await expect.poll(() => read("leased/a"), { interval: 100 }).toBeNull();
    expect(done(await client.leaseTimeToLive(id)).value).toBeNull();
    expect(await client.keepLeaseAlive(id)).toMatchObject({ kind: "failed", fault: { code: "NO_LEASE" } });
  });
});

describe.skipIf(!hasEtcd)("the members", () => {
  it("tell their status, their names and their alarms", async () => {
    const [endpoint = ""] = etcd.endpoints;
    const { value, header } = done(await client.status(endpoint));
    expect(value).toMatchObject({ memberId: header.memberId, leaderId: header.memberId, errors: [] });
    expect(value.version).toMatch(/^3\./);
    expect(value.storeBytes).toBeGreaterThan(0);
    const [member] = done(await client.members()).value;
    expect(member).toMatchObject({ memberId: value.memberId });
    expect(done(await client.alarms()).value).toEqual([]);
  });

  it("that have no space say so: a write may have been applied then", async () => {
    const small = await startEtcd({ options: ["--quota-backend-bytes", String(128 * 1024)] });
    try {
      const own = small.client();
      const write = () => own.put("filler", new Uint8Array(40_000));
      let outcome = await write();
      for (let n = 0; n < 100 && outcome.kind === "done"; n += 1) outcome = await write();
      expect(outcome).toMatchObject({
        kind: "unsure",
        fault: { code: "NO_SPACE", message: expect.stringMatching(/defragment/) },
      });
      const { memberId } = done(await own.status(small.endpoints[0] ?? "")).value;
      expect(done(await own.alarms()).value).toEqual([{ memberId, kind: "NOSPACE" }]);
    } finally {
      await small.close();
    }
  });
});

describe.skipIf(!hasEtcd)("a write", () => {
  let proxy: TcpProxy;
  let cut: EtcdClient;
  beforeAll(async () => {
    if (!hasEtcd) return;
    proxy = await startTcpProxy(() => etcd.endpoints[0] ?? "");
    cut = etcd.client({ endpoints: [`127.0.0.1:${proxy.port}`], deadlineMs: 500 });
  });
  afterAll(() => proxy?.close());

  it("whose answer is held back is unsure, and was applied once", async () => {
    await expect.poll(async () => (await cut.put("unsure/a", bytes("before"))).kind).toBe("done");
    const [before] = done(await client.range({ keys: { key: "unsure/a" } })).value.entries;
    proxy.stall("answers");
    const beganAt = performance.now();
    expect(await cut.put("unsure/a", bytes("after"))).toMatchObject({
      kind: "unsure",
      fault: { code: "DEADLINE_EXCEEDED", endpoint: `127.0.0.1:${proxy.port}` },
    });
    expect(performance.now() - beganAt).toBeLessThan(IN_TIME_MS);
    await proxy.repair();
    const [entry] = done(await client.range({ keys: { key: "unsure/a" } })).value.entries;
    expect(entry).toMatchObject({ version: (before?.version ?? 0n) + 1n, value: Buffer.from("after") });
  });

  it("that is held back itself is unsure too, and was not applied", async () => {
    await expect.poll(async () => (await cut.range({ keys: { key: "unsure/b" } })).kind).toBe("done");
    proxy.stall("everything");
    expect(await cut.put("unsure/b", bytes("x"))).toMatchObject({ kind: "unsure" });
    await proxy.repair();
    expect(await read("unsure/b")).toBeNull();
  });

  it("whose connection breaks before the answer is unsure", async () => {
    // It ends by the cut, and not by its deadline.
    const patient = etcd.client({ endpoints: [`127.0.0.1:${proxy.port}`], deadlineMs: 20_000 });
    await expect.poll(async () => (await patient.range({ keys: { key: "unsure/c" } })).kind).toBe("done");
    proxy.stall("answers");
    const before = proxy.withheld();
    const write = patient.put("unsure/c", bytes("x"));
    await expect.poll(() => proxy.withheld(), { interval: 5 }).toBeGreaterThan(before);
    await proxy.repair();
    expect(await write).toMatchObject({ kind: "unsure", fault: { code: "UNAVAILABLE" } });
    expect(await read("unsure/c")).toBe("x");
  });

  it("that cannot leave has failed, at once, with the reason", async () => {
    await proxy.unplug();
    await expect
      .poll(() => cut.put("unsure/d", bytes("x")))
      .toMatchObject({
        kind: "failed",
        fault: {
          code: "NO_CONNECTION",
          message: expect.stringMatching(/ECONNREFUSED .*look whether etcd runs there/),
        },
      });
    await proxy.plug();
    await expect.poll(async () => (await cut.put("unsure/d", bytes("x"))).kind).toBe("done");
  });

  it("has failed if the client is closed, and if nobody was ever there", async () => {
    const port = await freePorts(1);
    const nowhere = etcd.client({ endpoints: [`127.0.0.1:${port}`], deadlineMs: 30_000 });
    const beganAt = performance.now();
    expect(await nowhere.grantLease(5)).toMatchObject({ kind: "failed" });
    expect(performance.now() - beganAt).toBeLessThan(IN_TIME_MS);
    const closed = etcd.client();
    done(await closed.put("closed", bytes("x")));
    closed.close();
    expect(await closed.put("closed", bytes("y"))).toMatchObject({ kind: "failed" });
  });
});
