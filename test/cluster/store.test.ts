import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { EtcdClient } from "../../src/cluster/etcd/client.ts";
import type { ClusterStore, CommitResult, StoreEntry } from "../../src/cluster/protocol/cluster-store.ts";
import { createEtcdStore } from "../../src/cluster/store/etcd-store.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd, type TestMember } from "./etcd-harness.ts";
import { observe, part, put } from "./store-contract.ts";

const storeOf = (client: EtcdClient, prefix = "/gate/1/", log = silentLog) =>
  createEtcdStore({ client, prefix, clock: systemClock, log });
const write = (store: ClusterStore, key: string) => store.commit({ guard: [], parts: [part([put(key)])] });
const kindOf = async (result: Promise<CommitResult>) => (await result).kind;

const noAnswer = { endpoint: null, code: "DEADLINE_EXCEEDED", what: "", advice: "", message: "no answer" };
/** As long as `expect.poll` waits; `vi.waitFor` waits for a second. */
const SOON = 20_000;

async function revisionOf(store: ClusterStore): Promise<number> {
  const read = await store.read("");
  if (read === null) throw new Error("there is no answer");
  return read.revision;
}

describe.skipIf(!hasEtcd)("a store in etcd", () => {
  let etcd: TestEtcd;
  let client: EtcdClient;
  beforeAll(async () => {
    if (!hasEtcd) return;
    etcd = await startEtcd();
    client = etcd.client();
  });
  afterAll(() => etcd?.close());

  it("keeps its keys under its prefix, and sees no others", async () => {
    const store = storeOf(client, "/own/1/");
    for (const key of ["/own/10/a", "/own/1", "/own/1a"]) done(await client.put(key, bytes("x")));
    await write(store, "a/b");
    const { entries } = done(await client.range({ keys: { key: "/own/1/a/b" } })).value;
    expect(entries).toHaveLength(1);
    expect((await store.read(""))?.entries.map(({ key }) => key)).toEqual(["a/b"]);
  });

  it("reads many keys at one revision, whatever is written meanwhile", async () => {
    const store = storeOf(client, "/many/");
    const keys = Array.from({ length: 1_200 }, (_, n) => `k${String(n).padStart(4, "0")}`);
    for (let from = 0; from < keys.length; from += 100) {
      const parts = [part(keys.slice(from, from + 100).map((key) => put(key)))];
      expect(await store.commit({ guard: [], parts })).toMatchObject({ kind: "done" });
    }
    const revision = await revisionOf(store);
    const [read] = await Promise.all([
      store.read(""),
      ...[0, 600, 1_199].map((n) => write(store, keys[n] ?? "")),
    ]);
    expect(read?.entries.map(({ key }) => key)).toEqual(keys);
    expect(read?.revision).toBeGreaterThanOrEqual(revision);
    const newest = Math.max(...(read?.entries ?? []).map(({ modified }) => modified));
    expect(newest).toBeLessThanOrEqual(read?.revision ?? 0);
  });

  it("asks again for a page that gets no answer, and does not begin anew", async () => {
    const keys = Array.from({ length: 1_200 }, (_, n) => `k${String(n).padStart(4, "0")}`);
    for (let from = 0; from < keys.length; from += 100) {
      const parts = [part(keys.slice(from, from + 100).map((key) => put(key)))];
      await storeOf(client, "/pages/").commit({ guard: [], parts });
    }
    const asked: (number | undefined)[] = [];
    // Every second one gets none.
    const slow: EtcdClient = {
      ...client,
      range(query) {
        asked.push(query.limit);
        const isLost = asked.length % 2 === 0;
        return isLost ? Promise.resolve({ kind: "failed", fault: noAnswer }) : client.range(query);
      },
    };
    const read = await storeOf(slow, "/pages/").read("");
    expect(read?.entries.map(({ key }) => key)).toEqual(keys);
    expect(asked).toEqual([500, 1_000, 500, 1_000, 500]);
    const compacted = { ...noAnswer, code: "COMPACTED" };
    const gone: EtcdClient = {
      ...client,
      range: (query) =>
        query.from === undefined
          ? client.range(query)
          : Promise.resolve({ kind: "failed", fault: compacted }),
    };
    expect(await storeOf(gone, "/pages/").read("")).toBeNull();
  });

  it("reads a long journal in few pages, and no longer ones than a large one", async () => {
    const limitsOf = async (prefix: string, count: number, value: string) => {
      const limits: (number | undefined)[] = [];
      const watched: EtcdClient = {
        ...client,
        range(query) {
          limits.push(query.limit);
          return client.range(query);
        },
      };
      for (let from = 0; from < count; from += 100) {
        const puts = Array.from({ length: 100 }, (_, n) => put(String(from + n).padStart(4, "0"), value));
        await storeOf(client, prefix).commit({ guard: [], parts: [part(puts)] });
      }
      expect((await storeOf(watched, prefix).read(""))?.entries.length).toBe(count);
      return limits;
    };
    expect(await limitsOf("/long/", 3_600, "1")).toEqual([500, 1_000, 2_000, 4_000]);
    expect(await limitsOf("/large/", 1_600, "x".repeat(6_000))).toEqual([500, 500, 500, 500]);
  });

  it("fails what etcd refuses", async () => {
    const store = storeOf(client, "/refused/");
    const revision = await revisionOf(store);
    const twice = [part([put("a")]), part([put("a")], [{ key: "a", created: 1 }])];
    expect(await store.commit({ guard: [], parts: twice })).toEqual({ kind: "failed" });
    const large = [part([put("b", "x".repeat(2_000_000))])];
    expect(await store.commit({ guard: [], parts: large })).toEqual({ kind: "failed" });
    expect(await revisionOf(store)).toBe(revision);
  });

  it("ends a watch that is behind a compaction, once", async () => {
    const store = storeOf(client, "/compacted/");
    await write(store, "a");
    await write(store, "a");
    const revision = await revisionOf(store);
    done(await client.compact(BigInt(revision)));
    const behind = observe(store, revision - 1);
    const cancelled = observe(store, revision - 1);
    const there = observe(store, revision);
    cancelled.cancel();
    await expect.poll(() => behind.ends).toBe(1);
    behind.cancel();
    await expect.poll(() => there.changes.length).toBe(1);
    await write(store, "a");
    await expect.poll(() => there.changes.length).toBe(2);
    expect([behind.ends, cancelled.ends, there.ends]).toEqual([1, 0, 0]);
    expect([...behind.changes, ...cancelled.changes]).toEqual([]);
    there.cancel();
  });

  it("names the key of each value that no gateway has written, once and not without end", async () => {
    const errors: object[] = [];
    const store = storeOf(client, "/foreign/", { ...silentLog, error: (fields) => void errors.push(fields) });
    const written = ["{}", "[1]", "7", "-1.5", '"text"', "null", "true"];
    for (const [index, text] of written.entries())
      done(await client.put(`/foreign/right${index}`, bytes(text)));
    await store.read("");
    expect(errors).toEqual([]);
    for (const key of ["beat", "led"]) done(await client.put(`/foreign/${key}`, bytes("not json")));
    // Whoever writes there again and again does not fill the log.
    for (let time = 0; time < 3; time += 1) await store.read("");
    expect(errors).toEqual([{ key: "/foreign/beat" }, { key: "/foreign/led" }]);
    for (let at = 0; at < 30; at += 1) done(await client.put(`/foreign/x${at}`, bytes("not json")));
    await store.read("");
    expect(errors).toHaveLength(20);
  });

  it("leaves a commit unsure, says so once, and ends its watches, if another cluster answers", async () => {
    const other = await startEtcd();
    let target = etcd.endpoints[0] ?? "";
    const proxy = await startTcpProxy(() => target);
    try {
      const endpoints = [`127.0.0.1:${proxy.port}`];
      const errors: string[] = [];
      const log = { ...silentLog, error: (_fields: object, message: string) => void errors.push(message) };
      const store = storeOf(etcd.client({ endpoints, deadlineMs: 500 }), "/moved/", log);
      const lease = (await store.grant(60_000)) ?? "";
      const before = await store.read("");
      const seen = observe(store, (before?.revision ?? 0) + 1);
      await write(store, "a");
      await expect.poll(() => seen.changes.length).toBe(1);

      await proxy.unplug();
      target = other.endpoints[0] ?? "";
      await proxy.plug();
      await expect.poll(async () => (await store.read(""))?.clusterId).toMatch(/^\d+$/);
      expect((await store.read(""))?.clusterId).not.toBe(before?.clusterId);
      expect(await write(store, "b")).toEqual({ kind: "unsure" });
      const guard = [{ key: "leader", created: 1 }];
      expect(await store.commit({ guard, parts: [] })).toEqual({ kind: "unsure" });
      expect(await store.grant(60_000)).toBeNull();
      expect(await store.keepAlive(lease)).not.toBe("alive");
      await expect.poll(() => seen.ends).toBe(1);
      const late = observe(store, 1);
      await expect.poll(() => late.ends).toBe(1);
      expect([seen.changes.length, late.changes.length]).toEqual([1, 0]);
      expect(errors).toEqual(["etcd is another one than before, or was restored"]);
    } finally {
      await proxy.close();
      await other.close();
    }
  });
});

