import { expect, it } from "vitest";
import { openJournalOn } from "../support/journal-on.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { type CommandsHarness, createHarness, plc } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const unknown = {
  outcome: "unknown",
  message: expect.stringMatching(
    /; whether it was sent before is not known, for the records are lost: look first$/,
  ),
};
const limits = { keepMs: 3_600_000, keepCount: 100 };
const lost = () =>
  createHarness({
    journal: openJournalOn(syncing(createLossyDisk()), limits, noRunningTime, "the journal is lost"),
    areRecordsLost: true,
  });
const web = { protocol: "web", name: "panel" } as const;

/** What the reply, the audit log and the event say of one command. */
async function said(harness: CommandsHarness, ...command: Parameters<CommandsHarness["send"]>) {
  const { outcome } = await harness.send(...command);
  const event = harness.events.at(-1);
  return { reply: outcome, audit: harness.audit.at(-1), event: event?.kind === "command" && event.outcome };
}

it.each([
  ["the journal takes no record", "JOURNAL_FAILED", {}, () => {}],
  ["the robot is not good", "ROBOT_NOT_GOOD", {}, (harness) => harness.quality.set("AMR01", "stale")],
  ["its sender has no right", "NOT_ALLOWED", { source: web }, () => {}],
  ["it is too late", "EXPIRED", { startByMs: 0 }, () => {}],
] satisfies ReadonlyArray<readonly [string, string, object, (harness: CommandsHarness) => void]>)(
  "reply, audit and event say that lost records may have known it: %s",
  async (_, code, more, before) => {
    const harness = await lost();
    before(harness);
    const { reply, audit, event } = await said(harness, "Go", { robot: "AMR01" }, more);
    expect(reply).toMatchObject({ ...unknown, code, retrySafe: false });
    expect(audit).toMatchObject({ ...unknown, code });
    expect(event).toEqual(reply);
  },
);

it("says the same of what the intake refuses, and of a repetition", async () => {
  const harness = await lost();
  const sent = async () => said(harness, "Go", { robot: "AMR01" }, { source: plc, requestId: "same" });
  const first = await sent();
  expect((await sent()).reply).toEqual({ ...first.reply, duplicate: true });
  const request = { json: { robot: "AMR01" } };
  const retained = { source: plc, requestId: "r", operation: "Go", request, retained: true };
  const refused = await harness.intake.submit(retained, null);
  expect(refused).toMatchObject({ ...unknown, code: "RETAINED" });
  expect(harness.audit.at(-1)).toMatchObject({ ...unknown, code: "RETAINED" });
});

it("lets stops and reads have their own outcomes", async () => {
  const harness = await lost();
  const read = await said(harness, "Look", { robot: "AMR01" }, { startByMs: 0 });
  expect(read.reply).toMatchObject({ outcome: "expired" });
  expect(read.audit).toMatchObject({ outcome: "expired" });
  expect(read.event).toMatchObject({ outcome: "expired" });
});
