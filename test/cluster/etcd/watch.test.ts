import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { EtcdClient } from "../../../src/cluster/etcd/client.ts";
import type { WatchEnd, WatchEvent } from "../../../src/cluster/etcd/watch.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd, text } from "../etcd-harness.ts";

/** What a watch has said. */
interface Seen {
  readonly events: WatchEvent[];
  readonly batches: number[];
  readonly connected: string[];
  readonly ends: WatchEnd[];
  close(): void;
}

function watch(client: EtcdClient, prefix: string, fromRevision: bigint): Seen {
  const events: WatchEvent[] = [];
  const batches: number[] = [];
  const connected: string[] = [];
  const ends: WatchEnd[] = [];
  const close = client.watch(
    { prefix, fromRevision },
    {
      onConnected: (endpoint) => connected.push(endpoint),
      onEvents(batch, header) {
        events.push(...batch);
        batches.push(batch.length);
        expect(header.revision).toBeGreaterThanOrEqual(batch.at(-1)?.revision ?? 0n);
      },
      onEnded: (end) => ends.push(end),
    },
  );
  return { events, batches, connected, ends, close };
}

const keysOf = ({ events }: Seen) =>
  events.map((event) => (event.kind === "put" ? event.entry.key : event.key));

describe.skipIf(!hasEtcd)("a watch", () => {
  let etcd: TestEtcd;
  let client: EtcdClient;
  let proxy: TcpProxy;
  let proxied: EtcdClient;
  beforeAll(async () => {
    if (!hasEtcd) return;
    // A progress message every 200 ms, which etcd sends every ten minutes otherwise.
    etcd = await startEtcd({ options: ["--experimental-watch-progress-notify-interval", "200ms"] });
    client = etcd.client();
  });
  afterAll(() => etcd?.close());
  beforeEach(async () => {
    if (!hasEtcd) return;
    proxy = await startTcpProxy(() => etcd.endpoints[0] ?? "");
    proxied = etcd.client({ endpoints: [`127.0.0.1:${proxy.port}`], deadlineMs: 300 });
  });
  afterEach(async () => {
    proxied?.close();
    await proxy?.close();
  });

  const revision = async () => done(await client.range({ keys: { key: "-" } })).header.revision;

  it("hands out what was and what comes, in order, with deletions", async () => {
    const { revision: first } = done(await client.put("seen/a", bytes("1"))).header;
    done(await client.put("other", bytes("1")));
    const seen = watch(client, "seen/", first);
    await expect.poll(() => seen.events.length).toBe(1);
    const { header } = done(
      await client.txn({
        success: [
          { kind: "put", key: "seen/b", value: bytes("2") },
          { kind: "delete", keys: { key: "seen/a" } },
        ],
      }),
    );
    await expect.poll(() => seen.events.length).toBe(3);
    expect(seen.events).toMatchObject([
      { kind: "put", revision: first, entry: { key: "seen/a", createRevision: first } },
      { kind: "put", revision: header.revision, entry: { key: "seen/b" } },
      { kind: "delete", revision: header.revision, key: "seen/a" },
    ]);
    expect(seen.batches).toEqual([1, 2]);
    seen.close();
    done(await client.put("seen/c", bytes("3")));
    const later = watch(client, "seen/c", first);
    await expect.poll(() => later.events.length).toBe(1);
    expect(seen.events.length).toBe(3);
    expect(seen.ends).toEqual([]);
  });

  it("puts the parts of a long message together", async () => {
    const from = (await revision()) + 1n;
    for (let n = 0; n < 6; n += 1) done(await client.put(`long/${n}`, new Uint8Array(1_000_000)));
    const seen = watch(client, "long/", from);
    await expect.poll(() => seen.events.length).toBe(6);
    // etcd cuts a message of 6 MB into parts, and only the last one makes it whole.
    expect(seen.batches).toEqual([6]);
  });

  it("says which revision is compacted, if it falls behind", async () => {
    const { revision: first } = done(await client.put("behind", bytes("1"))).header;
    done(await client.put("behind", bytes("2")));
    const { revision: last } = done(await client.put("behind", bytes("3"))).header;
    done(await client.compact(last));
    const seen = watch(client, "behind", first);
    await expect.poll(() => seen.ends).toEqual([{ kind: "compacted", revision: last }]);
    expect(seen.events).toEqual([]);
  });

  it("is told how far it is while nothing happens, so that a compaction does not end it", async () => {
    const seen = watch(proxied, "quiet/", (await revision()) + 1n);
    await expect.poll(() => seen.connected.length).toBe(1);
    let last = 0n;
    for (let n = 0; n < 3; n += 1) last = done(await client.put("busy", bytes(String(n)))).header.revision;
    // Only progress messages come, one in each of etcd's intervals, and a watch hands out none of them.
    const before = proxy.answers();
    await expect.poll(() => proxy.answers()).toBeGreaterThan(before + 1);
    done(await client.compact(last));
    proxy.cut();
    await expect.poll(() => seen.connected.length).toBe(2);
    done(await client.put("quiet/a", bytes("x")));
    await expect.poll(() => keysOf(seen)).toEqual(["quiet/a"]);
    expect(seen.ends).toEqual([]);
  });

  it("goes on without a gap and nothing twice, however often the connection breaks", async () => {
    const seen = watch(proxied, "cut/", (await revision()) + 1n);
    await expect.poll(() => seen.connected.length).toBe(1);
    for (let n = 0; n < 30; n += 1) {
      done(await client.put(`cut/${n}`, bytes(String(n))));
      // What is on the way is lost every other time.
      if (n % 10 === 3) proxy.stall("answers");
      if (n % 5 !== 0) continue;
      const { length } = seen.connected;
      await proxy.repair();
      proxy.cut();
      await expect.poll(() => seen.connected.length, { interval: 10 }).toBeGreaterThan(length);
    }
    await expect.poll(() => seen.events.length).toBeGreaterThanOrEqual(30);
    expect(keysOf(seen)).toEqual(Array.from({ length: 30 }, (_, n) => `cut/${n}`));
  });

  it("gives up a member that says nothing, not one that has nothing to say", async () => {
    const [direct = ""] = etcd.endpoints;
    const endpoints = [`127.0.0.1:${proxy.port}`, direct];
    const clock = createManualClock();
    const own = etcd.client({ endpoints, deadlineMs: 200, clock });
    const seen = watch(own, "silent/", (await revision()) + 1n);
    await expect.poll(() => seen.connected).toEqual([endpoints[0]]);
    // Four deadlines. In each step the member answers on the same connection, so a question too.
    for (let step = 0; step < 16; step += 1) {
      clock.advance(50);
      for (let times = 0; times < 5; times += 1) await own.range({ keys: { prefix: "busy" } });
    }
    expect(seen.connected).toEqual([endpoints[0]]);
    proxy.stall("answers");
    done(await client.put("silent/a", bytes("x")));
    // A ping of the connection would find it in 15 s. Time passes as fast as it does: the next member must
    // answer in time.
    const passing = () => {
      clock.advance(50);
      return keysOf(seen);
    };
    await expect.poll(passing, { timeout: 10_000 }).toEqual(["silent/a"]);
    expect(seen.connected).toEqual(endpoints);
  });
});

