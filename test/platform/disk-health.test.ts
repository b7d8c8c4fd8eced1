import { expect, it } from "vitest";
import { diskHealth } from "../../src/platform/disk-health.ts";

const facts = {
  dataDir: "/data",
  freeBytes: () => 9_000_000 as number | null,
  leastFreeBytes: 8_000_000,
  isReadOnly: () => false,
  delays: () => [
    { store: "journal", slowestMs: 999.4 },
    { store: "outbox", slowestMs: 3 },
  ],
};
const MEANS = "what moves or changes is refused, stops pass, values go on";

it("is up with its figures while every write takes less than a second", () => {
  expect(diskHealth(facts)).toEqual({
    state: "up",
    figures: { freeBytes: 9_000_000, slowestWriteMs: 999 },
  });
  expect(diskHealth({ ...facts, freeBytes: () => null, delays: () => [] }).figures).toEqual({
    slowestWriteMs: 0,
  });
});

it.each([
  [
    { isReadOnly: () => true },
    `the disk of /data is read-only: ${MEANS}; make it writable again (dmesg may say why it is not), or ` +
      "start the machine again",
  ],
  [{ freeBytes: () => 7_999_999 }, `the disk of /data is full: ${MEANS}; make room`],
  [
    { delays: () => [{ store: "journal", slowestMs: 2_340 }] },
    "the disk of /data is slow (slowest write of the last minute: journal 2.3 s): while a write takes more " +
      `than a second, ${MEANS}; look for a program that writes much, or for errors of the disk (dmesg)`,
  ],
])("says what is wrong, what goes on and what to do: %o", (wrong, detail) => {
  expect(diskHealth({ ...facts, ...wrong })).toMatchObject({ state: "degraded", detail });
});
