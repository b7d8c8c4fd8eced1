import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EtcdClient } from "../../src/cluster/etcd/client.ts";
import { startCompaction } from "../../src/cluster/store/etcd-store.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd } from "./etcd-harness.ts";

const MINUTE_MS = 60_000;
const KEY = "/gate/record";

describe.skipIf(!hasEtcd)("what etcd keeps", () => {
  let etcd: TestEtcd;
  let client: EtcdClient;
  beforeAll(async () => {
    if (!hasEtcd) return;
    etcd = await startEtcd();
    client = etcd.client();
  });
  afterAll(() => etcd?.close());

  async function written(value: string): Promise<number> {
    return Number(done(await client.put(KEY, bytes(value))).header.revision);
  }
  const at = async (revision: number) =>
    (await client.range({ keys: { key: KEY }, revision: BigInt(revision) })).kind;

  it("loses what a leader has replaced for a minute, and nothing else", async () => {
    const clock = createManualClock();
    const ended = new AbortController();
    const first = await written("first");
    let revision = await written("second");
    const second = revision;
    let isLeading = false;
    const parts = { client, clock, isLeading: () => isLeading, revision: () => revision };
    startCompaction({ ...parts, ended: ended.signal });
    clock.advance(MINUTE_MS);
    revision = await written("third");
    clock.advance(MINUTE_MS);
    expect(await at(first)).toBe("done");

    isLeading = true;
    revision = await written("fourth");
    clock.advance(MINUTE_MS);
    // All up to the third was known two minutes ago.
    await expect.poll(() => at(second)).toBe("failed");
    expect([await at(first), await at(revision - 1), await at(revision)]).toEqual(["failed", "done", "done"]);
    ended.abort();
  });
});
