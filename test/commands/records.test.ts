import { expect, it } from "vitest";
import type { Journal } from "../../src/commands/journal/journal.ts";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, OK } from "./commands-harness.ts";

/** Takes what has no outcome yet, and nothing after: a disk that has filled up meanwhile. */
function fillingUp(): Journal {
  const journal = createMemoryJournal({ keepMs: 1e9, keepCount: 100 });
  const full = () => Promise.reject(new Error("no space left on device"));
  return { ...journal, write: (entry) => (entry.outcome === null ? journal.write(entry) : full()) };
}

it("a command is not begun again when its outcome could not be recorded", async () => {
  const harness = await createHarness({ journal: fillingUp() });
  await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "once" });
  await harness.call(0).answer(OK);
  const again = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "once" });
  expect(harness.calls).toHaveLength(1);
  expect(again.outcome).toMatchObject({
    outcome: "unknown",
    code: "OUTCOME_UNKNOWN",
    message: "its outcome could not be recorded, as the disk failed; the robot may have acted",
    duplicate: true,
  });
});

it("a command leaves a record without its request, where that is long", async () => {
  const journal = createMemoryJournal({ keepMs: 1e9, keepCount: 100 });
  const harness = await createHarness({ journal });
  const long = { robot: "AMR01", to: "x".repeat(2_000) };
  await harness.send("Go", long, { requestId: "long" });
  await harness.call(0).answer(OK);
  expect(journal.find("opcua:plc/long")).toHaveProperty("command.requestJson", "");
  expect((await harness.send("Go", long, { requestId: "long" })).outcome).toMatchObject({ duplicate: true });
  const other = await harness.send("Go", { ...long, to: "y".repeat(2_000) }, { requestId: "long" });
  expect(other.outcome?.code).toBe("IDENTITY_REUSED");
});
