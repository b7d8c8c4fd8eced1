import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { clocksPart, memberPart, syncPart, tryMembers } from "../../../src/cli/online/members.ts";
import { metricsOf, readEtcdMetrics } from "../../../src/cluster/etcd/metrics.ts";
import type { ClusterOptions } from "../../../src/cluster/options.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { version } from "../../../src/version.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd } from "../../cluster/etcd-harness.ts";

const sections = { mqtt: "aa", fleet: "bb" };
const hot = { member: "a", standby: "hot" } as const;
const facts = { version, configuration: sections, handover: null };
const said = { hasSession: true, count: 2, leads: null as number | null, facts, atMs: 0 };

describe("what the gateway of a box says of itself", () => {
  it.each([
    [
      said,
      1_200,
      "ok",
      /^stands by, .*; its clock is 1\.2 s ahead of this one; the configuration is the same$/,
    ],
    [{ ...said, leads: 7 }, -100, "ok", /^leads, .*0\.1 s behind this one; the configuration is the same$/],
    [said, -2_100, "wrong", /2\.1 s behind this one$/],
    [
      { ...said, hasSession: false, facts: { ...facts, unreadable: "/fleetgate/a/table/order/1" } },
      0,
      "wrong",
      /cannot read the record \/fleetgate\/a\/table\/order\/1 of etcd/,
    ],
    [{ ...said, hasSession: false }, 0, "wrong", /has NO session to the fleet service/],
    [
      { ...said, facts: { ...facts, configuration: { ...sections, mqtt: "ab" } } },
      0,
      "wrong",
      /another configuration in mqtt$/,
    ],
    [{ ...said, facts: { ...facts, version: "0.0.9" } }, 0, "ok", /has version 0\.0\.9/],
    // Of an earlier version.
    [{ hasSession: true, count: 2 }, null, "ok", /^stands by, has a session to the fleet service$/],
  ] as const)("%j", (record, aheadMs, state, detail) => {
    expect(memberPart("b", hot, { record, aheadMs }, sections)).toMatchObject({
      state,
      detail: expect.stringMatching(detail),
    });
  });

  it("does not compare the box with itself, but for the file", () => {
    const record = { ...said, facts: { ...facts, configuration: {} } };
    expect(memberPart("a", hot, { record, aheadMs: 9_000 }, sections)).toMatchObject({
      state: "ok",
      advice: "reload or restart it, if this file is the new one",
    });
  });

  it("may be a box without a session until it takes over", () => {
    const warm = { ...hot, standby: "warm" } as const;
    const detail = (record: typeof said) => memberPart("b", warm, { record, aheadMs: null }, sections).detail;
    expect(detail({ ...said, leads: null })).toMatch(/opens a session to the fleet service when it leads/);
    expect(detail({ ...said, leads: 7 })).toMatch(/has a session to the fleet service/);
  });

  it("may be nothing", () => expect(memberPart("b", hot, undefined, sections).state).toBe("skipped"));
});

describe("metrics of etcd", () => {
  const page = `etcd_disk_wal_fsync_duration_seconds_bucket{le="0.001"} 5
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.016"} 99
etcd_disk_wal_fsync_duration_seconds_bucket{le="0.256"} 100
etcd_disk_wal_fsync_duration_seconds_bucket{le="+Inf"} 100
etcd_server_quota_backend_bytes 2.147483648e+09
`;

  it("tell the quota and the slow syncs", () =>
    expect(metricsOf(page)).toEqual({ quotaBytes: 2_147_483_648, syncMs: 16 }));
  it("may lack both", () => expect(metricsOf("")).toEqual({ quotaBytes: null, syncMs: null }));

  it.each([
    [null, "skipped"],
    [{ syncMs: null }, "skipped"],
    [{ syncMs: 16 }, "ok"],
    [{ syncMs: 129 }, "wrong"],
    [{ syncMs: Number.POSITIVE_INFINITY }, "wrong"],
  ] as const)("say how fast a disk is: %j", (given, state) => {
    const metrics = given === null ? null : { quotaBytes: null, dateMs: null, ...given };
    expect(syncPart("etcd disk", "a:1", metrics).state).toBe(state);
  });

  it("say whether clocks agree", () => {
    expect(clocksPart(new Map([["a:1", null]])).state).toBe("skipped");
    expect(
      clocksPart(
        new Map([
          ["a:1", 400],
          ["b:1", null],
        ]),
      ),
    ).toMatchObject({
      state: "ok",
      detail: "1 of 2 machines agree with this one, within 2 s",
    });
    expect(
      clocksPart(
        new Map([
          ["a:1", 400],
          ["b:1", -3_000],
        ]),
      ),
    ).toMatchObject({
      state: "wrong",
      detail: "that of b:1 is 3.0 s behind this one",
    });
  });
});

describe.skipIf(!hasEtcd)("a real etcd", () => {
  let etcd: TestEtcd;
  afterEach(async () => {
    await etcd?.close();
  });

  it("tells its quota, its syncs and its time; a port without it nothing", async () => {
    etcd = await startEtcd({ options: ["--quota-backend-bytes", "30000000"] });
    const client = etcd.client();
    await client.put("a", bytes("b"));
    const beforeMs = Date.now();
    const metrics = await readEtcdMetrics(etcd.endpoints[0] ?? "", null, 3_000);
    expect(metrics).toMatchObject({ quotaBytes: 30_000_000, syncMs: expect.any(Number) });
    // In whole seconds, of the same clock.
    expect(metrics?.dateMs).toBeGreaterThan(beforeMs - 1_000);
    expect(metrics?.dateMs).toBeLessThanOrEqual(Date.now());
    expect(await readEtcdMetrics("127.0.0.1:1", null, 1_000)).toBeNull();
  });

  it("has what boxes say: one that says nothing more is away", async () => {
    etcd = await startEtcd();
    const client = etcd.client();
    const cluster: ClusterOptions = {
      ...{ name: "hall-1", member: "a", standby: "hot", fence: null, leaseMs: 5_000 },
      members: ["a", "b"].map((name) => ({ name, opcuaUri: null })),
      etcd: { endpoints: etcd.endpoints, tls: null },
    };
    const say = async (name: string, count: number) =>
      done(
        await client.put(
          `/fleetgate/hall-1/member/${name}`,
          bytes(JSON.stringify({ ...said, count, atMs: Date.now() })),
        ),
      );
    await say("a", 1);
    await say("b", 1);
    let count = 1;
    // Again and again: the first look may come late, and takes what it finds for old.
    const isDone = new AbortController();
    const speaking = (async () => {
      while (!isDone.signal.aborted) {
        await say("b", ++count);
        await pause(200);
      }
    })();
    const parts = await tryMembers(client, cluster, sections, systemClock);
    isDone.abort();
    await speaking;
    expect(parts.map(({ part, state }) => [part, state])).toEqual([
      ["cluster member a", "skipped"],
      ["cluster member b", "ok"],
    ]);
  });
});
