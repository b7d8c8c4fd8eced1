import { expect, test } from "vitest";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, plc } from "./commands-harness.ts";

test("NOT_ALLOWED: before the service is asked, and before the journal keeps what others' commands need", async () => {
  const journal = createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 });
  const harness = await createHarness({ journal, options: { rights: [{ source: plc, role: "observer" }] } });
  await harness.clock.settle(10_000);
  for (const [operation, request] of [
    ["Chain", { number: 7 }],
    ["Confirm", { chain: 12 }],
  ] as const) {
    const sent = await harness.send(operation, request, { requestId: operation });
    expect(sent.outcome).toMatchObject({
      code: "NOT_ALLOWED",
      message: expect.stringContaining("rights[0] makes it observer"),
    });
    expect(journal.find(`opcua:plc/${operation}`)).toBeUndefined();
  }
  expect(harness.calls).toEqual([]);
});