it.skipIf(!hasEtcd)("a store that was restored under its cluster id is found by its revision", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-restored-"));
  const [data, copy] = [join(folder, "data"), join(folder, "copy")];
  const etcd = await startEtcd({ options: ["--data-dir", data] });
  const [member] = etcd.members as [TestMember];
  try {
    const store = storeOf(etcd.client({ deadlineMs: 1_000 }));
    await write(store, "a");
    await member.kill();
    cpSync(data, copy, { recursive: true });
    await member.start();
    await expect.poll(() => kindOf(write(store, "b"))).toBe("done");
    const before = await store.read("");
    const seen = observe(store, (before?.revision ?? 0) + 1);

    await member.kill();
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    await member.start();
    await expect.poll(() => kindOf(store.commit({ guard: [], parts: [] }))).not.toBe("failed");
    expect(await store.commit({ guard: [], parts: [] })).toEqual({ kind: "unsure" });
    expect(seen.ends).toBe(1);
    const after = await store.read("");
    expect(after?.clusterId).toBe(before?.clusterId);
    expect(after?.revision).toBeLessThan(before?.revision ?? 0);
  } finally {
    await etcd.close();
    rmSync(folder, { recursive: true });
  }
});

describe.skipIf(!hasEtcd)("three members", () => {
  let etcd: TestEtcd;
  let prefixes = 0;
  beforeAll(async () => {
    if (hasEtcd) etcd = await startEtcd({ members: 3 });
  });
  afterAll(() => etcd?.close());

  /** A store of its own, once etcd has elected its leader. */
  async function open(endpoints = etcd.endpoints): Promise<ClusterStore> {
    prefixes += 1;
    const store = storeOf(etcd.client({ endpoints, deadlineMs: 1_000 }), `/gate/${prefixes}/`);
    await expect.poll(() => kindOf(write(store, "first"))).toBe("done");
    return store;
  }

  /** The member that leads etcd, and the others. */
  async function byRole(): Promise<readonly [TestMember, ...TestMember[]]> {
    const client = etcd.client();
    const statuses = await Promise.all(
      etcd.members.map(async (member) => ({ member, ...done(await client.status(member.endpoint)).value })),
    );
    const leader = statuses.find(({ memberId, leaderId }) => memberId === leaderId)?.member;
    if (leader === undefined) throw new Error("etcd has no leader");
    return [leader, ...etcd.members.filter((member) => member !== leader)];
  }

  it("prove no guard while one of them is alone, though it does not know that yet", async () => {
    for (const pick of [0, 1]) {
      await open();
      const members = await byRole();
      const alone = members[pick] as TestMember;
      const store = await open([alone.endpoint]);
      const others = members.filter((member) => member !== alone);
      await Promise.all(others.map((member) => member.pause()));
      try {
        const [proof, read] = await Promise.all([
          store.commit({ guard: [{ key: "absent", created: 0 }], parts: [] }),
          store.read(""),
        ]);
        expect([proof, read]).toEqual([{ kind: "unsure" }, null]);
      } finally {
        for (const member of others) member.resume();
      }
    }
  });

  /** Writes keys of their own, four at a time, and finds out what became of each. */
  function load(store: ClusterStore) {
    const results = new Map<string, CommitResult>();
    let isOver = false;
    const worker = async (name: number) => {
      for (let n = 0; !isOver; n += 1) {
        const key = `load/${name}/${n}`;
        const parts = [part([put(key)], [{ key, created: 0 }])];
        results.set(key, await store.commit({ guard: [{ key: "first", notAfter: 1e9 }], parts }));
      }
    };
    const workers = [0, 1, 2, 3].map(worker);
    const count = (kind: CommitResult["kind"]) => [...results.values()].filter((each) => each.kind === kind);
    return {
      results,
      /** Waits until many more are done. */
      async goesOn() {
        const before = count("done").length;
        await expect
          .poll(() => count("done").length, { timeout: 10_000, interval: 10 })
          .toBeGreaterThan(before + 40);
      },
      async end() {
        isOver = true;
        await Promise.all(workers);
      },
    };
  }

  it.each([
    ["its leader killed", 0, "kill"],
    ["a follower killed", 1, "kill"],
    ["its leader paused", 0, "pause"],
    ["a follower paused", 1, "pause"],
  ] as const)("tell what became of each commit, with %s", async (_name, pick, fault) => {
    await open();
    const members = await byRole();
    const faulty = members[pick] as TestMember;
    // The first one is asked first: it is the one that fails.
    const order = [faulty, ...members.filter((member) => member !== faulty)];
    const store = await open(order.map(({ endpoint }) => endpoint));
    const seen = observe(store, 1);
    const loaded = load(store);
    await loaded.goesOn();
    await faulty[fault]();
    await loaded.goesOn();
    if (fault === "kill") await faulty.start();
    else faulty.resume();
    await loaded.goesOn();
    await loaded.end();
    // What the member still had comes before what it is asked now.
    const last = await open([faulty.endpoint]);
    await expect.poll(() => last.read("")).not.toBeNull();

    let entries = new Map<string, StoreEntry>();
    // A commit that is unsure may come between the read and the watch.
    await vi.waitFor(async () => {
      const read = await store.read("load/");
      entries = new Map(read?.entries.map((entry) => [entry.key, entry]));
      const stored = [...entries.values()].sort((one, other) => one.modified - other.modified);
      expect(seen.changes.slice(1)).toEqual(
        stored.map((entry) => ({ revision: entry.modified, changes: [{ key: entry.key, entry }] })),
      );
    }, SOON);
    const wrong = [...loaded.results].filter(([key, result]) => {
      const entry = entries.get(key);
      if (result.kind === "done") return entry?.modified !== result.revision || result.parts?.[0] !== true;
      return result.kind === "failed" && entry !== undefined;
    });
    expect(wrong).toEqual([]);
    expect(seen.ends).toBe(0);
    seen.cancel();
  });

  it("answer nothing without a majority, each call in its time, and go on with it", async () => {
    const store = await open();
    const lease = (await store.grant(60_000)) ?? "";
    const [, one, other] = await byRole();
    const lost = [one, other] as TestMember[];
    await Promise.all(lost.map((member) => member.kill()));
    const beganAt = performance.now();
    const answers = await Promise.all([
      store.commit({ guard: [{ key: "absent", created: 0 }], parts: [] }),
      write(store, "a"),
      store.read(""),
      store.grant(60_000),
      store.keepAlive(lease),
    ]);
    expect(performance.now() - beganAt).toBeLessThan(10_000);
    for (const answer of answers.slice(0, 2)) {
      expect(["failed", "unsure"]).toContain((answer as CommitResult).kind);
    }
    expect(answers.slice(2, 4)).toEqual([null, null]);
    // Once the one that is left knows that it is alone, it refuses, and nothing of that comes later.
    // What it answered before that is unsure: each question has a key of its own.
    let asked = 0;
    const ask = () => {
      asked += 1;
      return write(store, `asked${asked}`);
    };
    await expect.poll(ask).toEqual({ kind: "failed" });
    await Promise.all(lost.map((member) => member.start()));
    await expect.poll(() => kindOf(write(store, "last"))).toBe("done");
    expect((await store.read(`asked${asked}`))?.entries).toEqual([]);
    expect(await store.keepAlive(lease)).toBe("alive");
  });
});