describe.skipIf(!hasEtcd)("three members", () => {
  let etcd: TestEtcd;
  let client: EtcdClient;
  beforeAll(async () => {
    if (!hasEtcd) return;
    etcd = await startEtcd({ members: 3 });
  });
  beforeEach(() => {
    if (hasEtcd) client = etcd.client({ deadlineMs: 3_000 });
  });
  afterEach(() => client?.close());
  afterAll(() => etcd?.close());

  const memberOf = (endpoint: string) => {
    const member = etcd.members.find((each) => each.endpoint === endpoint);
    if (member === undefined) throw new Error(`${endpoint} is no member`);
    return member;
  };
  /** Once the leader is elected. */
  const settled = () =>
    expect.poll(async () => (await client.put("settled", bytes("x"))).kind, { interval: 50 }).toBe("done");

  it("lose one by kill -9: the watch goes on at another, without a gap and nothing twice", async () => {
    await settled();
    const from = done(await client.range({ keys: { key: "-" } })).header.revision + 1n;
    const seen = watch(client, "kill/", from);
    await expect.poll(() => seen.connected.length).toBe(1);
    const member = memberOf(seen.connected[0] ?? "");
    const applied: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      if (n === 20) await member.kill();
      if (n === 40) await member.start();
      const outcome = await client.put(`kill/${n}`, bytes("x"));
      if (outcome.kind !== "failed") applied.push(`kill/${n}`);
    }
    done(await client.put("kill/last", bytes("x")));
    await expect.poll(() => keysOf(seen).at(-1)).toBe("kill/last");
    const { entries } = done(await client.range({ keys: { prefix: "kill/" } })).value;
    const stored = [...entries].sort((a, b) => Number(a.modRevision - b.modRevision)).map(({ key }) => key);
    expect(keysOf(seen)).toEqual(stored);
    expect(stored.length).toBeGreaterThan(40);
    expect([...applied, "kill/last"]).toEqual(expect.arrayContaining(stored));
    expect(new Set(seen.connected).size).toBeGreaterThan(1);
    expect(seen.ends).toEqual([]);
  });

  it("with one that hangs: a write to it is unsure in time, the next call asks another", async () => {
    await settled();
    const own = etcd.client({ deadlineMs: 900 });
    // On a busy machine an answer may take longer than the deadline.
    let first = await own.put("hang", bytes("0"));
    while (first.kind !== "done") first = await own.put("hang", bytes("0"));
    const { endpoint } = first;
    const member = memberOf(endpoint);
    await member.pause();
    try {
      const beganAt = performance.now();
      expect(await own.put("hang", bytes("1"))).toMatchObject({
        kind: "unsure",
        fault: { endpoint, code: "DEADLINE_EXCEEDED" },
      });
      expect(performance.now() - beganAt).toBeLessThan(10_000);
      await expect.poll(() => own.put("hang", bytes("2"))).toMatchObject({ kind: "done" });
      expect(await own.status(endpoint)).toMatchObject({ kind: "failed", fault: { endpoint } });
    } finally {
      member.resume();
    }
    // The member has the unsure write still, and may do it now: after the later one.
    const [entry] = done(await client.range({ keys: { key: "hang" } })).value.entries;
    expect(["1", "2"]).toContain(text(entry?.value ?? new Uint8Array()));
  });

  it("with one that hangs: a read gets its answer from another, within the same call", async () => {
    await settled();
    // A third of it for the member that hangs. If that leads, the others elect another first.
    const own = etcd.client({ deadlineMs: 9_000 });
    const { endpoint } = done(await own.range({ keys: { key: "settled" } }));
    const leaders = await Promise.all(etcd.endpoints.map(async (each) => done(await own.status(each)).value));
    const isLeader = leaders.some(
      ({ memberId, leaderId }, index) => memberId === leaderId && etcd.endpoints[index] === endpoint,
    );
    const member = memberOf(endpoint);
    await member.pause();
    try {
      const outcome = done(await own.range({ keys: { key: "settled" } }));
      expect(outcome.endpoint, isLeader ? "the leader hangs" : "a follower hangs").not.toBe(endpoint);
    } finally {
      member.resume();
    }
  });

  it("without a majority: what is left refuses, nothing is applied, and it says whom to look at", async () => {
    await settled();
    const [left, ...others] = etcd.members;
    if (left === undefined) throw new Error("there are three members");
    await Promise.all(others.map((member) => member.kill()));
    const own = etcd.client({ deadlineMs: 1_000 });
    await expect
      .poll(() => own.put("minority", bytes("x")))
      .toMatchObject({
        kind: "failed",
        fault: { message: expect.stringMatching(/etcd at 127\.0\.0\.1:\d+: /) },
      });
    expect(await own.range({ keys: { key: "settled" } })).toMatchObject({ kind: "failed" });
    await expect
      .poll(async () => done(await own.status(left.endpoint)).value)
      .toMatchObject({ leaderId: null, errors: [expect.stringMatching(/no leader/)] });
    await Promise.all(others.map((member) => member.start()));
    await settled();
    // Nothing that was refused comes later. What was unsure in between may.
    const alone = etcd.client({ endpoints: [left.endpoint], deadlineMs: 1_000 });
    await expect.poll(async () => (await alone.put("again", bytes("x"))).kind).toBe("done");
  });
});
