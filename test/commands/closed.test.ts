import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStore } from "../../src/platform/store.ts";
import { envelopeOf } from "../support/intake-harness.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { type CommandsHarness, createHarness, OK, plc } from "./commands-harness.ts";

/** Protocols are open still while the gateway stops. */
describe("a gateway that stops", () => {
  let folder: string;
  let harness: CommandsHarness;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fleetgate-closed-"));
    const journal = openJournalOn(openStore(folder), { keepMs: 3_600_000, keepCount: 1_000 }, noRunningTime);
    harness = await createHarness({ journal });
    const done = harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "known" });
    while (harness.calls.length === 0) await harness.clock.settle(0);
    await harness.call(0).answer(OK);
    const sent = await done;
    while (sent.outcome === null) await harness.clock.settle(0);
    const lost = await harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "lost" });
    while (harness.calls.length === 1) await harness.clock.settle(0);
    const drained = harness.dispatcher.drain(0);
    await harness.clock.settle(0);
    await drained;
    expect(lost.outcome).toMatchObject({ outcome: "unknown" });
  });
  afterEach(async () => {
    await harness.dispatcher.close(0);
    await rm(folder, { recursive: true, force: true });
  });

  const command = {
    effect: "moves",
    robotId: null,
    startByMs: Number.MAX_SAFE_INTEGER,
    source: plc,
  } as const;
  const submit = (requestId: string, operation: string) =>
    harness.intake.submit(
      envelopeOf(
        { ...command, requestId, operation, requestJson: '{"robot":"AMR01","to":"A"}' },
        harness.clock.nowMs(),
      ),
      null,
    );

  it("tells the outcomes of earlier commands until its journal is closed, also those that the stop ended", async () => {
    expect(await submit("known", "Go")).toMatchObject({ outcome: "succeeded", duplicate: true });
    expect(await submit("lost", "Go")).toMatchObject({
      outcome: "unknown",
      code: "OUTCOME_UNKNOWN",
      duplicate: true,
    });
    expect(await harness.dispatcher.recall(plc, "known")).toMatchObject({ outcome: "succeeded" });
    expect(harness.calls).toHaveLength(2);
  });

  it.each([
    ["of a new command", "new", "Go"],
    ["of a stop", "stop", "Halt"],
  ])("SHUTTING_DOWN: is the answer %s until then", async (_what, requestId, operation) => {
    expect(await submit(requestId, operation)).toMatchObject({
      outcome: "refused",
      code: "SHUTTING_DOWN",
      message: "the gateway is shutting down; it was not sent",
    });
    expect(harness.calls).toHaveLength(2);
  });

  it("SHUTTING_DOWN: refuses nothing when its journal is closed: the id may be an earlier command's", async () => {
    await harness.dispatcher.close(0);
    const askAgain = {
      outcome: "unknown",
      code: "SHUTTING_DOWN",
      message: "the gateway is shutting down, and its record cannot be read now: ask again when it is up",
      retrySafe: false,
    };
    expect(await submit("known", "Go")).toMatchObject(askAgain);
    expect(await submit("new", "Go")).toMatchObject(askAgain);
    expect(await harness.dispatcher.recall(plc, "known")).toMatchObject(askAgain);
    expect(harness.calls).toHaveLength(2);
  });
});
