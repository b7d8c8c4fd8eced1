import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore, type Store } from "../../src/platform/store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { type CommandsHarness, createHarness, mission, missions, OK } from "./commands-harness.ts";

const HOUR_MS = 3_600_000;
const limits = { keepMs: 24 * HOUR_MS, keepCount: 1_000 };

let folder: string;
let clock: ManualClock;
let lives: number;
/** What is on its way to the disk. */
let writes: Set<Promise<void>>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "restarts-"));
  clock = createManualClock();
  lives = 0;
  writes = new Set();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** The same store, whose writes can be waited for. */
function noted(store: Store): Store {
  return {
    ...store,
    write(changes) {
      const write = store.write(changes).finally(() => writes.delete(write));
      writes.add(write);
      return write;
    },
  };
}

/**
 * A gateway on the journal as the one before it has left it, which is killed: it is told nothing any more.
 */
async function start(): Promise<CommandsHarness> {
  lives += 1;
  // Half a write may be copied otherwise, and which half would be chance.
  await Promise.allSettled(writes);
  const path = join(folder, String(lives));
  if (lives > 1) cpSync(join(folder, String(lives - 1)), path, { recursive: true });
  return createHarness({ clock, journal: openJournalOn(noted(openStore(path)), limits, noRunningTime) });
}

/**
 * Waits for the disk, for which no clock of ours counts: what does not hold when it is at rest never will.
 */
async function until(harness: CommandsHarness, what: string, holds: () => boolean): Promise<void> {
  for (;;) {
    await harness.clock.settle(0);
    if (holds()) return;
    if (writes.size === 0) throw new Error(`not: ${what}`);
    await Promise.race(writes);
  }
}

describe.each([
  ["an hour forward", HOUR_MS],
  ["an hour back", -HOUR_MS],
])("a wall clock that is set %s while the gateway is down", (_, jumpMs) => {
  /** One that was sent, one that waits behind it, one that is done, and a kill. */
  async function killed(): Promise<CommandsHarness> {
    const first = await start();
    const done = await first.send("Go", { robot: "AMR02", to: "Z" }, { requestId: "done" });
    await until(first, "the first leaves", () => first.calls.length === 1);
    await first.call(0).answer(OK);
    await until(first, "it is done", () => done.outcome !== null);
    await first.see(missions("AMR01", clock.nowMs(), mission("old", "A")));
    await first.send("Go", { robot: "AMR01", to: "A" }, { requestId: "sent" });
    const waits = await first.send("Go", { robot: "AMR01", to: "B" }, { requestId: "waits" });
    await until(first, "one leaves, one waits", () => first.calls.length === 2 && waits.stages.length === 1);
    clock.jump(jumpMs);
    return start();
  }

  const ask = (harness: CommandsHarness, requestId: string, robot: string, to: string) =>
    harness.send("Go", { robot, to }, { requestId, startByMs: clock.nowMs() + 10_000 });

  it("lets nothing leave twice or late, and leaves nothing without an outcome", async () => {
    const harness = await killed();
    const done = await ask(harness, "done", "AMR02", "Z");
    const sent = await ask(harness, "sent", "AMR01", "A");
    const waits = await ask(harness, "waits", "AMR01", "B");
    await until(
      harness,
      "all that needs no search is known",
      () => done.outcome !== null && waits.outcome !== null,
    );
    expect(done.outcome).toMatchObject({ outcome: "succeeded", duplicate: true });
    expect(waits.outcome).toMatchObject({ outcome: "expired", duplicate: true });
    await clock.settle(14_000);
    expect(sent.outcome, "it is still looked into").toBeNull();
    await clock.settle(1_000);
    await until(harness, "the search is over", () => sent.outcome !== null);
    expect(sent.outcome).toMatchObject({ outcome: "unknown", duplicate: true });
    expect(harness.calls).toEqual([]);
    // A third life knows the same.
    const third = await start();
    for (const [id, robot, to, outcome] of [
      ["done", "AMR02", "Z", "succeeded"],
      ["sent", "AMR01", "A", "unknown"],
      ["waits", "AMR01", "B", "expired"],
    ] as const) {
      expect((await ask(third, id, robot, to)).outcome).toMatchObject({ outcome, duplicate: true });
    }
    await clock.settle(60_000);
    expect(third.calls).toEqual([]);
  });

  it("hides no evidence of what was sent", async () => {
    const harness = await killed();
    const sent = await ask(harness, "sent", "AMR01", "A");
    await harness.see(missions("AMR01", clock.nowMs(), mission("old", "A"), mission("new", "A")));
    await clock.settle(1_000);
    await until(harness, "it is found", () => sent.outcome !== null);
    expect(sent.outcome).toMatchObject({ outcome: "probably_succeeded", missionId: "new" });
  });

  it("holds up nothing that comes after", async () => {
    const harness = await killed();
    await ask(harness, "sent", "AMR01", "A");
    const other = await ask(harness, "other", "AMR02", "B");
    await until(harness, "another robot moves at once", () => harness.calls.length === 1);
    const behind = await ask(harness, "behind", "AMR02", "C");
    await until(harness, "it waits", () => behind.stages.length === 1);
    // The clock is set right again while they are under way.
    clock.jump(-jumpMs);
    await clock.settle(10_000);
    await harness.call(0).answer(OK);
    await until(harness, "both are over", () => other.outcome !== null && behind.outcome !== null);
    expect(other.outcome).toMatchObject({ outcome: "succeeded" });
    expect(behind.outcome).toMatchObject({ outcome: "expired" });
    expect(harness.calls).toHaveLength(1);
  });
});
