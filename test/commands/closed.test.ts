import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDurableJournal } from "../../src/commands/journal/durable-journal.ts";
import { openStore } from "../../src/platform/store.ts";
import { envelopeOf } from "../support/intake-harness.ts";
import { type CommandsHarness, createHarness, OK, plc } from "./commands-harness.ts";

/** Protocols are open still while the gateway stops, and when its journal is closed already. */
describe("a gateway whose journal is closed", () => {
  let folder: string;
  let harness: CommandsHarness;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fleetgate-closed-"));
    const journal = openDurableJournal(openStore(folder), { keepMs: 3_600_000, keepCount: 1_000 });
    harness = await createHarness({ journal });
    const done = harness.send("Go", { robot: "AMR01", to: "A" }, { requestId: "known" });
    while (harness.calls.length === 0) await harness.clock.settle(0);
    await harness.call(0).answer(OK);
    const sent = await done;
    while (sent.outcome === null) await harness.clock.settle(0);
    await harness.dispatcher.close(0);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

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

  it.each([
    ["SHUTTING_DOWN", "of a new command", "new", "Go"],
    ["SHUTTING_DOWN", "of a stop", "stop", "Halt"],
    ["SHUTTING_DOWN", "of a command that was recorded: it is not told that it was not done", "known", "Go"],
  ])("%s: is the answer %s", async (code, _what, requestId, operation) => {
    expect(await submit(requestId, operation)).toMatchObject({
      outcome: "refused",
      code,
      message:
        "the gateway is shutting down; nothing was sent, and no earlier command of its id was looked for",
      retrySafe: false,
    });
    expect(harness.calls).toHaveLength(1);
  });

  it("SHUTTING_DOWN: says of an earlier command that its outcome is not known now", async () => {
    expect(await harness.dispatcher.recall(plc, "known")).toMatchObject({
      outcome: "unknown",
      code: "SHUTTING_DOWN",
      message: "the gateway is shutting down, and its record cannot be read now: ask again when it is up",
      retrySafe: false,
    });
  });
});
