import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { hasFailingDisk, mountFailingDisk } from "../support/failing-disk.ts";
import { faultSystemCalls, hasStrace } from "../support/system-call-faults.ts";
import { belt, type DegradedHarness, openDegradedHarness, toStation } from "./degraded-harness.ts";

const hasDisk = hasFailingDisk();
if (!hasDisk)
  process.stderr.write("no disk can be made to fail here: the test of a read-only one is skipped\n");

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(folder?: string): Promise<DegradedHarness> {
  const harness = await openDegradedHarness(folder);
  cleanups.push(() => harness.close());
  return harness;
}

test.skipIf(!hasDisk)(
  "a disk that becomes read-only refuses starts with the reason; stops and values go on",
  async () => {
    const disk = await mountFailingDisk();
    cleanups.push(() => disk.unmount());
    const harness = await open(disk.path);
    const { ear } = harness;
    const daemon = await harness.start();
    expect(await ear.send("ControlConveyor", "roll", belt("CW"))).toMatchObject({ outcome: "succeeded" });
    disk.fail();
    const since = harness.seq();
    for (let round = 0; round < 5; round += 1) {
      const go = await ear.send("CreateMission", `go-${round}`, toStation("Station D"));
      expect(go).toMatchObject({
        outcome: "refused",
        code: "JOURNAL_FAILED",
        message: expect.stringContaining("the disk is read-only"),
        retry_safe: true,
      });
      const stop = await ear.send("ControlConveyor", `stop-${round}`, belt("STOP"));
      expect(stop).toMatchObject({ outcome: "succeeded" });
    }
    expect(new Set(harness.received(since))).toEqual(new Set(["ControlConveyor"]));
    await harness.valuesGoOn(33);
    const { detail } = await harness.part("disk", ({ state }) => state === "degraded");
    expect(detail).toBe(
      `the disk of ${join(disk.path, "data")} is read-only: what moves or changes is refused, stops pass, values ` +
        "go on; make it writable again (dmesg may say why it is not), or start the machine again",
    );
    const code = await daemon.stop();
    // A write that was under way all the same may have damaged lmdb's heap (LEAST_FREE_BYTES).
    if (!daemon.said().includes("Write error")) expect(code, daemon.said()).toBe(0);
  },
  120_000,
);

const DELAY_MS = 1_200;

test.skipIf(!hasStrace)(
  "a slow disk refuses starts after a second; stops overtake them; health names the store, and recovers",
  async () => {
    const harness = await open();
    const { ear } = harness;
    const daemon = await harness.start();
    const since = harness.seq();
    const slow = `delay_enter=${DELAY_MS * 1_000}`;
    const quicken = await faultSystemCalls(daemon.pid, "fdatasync,pwrite64", slow);
    cleanups.push(quicken);

    const go = ear.send("CreateMission", "go", toStation("Station D"));
    const stop = ear.send("ControlConveyor", "stop", belt("STOP"));
    const called = expect.poll(() => harness.received(since), { interval: 5 }).toEqual(["ControlConveyor"]);
    const first = await Promise.race([called.then(() => "called"), go.then(() => "refused"), stop]);
    expect(first, "the call of the stop did not wait for the disk").toBe("called");
    expect(await stop).toMatchObject({ outcome: "succeeded" });
    expect(await go).toMatchObject({ outcome: "refused", code: "CANCELED_BY_STOP" });
    expect(await ear.send("CreateMission", "later", toStation("Station D"))).toMatchObject({
      outcome: "refused",
      code: "JOURNAL_FAILED",
    });
    expect(harness.received(since)).toEqual(["ControlConveyor"]);
    await harness.valuesGoOn(33);
    const { detail, figures } = await harness.part("disk", ({ state }) => state === "degraded");
    expect(detail).toMatch(
      /^the disk of .+ is slow \(slowest write of the last minute: (journal|outbox) \d+\.\d s.*\): while a write/,
    );
    expect(figures?.slowest_write_ms).toBeGreaterThanOrEqual(1_000);
    await quicken();

    for (let round = 0; ; round += 1) {
      const reply = await ear.send("CreateMission", `again-${round}`, toStation("Station D"));
      if (reply.code === "JOURNAL_FAILED") continue;
      expect(reply).toMatchObject({ outcome: "succeeded" });
      break;
    }
    expect(await daemon.stop()).toBe(0);
  },
  120_000,
);
