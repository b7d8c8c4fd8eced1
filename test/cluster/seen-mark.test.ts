import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { ClusterStore } from "../../src/cluster/protocol/cluster-store.ts";
import { createMirror, type SeenStore } from "../../src/cluster/protocol/mirror.ts";
import { openSeenMark } from "../../src/cluster/store/seen-mark.ts";
import { confirmLosses } from "../../src/platform/stores/kept-store.ts";
import { createManualClock } from "../support/manual-clock.ts";

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), "fleetgate-seen-")), "cluster");
});
afterEach(() => rmSync(dirname(folder), { recursive: true }));

/** One run of a member, which reads a store that is as it is told, and ends. */
async function run(store: SeenStore) {
  const clock = createManualClock();
  const losses: string[] = [];
  const seen = await openSeenMark(folder, clock, ({ reason }) => void losses.push(reason));
  const read: Pick<ClusterStore, "read" | "watch"> = {
    read: async () => ({ ...store, entries: [] }),
    watch: () => () => {},
  };
  const mirror = createMirror({ store: read as ClusterStore, clock, retryMs: 250, seen });
  const ending = new AbortController();
  mirror.start(ending.signal);
  await clock.settle(6_000);
  ending.abort();
  return { isAhead: mirror.isAhead(), losses };
}

const well = { isAhead: false, losses: [] };

it("a store that goes on is well after each start", async () => {
  expect(await run({ clusterId: "a", revision: 100 })).toEqual(well);
  expect(await run({ clusterId: "a", revision: 100 })).toEqual(well);
  expect(await run({ clusterId: "a", revision: 250 })).toEqual(well);
});

it.each([
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
])("%s never gets a leader, until an operator confirms it", async (_what, restored, reason) => {
  expect(await run({ clusterId: "a", revision: 100 })).toEqual(well);
  expect(await run(restored)).toEqual({ isAhead: true, losses: [reason] });
  expect(await run(restored)).toEqual({ isAhead: true, losses: [reason] });
  expect(confirmLosses(dirname(folder))).toMatchObject([{ folder, reason }]);
  expect(await run(restored)).toEqual(well);
});

it("what is noted while a store is being read is no less than was seen", async () => {
  const clock = createManualClock();
  const noted: SeenStore[] = [];
  const entry = { key: "a", value: "1", created: 1, modified: 1 };
  const mirror = createMirror({
    store: {
      read: async () => ({ clusterId: "a", revision: 120, entries: [entry] }),
      watch: () => () => {},
    } as unknown as ClusterStore,
    ...{ clock, retryMs: 250 },
    seen: {
      before: { clusterId: "a", revision: 100 },
      isLost: () => false,
      note: (seen) => void noted.push(seen),
      lose() {},
    },
  });
  // The time for a note comes in the middle.
  mirror.subscribe(() => clock.advance(6_000));
  const ending = new AbortController();
  mirror.start(ending.signal);
  await clock.settle(10_000);
  ending.abort();
  expect(noted).not.toEqual([]);
  for (const { revision } of noted) expect(revision).toBe(120);
});
