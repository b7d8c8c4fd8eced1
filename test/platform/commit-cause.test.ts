import { expect, it } from "vitest";
import { commitCause } from "../../src/platform/store.ts";
import { createManualClock } from "../support/manual-clock.ts";

function refused(commitError: Promise<unknown>): Error {
  return Object.assign(new Error("Commit failed (see commitError for details)"), { commitError });
}

it("is the disk's error, which lmdb gives later", async () => {
  const disk = new Error("No space left on device");
  expect(await commitCause(refused(Promise.reject(disk)), createManualClock())).toBe(disk);
});

it("is what lmdb said first, if the disk's error never comes: the store must not wait for ever", async () => {
  const clock = createManualClock();
  const reason = refused(new Promise(() => {}));
  const told = commitCause(reason, clock);
  await clock.settle(1_000);
  expect(await told).toBe(reason);
});

it("is any other error itself", async () => {
  const reason = new Error("a key is too long");
  expect(await commitCause(reason, createManualClock())).toBe(reason);
});
