import { expect, it } from "vitest";
import { type Store, StoreFailed } from "../../src/platform/store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { createHarness, OK } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const limits = { keepMs: 3_600_000, keepCount: 1_000 };

/** The store of a disk that fails: lmdb has given its environment up, and cannot open it again. */
function failing(store: Store) {
  let isFailing = false;
  const failure = () => new StoreFailed("cannot open the store");
  const own: Store = {
    ...store,
    get(key) {
      if (isFailing) throw failure();
      return store.get(key);
    },
    write: (changes, isUrgent) => (isFailing ? Promise.reject(failure()) : store.write(changes, isUrgent)),
  };
  return {
    store: own,
    fail(now: boolean) {
      isFailing = now;
    },
  };
}

async function onFailingDisk() {
  const { store, fail } = failing(syncing(createLossyDisk()));
  const journal = openJournalOn(store, limits, noRunningTime);
  const harness = await createHarness({ journal });
  return { harness, journal, fail };
}

it("a stop leaves though the journal can neither be read nor written", async () => {
  const { harness, fail } = await onFailingDisk();
  fail(true);
  const stop = await harness.send("Halt", { robot: "AMR01" });
  expect(harness.calls.map(({ operation }) => operation)).toEqual(["Halt"]);
  await harness.call(0).answer(OK);
  expect(stop.outcome).toMatchObject({ outcome: "succeeded" });
});

it("its outcome is told again in the same run, and is recorded when the disk is well", async () => {
  const { harness, journal, fail } = await onFailingDisk();
  fail(true);
  await harness.send("Halt", { robot: "AMR01" }, { requestId: "stop" });
  await harness.call(0).answer(OK);
  const again = await harness.send("Halt", { robot: "AMR01" }, { requestId: "stop" });
  expect(again.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
  expect(harness.calls).toHaveLength(1);
  fail(false);
  await harness.clock.settle(10_000);
  expect(journal.isOnDisk("opcua:plc/stop")).toBe(true);
  expect(journal.find("opcua:plc/stop")).toMatchObject({ outcome: { outcome: "succeeded" } });
});

it("a start is not sent then, and not told as not done: an earlier run may have sent it", async () => {
  const { harness, fail } = await onFailingDisk();
  fail(true);
  const start = await harness.send("Go", { robot: "AMR01", to: "A" });
  expect(start.outcome).toMatchObject({ outcome: "unknown" });
  expect(harness.calls).toEqual([]);
});
