import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ClusterStore, StoreChanges, StoreEntry } from "../../src/cluster/protocol/cluster-store.ts";
import { createMirror, type SeenStore } from "../../src/cluster/protocol/mirror.ts";
import { openDiskMirror } from "../../src/cluster/store/disk-mirror.ts";
import { silentLog } from "../../src/platform/log.ts";
import type { KeyedStore } from "../../src/platform/store.ts";
import { confirmLosses, openKeptStore } from "../../src/platform/stores/kept-store.ts";
import type { StoreFormat } from "../../src/platform/stores/store-marks.ts";
import { createManualClock } from "../support/manual-clock.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "fleetgate-mirror-")), "cluster");
});
afterEach(() => rmSync(dirname(folder), { recursive: true }));

const HOLD = "table/holds/r1";
const hold = (value = "1", modified = 90): StoreEntry => ({ key: HOLD, value, created: 90, modified });
const command = (n: number): StoreEntry => ({
  ...{ key: `table/commands/c${String(n).padStart(4, "0")}`, value: "{}" },
  ...{ created: n, modified: n },
});

interface Store extends SeenStore {
  readonly entries?: readonly StoreEntry[];
  /** What comes after it has been read. */
  readonly changes?: readonly StoreChanges[];
}

/**
 * One run of a member. The store is as it is told, or (null) does not answer.
 *
 * @param writes after so many, nothing reaches the disk
 */
async function open(store: Store | null, writes = Number.POSITIVE_INFINITY) {
  const clock = createManualClock();
  const losses: string[] = [];
  const lost = ({ reason }: { readonly reason: string }) => void losses.push(reason);
  const kept: KeyedStore[] = [];
  const underWay = new Set<Promise<unknown>>();
  const openRecords = (path: string, format: StoreFormat): KeyedStore => {
    const records = openKeptStore(path, format);
    kept.push(records);
    let left = writes;
    return {
      ...records,
      write(changes) {
        left -= 1;
        if (left < 0) return new Promise(() => {});
        const written = records.write(changes);
        underWay.add(written);
        return written.finally(() => underWay.delete(written));
      },
    };
  };
  const disk = await openDiskMirror(folder, { open: openRecords, clock, log: silentLog, lost });
  const answers: Pick<ClusterStore, "read" | "watch"> = {
    read: async () => store && { entries: [], ...store },
    watch(_from, receive) {
      for (const changes of store?.changes ?? []) receive(changes);
      return () => {};
    },
  };
  const mirror = createMirror({ store: answers as ClusterStore, clock, retryMs: 250, disk });
  const told: string[] = [];
  mirror.subscribe((key, entry) => void told.push(`${key} ${entry?.value ?? "-"}`));
  const ending = new AbortController();
  mirror.start(ending.signal);
  for (let times = 0; times < 20; times += 1) {
    await clock.settle(100);
    await Promise.allSettled(underWay);
  }
  return {
    ...{ mirror, clock, told, losses },
    async close() {
      ending.abort();
      await disk.close();
    },
    async kill() {
      ending.abort();
      for (const records of kept) await records.close();
    },
  };
}

async function run(store: Store | null) {
  const { mirror, losses, told, close } = await open(store);
  await close();
  const [isAhead, revision] = [mirror.isAhead(), mirror.revision()];
  return { isAhead, losses, told, revision, hold: mirror.get(HOLD)?.value ?? null };
}

const well = { isAhead: false, losses: [] };

describe("a box that starts while the store does not answer", () => {
  it("shows what it knew, and knows that nothing confirms it", async () => {
    await run({ clusterId: "a", revision: 100, entries: [hold()] });
    expect(await run(null)).toEqual({ ...well, told: [`${HOLD} 1`], revision: 0, hold: "1" });
  });

  it("knows what has changed since the store was read", async () => {
    const lifted = { revision: 101, changes: [{ key: HOLD, entry: null }] };
    await run({ clusterId: "a", revision: 100, entries: [hold(), command(1)], changes: [lifted] });
    expect(await run(null)).toMatchObject({ told: [`${command(1).key} {}`], hold: null });
  });

  it("shows nothing that was true for a moment only", async () => {
    const [beat, there] = ["beat", "member/a"].map((key) => ({ ...hold(), key }));
    const entries = [hold(), ...[beat, there].filter((each) => each !== undefined)];
    const changes = entries.map((entry) => ({ key: entry.key, entry }));
    await run({ clusterId: "a", revision: 100, entries, changes: [{ revision: 101, changes }] });
    expect(await run(null)).toMatchObject({ told: [`${HOLD} 1`] });
  });

  it("knows nothing at its first start", async () => {
    expect(await run(null)).toMatchObject({ ...well, told: [], revision: 0 });
  });
});

