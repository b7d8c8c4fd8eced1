import { expect, it } from "vitest";
import { createMemoryJournal } from "../support/memory-journal.ts";
import { createHarness, OK } from "./commands-harness.ts";

const go = { robot: "AMR01", to: "A" } as const;

it("SHUTTING_DOWN: a version on trial sends only stops and reads, and afterwards the same command", async () => {
  let isOnTrial = true;
  const journal = createMemoryJournal({ keepMs: 3_600_000, keepCount: 1_000 });
  const harness = await createHarness({ journal, isOnTrial: () => isOnTrial });
  const refused = { outcome: "refused", code: "SHUTTING_DOWN", retrySafe: true };
  const early = await harness.send("Go", go, { requestId: "one" });
  expect(early.outcome).toMatchObject({
    ...refused,
    message: "the gateway is being upgraded; it was not sent",
  });
  expect(await harness.check("Go", go, { requestId: "one" })).toMatchObject(refused);
  expect(harness.calls).toEqual([]);

  await harness.send("Halt", { robot: "AMR01" }, { requestId: "stop", effect: "stops" });
  await harness.call(0).answer(OK);
  await harness.send("Look", {}, { requestId: "look", effect: "reads" });
  expect(harness.calls.map(({ operation }) => operation)).toEqual(["Halt", "Look"]);

  isOnTrial = false;
  await harness.send("Go", go, { requestId: "one" });
  expect(harness.calls.map(({ operation }) => operation)).toEqual(["Halt", "Look", "Go"]);
});
