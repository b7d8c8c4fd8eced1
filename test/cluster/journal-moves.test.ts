import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LEADER_KEY } from "../../src/cluster/protocol/records.ts";
import { journalFormat, openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import { moveFromCluster, moveToCluster } from "../../src/composition/journal-moves.ts";
import { refuseOwnJournal } from "../../src/composition/stores.ts";
import { tablesFormat } from "../../src/composition/tables.ts";
import type { Config } from "../../src/config/load.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createRunningTime } from "../../src/platform/running-time.ts";
import { openKeptStore } from "../../src/platform/stores/kept-store.ts";
import { createLmdbStore } from "../../src/platform/stores/lmdb-store.ts";
import { recordOf } from "./ended-record.ts";
import { bytes, done, hasEtcd, startEtcd, type TestEtcd } from "./etcd-harness.ts";

const DAY_MS = 86_400_000;
const limits = { keepMs: 7 * DAY_MS, keepCount: 100_000 };

/** The journal of a gateway that has run for so long. */
function openJournal(dataDir: string, runMs: number) {
  const folder = join(dataDir, "journal");
  mkdirSync(folder, { recursive: true });
  const records = openKeptStore(folder, journalFormat);
  const time = createRunningTime(runMs, systemClock);
  return openDurableJournal(createLmdbStore(records, silentLog), limits, time);
}

async function idsIn(dataDir: string, runMs = 0): Promise<readonly string[]> {
  const journal = openJournal(dataDir, runMs);
  // What is too old would go now.
  await journal.prune();
  const ids = ["job-1", "job-2", "job-3"].filter((id) => journal.find(id) !== undefined);
  await journal.close();
  return ids;
}

async function record(dataDir: string, runMs: number, ...ids: readonly string[]): Promise<void> {
  const journal = openJournal(dataDir, runMs);
  for (const id of ids) await journal.write(recordOf(id));
  await journal.close();
}

function openTables(dataDir: string) {
  const folder = join(dataDir, "tables");
  mkdirSync(folder, { recursive: true });
  return createLmdbStore(openKeptStore(folder, tablesFormat), silentLog);
}

async function countersIn(dataDir: string): Promise<ReadonlyArray<readonly [string, unknown]>> {
  const tables = openTables(dataDir);
  const codec = { encode: (value: unknown) => value, decode: (json: unknown) => json };
  const counters = [...tables.table("stations", codec, "confirm").entries()];
  await tables.close();
  return counters;
}

describe.skipIf(!hasEtcd)("the journal of a gateway that becomes a cluster", () => {
  let etcd: TestEtcd;
  const folders: string[] = [];
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(async () => {
    await etcd?.close();
    for (const folder of folders) rmSync(folder, { recursive: true });
  });

  let clusters = 0;
  /** The two boxes of a new cluster, each with its data folder. */
  function boxes(): readonly [Config, Config] {
    clusters += 1;
    const { endpoints } = etcd;
    const configOf = (member: string) => {
      const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-moves-"));
      folders.push(dataDir);
      const cluster = { name: `c${clusters}`, member, members: [], etcd: { endpoints, tls: null } };
      return { gateway: { dataDir }, cluster: { ...cluster, leaseMs: 5_000 } } as unknown as Config;
    };
    return [configOf("box-a"), configOf("box-b")];
  }
  const leaderKey = () => `/fleetgate/c${clusters}/${LEADER_KEY}`;

  it("goes into etcd, and back to one box, whole and not too old", async () => {
    const [a, b] = boxes();
    await record(a.gateway.dataDir, 400 * DAY_MS, "job-1", "job-2");
    const tables = openTables(a.gateway.dataDir);
    await tables.write([{ table: "stations", key: "dock", value: 7 }]);
    await tables.close();
    expect(() => refuseOwnJournal(a.gateway.dataDir)).toThrow("fleetgate journal to-cluster");
    expect(await moveToCluster(a, systemClock)).toEqual({ commands: 2, slots: 0, foreign: [] });
    expect(() => refuseOwnJournal(a.gateway.dataDir)).not.toThrow();
    expect(existsSync(join(a.gateway.dataDir, "journal"))).toBe(false);
    expect(readdirSync(a.gateway.dataDir).filter((name) => name.startsWith("journal.moved-"))).toHaveLength(
      1,
    );
    expect(await moveToCluster(b, systemClock)).toBeNull();
    // Members may lead: nothing is in their way.
    expect(done(await etcd.client().range({ keys: { key: leaderKey() } })).value.entries).toEqual([]);

    expect(await moveFromCluster(b, systemClock)).toEqual({ commands: 2, slots: 0, foreign: [] });
    expect(await countersIn(b.gateway.dataDir)).toEqual([["dock", 7]]);
    expect(await idsIn(b.gateway.dataDir)).toEqual(["job-1", "job-2"]);
    // From now on it runs alone, and comes back later.
    await record(b.gateway.dataDir, 0, "job-3");
    await expect(moveToCluster(a, systemClock)).resolves.toBeNull();
    expect(await moveToCluster(b, systemClock)).toEqual({ commands: 3, slots: 0, foreign: [] });
    expect(await moveFromCluster(a, systemClock)).toEqual({ commands: 3, slots: 0, foreign: [] });
    expect(await idsIn(a.gateway.dataDir, 1)).toEqual(["job-1", "job-2", "job-3"]);
  });

  it("goes to one box without what no gateway has written, and not over a record that is missing", async () => {
    const [a, b] = boxes();
    await record(a.gateway.dataDir, 0, "job-1", "job-2");
    await moveToCluster(a, systemClock);
    const key = (name: string) => `/fleetgate/c${clusters}/table/${name}`;
    const strays = ["commands/garbage", "holds/garbage", "order/garbage", "stations/x"].map(key);
    for (const stray of strays) done(await etcd.client().put(stray, bytes("xxx")));
    done(await etcd.client().put(key("holds/seven"), bytes("7")));
    done(await etcd.client().put(key("commands/job-1"), bytes("text")));
    const place = key("order/000000000000001");
    const refusal = `${key("commands/job-1")} is no record, and ${place} names it`;
    await expect(moveFromCluster(b, systemClock)).rejects.toThrow(refusal);
    expect(done(await etcd.client().range({ keys: { key: leaderKey() } })).value.entries).toEqual([]);
    done(await etcd.client().txn({ success: [{ kind: "delete", keys: { key: place } }] }));
    const foreign = [...strays, key("commands/job-1"), key("holds/seven")].sort();
    const moved = await moveFromCluster(b, systemClock);
    expect({ ...moved, foreign: [...moved.foreign].sort() }).toEqual({ commands: 1, slots: 0, foreign });
    expect(await idsIn(b.gateway.dataDir)).toEqual(["job-2"]);
  });

  it("stays where it is while a member leads, or while the other box has it", async () => {
    const [a, b] = boxes();
    await record(a.gateway.dataDir, 0, "job-1");
    await record(b.gateway.dataDir, 0, "job-2");
    const leader = JSON.stringify({ member: "box-b", process: "p" });
    done(await etcd.client().put(leaderKey(), bytes(leader)));
    await expect(moveToCluster(a, systemClock)).rejects.toThrow(
      "box-b leads: stop the gateway on both boxes",
    );
    await expect(moveFromCluster(a, systemClock)).rejects.toThrow("fleetgate journal to-cluster");
    expect(await idsIn(a.gateway.dataDir)).toEqual(["job-1"]);

    const unfinished = JSON.stringify({ member: "box-b", process: "journal to-cluster" });
    done(await etcd.client().put(leaderKey(), bytes(unfinished)));
    await expect(moveToCluster(a, systemClock)).rejects.toThrow("box-b has not finished");
    expect(await moveToCluster(b, systemClock)).toEqual({ commands: 1, slots: 0, foreign: [] });
    await expect(moveToCluster(a, systemClock)).rejects.toThrow("records of their own already");
    expect(await idsIn(a.gateway.dataDir)).toEqual(["job-1"]);
  });
});
