import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { noLaterThan, systemClock } from "../../src/platform/clock.ts";
import { openStore } from "../../src/platform/store.ts";
import { faultSystemCalls, hasStrace } from "../support/system-call-faults.ts";

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const HANGS_MS = 5_000;

/** A store after the disk has refused the very last write of a commit: lmdb gives its environment up then. */
async function openAfterFailedCommit() {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-commit-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const store = openStore(join(folder, "store"));
  await store.write([{ key: "before", value: 1 }]);
  // The pages of a young store are written by writev: pwrite64 makes them count.
  const mend = await faultSystemCalls(process.pid, "pwrite64", "error=EIO:when=1");
  const refused = store.write([{ key: "refused", value: 2 }]);
  await expect(refused).rejects.toThrow("cannot write to");
  await mend();
  return store;
}

const inTime = <T>(work: Promise<T>) => noLaterThan(systemClock, HANGS_MS, work, "hangs");

test.skipIf(!hasStrace)(
  "a store whose commit failed in its last write can be read, written and closed",
  async () => {
    const store = await openAfterFailedCommit();
    expect([store.get("before"), store.get("refused")]).toEqual([1, undefined]);
    // It is left alone for a second; then it is tried.
    await expect
      .poll(
        () =>
          inTime(
            store.write([{ key: "after", value: 3 }]).then(
              () => "written",
              () => "refused",
            ),
          ),
        {
          timeout: 15_000,
        },
      )
      .toBe("written");
    expect([store.get("before"), store.get("after")]).toEqual([1, 3]);
    expect(await inTime(store.close())).toBeUndefined();
  },
);