describe("when the store answers", () => {
  it("only what has changed is told again", async () => {
    await run({ clusterId: "a", revision: 100, entries: [hold(), command(1), command(2)] });
    const entries = [hold("2", 110), command(1)];
    const { told, ...rest } = await run({ clusterId: "a", revision: 120, entries });
    expect(rest).toEqual({ ...well, revision: 120, hold: "2" });
    expect(told.slice(3)).toEqual([`${command(2).key} -`, `${HOLD} 2`]);
    expect(await run(null)).toMatchObject({ hold: "2" });
  });

  it("a revision that another history has given twice hides no value", async () => {
    await run({ clusterId: "a", revision: 100, entries: [hold("1")] });
    expect(await run({ clusterId: "a", revision: 100, entries: [hold("2")] })).toMatchObject({ hold: "2" });
  });

  it("a crash leaves a part of a long journal on the disk, which is no less well", async () => {
    const entries = Array.from({ length: 1_700 }, (_, n) => command(n));
    const store = { clusterId: "a", revision: 5_000, entries };
    await (await open(store, 2)).kill();
    expect((await run(null)).told).toHaveLength(999);
    // What is on the disk was seen.
    expect(await run({ ...store, revision: 4_999 })).toMatchObject({ isAhead: true });
    confirmLosses(dirname(folder));
    await run(store);
    expect((await run(null)).told).toHaveLength(1_700);
  });
});

it("a store that goes on is well after each start", async () => {
  for (const revision of [100, 100, 250])
    expect(await run({ clusterId: "a", revision })).toMatchObject({ ...well, revision });
});

describe.each([
  [
    "an older one, as a snapshot makes it",
    { clusterId: "a", revision: 99 },
    "the store of the cluster knows revision 99, and this box has seen 100",
  ],
  [
    "another one",
    { clusterId: "b", revision: 500 },
    "the store of the cluster is another one than this box has seen",
  ],
])("%s", (_what, restored, reason) => {
  it("never gets a leader, until an operator confirms it", async () => {
    expect(await run({ clusterId: "a", revision: 100, entries: [hold()] })).toMatchObject(well);
    expect(await run(restored)).toMatchObject({ isAhead: true, losses: [reason], revision: 0, hold: "1" });
    // Before etcd answers, too.
    expect(await run(null)).toMatchObject({ isAhead: true, losses: [reason] });
    expect(await run(restored)).toMatchObject({ isAhead: true, losses: [reason] });
    expect(confirmLosses(dirname(folder))).toMatchObject([{ folder, reason }]);
    expect(await run(restored)).toMatchObject({ ...well, revision: restored.revision, hold: null });
  });
});

it("what is noted while a store is being read is no less than was seen", async () => {
  await run({ clusterId: "a", revision: 100 });
  const { clock, mirror, close } = await open(null);
  // The time for a note comes before the store answers.
  clock.advance(6_000);
  expect(mirror.revision()).toBe(0);
  await close();
  expect(await run({ clusterId: "a", revision: 99 })).toMatchObject({ isAhead: true });
});

describe("a mirror that is damaged", () => {
  const file = (name: string) => join(folder, "mirror", name);
  const healed = async () => {
    const store = { clusterId: "a", revision: 120, entries: [hold("2", 110)] };
    expect(await run(store)).toMatchObject({ ...well, hold: "2" });
    expect(await run(null)).toMatchObject({ ...well, hold: "2" });
    expect(readdirSync(folder)).toEqual(["mirror"]);
  };

  it.each([
    ["is no store", () => writeFileSync(file("data.mdb"), "x".repeat(100_000))],
    ["is gone", () => rmSync(file("data.mdb"))],
    ["is of another program", () => writeFileSync(file("format.json"), "{}")],
  ])("stops no box, and is read anew: its file %s", async (_what, damage) => {
    await run({ clusterId: "a", revision: 100, entries: [hold()] });
    damage();
    expect(await run(null)).toMatchObject({ ...well, told: [] });
    await healed();
  });

  it("stops no box when one record is damaged", async () => {
    await run({ clusterId: "a", revision: 100, entries: [hold("as it was")] });
    const bytes = readFileSync(file("data.mdb"));
    for (let at = bytes.indexOf("as it was"); at >= 0; at = bytes.indexOf("as it was", at + 1))
      bytes.write("as it wax", at);
    writeFileSync(file("data.mdb"), bytes);
    expect(await run(null)).toMatchObject({ ...well, told: [] });
    await healed();
  });

  it("leaves a loss that nobody has confirmed", async () => {
    await run({ clusterId: "a", revision: 100 });
    await run({ clusterId: "b", revision: 100 });
    writeFileSync(file("data.mdb"), "x".repeat(100_000));
    expect(await run({ clusterId: "b", revision: 100 })).toMatchObject({ isAhead: true });
  });

  it("stops no box when its folder cannot be used", async () => {
    await run(null);
    rmSync(join(folder, "mirror"), { recursive: true });
    writeFileSync(join(folder, "mirror"), "");
    expect(await run({ clusterId: "a", revision: 100, entries: [hold()] })).toMatchObject({ hold: "1" });
    expect(existsSync(join(folder, "mirror"))).toBe(true);
  });
});
