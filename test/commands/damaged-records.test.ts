import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openStore, type Store } from "../../src/platform/store.ts";
import { RecordDamaged } from "../../src/platform/stores/record-seal.ts";
import { flipBehind } from "../support/flip-bytes.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { createHarness, OK } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const limits = { keepMs: 1_000, keepCount: 1_000 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "damaged-records-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** A store whose disk has changed a record since, while the gateway runs. */
function rotting(store: Store) {
  const rotten = new Set<string>();
  const damaged: Store = {
    ...store,
    get(key) {
      if (rotten.has(key)) throw new RecordDamaged("a record is not as it was written");
      return store.get(key);
    },
  };
  return { store: damaged, rot: (key: string) => rotten.add(key) };
}

async function withRottenRecord() {
  const { store, rot } = rotting(syncing(createLossyDisk()));
  let runningMs = 0;
  const time = { totalMs: () => runningMs, atLeast() {} };
  const journal = openJournalOn(store, limits, time);
  const harness = await createHarness({ journal });
  await harness.send("Go", { robot: "AMR01" }, { requestId: "r" });
  await harness.call(0).answer(OK);
  rot("commands/opcua:plc/r");
  const pass = (durationMs: number) => {
    runningMs += durationMs;
  };
  return { harness, journal, pass };
}

it.each([
  ["the same request", { robot: "AMR01" }],
  ["another one", { robot: "AMR02" }],
])("a command whose record is damaged is known, and never told as not sent: %s", async (_, request) => {
  const { harness } = await withRottenRecord();
  expect(harness.dispatcher.health().state).toBe("up");
  const again = await harness.send("Go", request, { requestId: "r" });
  expect(again.outcome).toMatchObject({
    outcome: "unknown",
    code: "OUTCOME_UNKNOWN",
    message: "its record in the journal is damaged; whether it was sent is not known: look first",
    retrySafe: false,
    duplicate: true,
  });
  expect(harness.calls).toHaveLength(1);
  expect(harness.dispatcher.health()).toMatchObject({
    state: "degraded",
    detail:
      "a record of the journal is damaged: its command ends unknown, and the next start puts the journal aside",
  });
});

it("a message under its id that cannot be read does not make it look undone", async () => {
  const { harness } = await withRottenRecord();
  const refused = await harness.send("Go", { bad: 1 }, { requestId: "r" });
  expect(refused.outcome).toMatchObject({ code: "MALFORMED", retrySafe: false });
});

it("a damaged record is never dropped, and keeps no other from being dropped", async () => {
  const { harness, journal, pass } = await withRottenRecord();
  await harness.send("Go", { robot: "AMR01" }, { requestId: "s" });
  await harness.call(1).answer(OK);
  pass(2 * limits.keepMs);
  expect(await journal.prune()).toBe(true);
  expect(await journal.prune()).toBe(false);
  expect(journal.find("opcua:plc/r")).toBe("damaged");
  expect(journal.find("opcua:plc/s")).toBeUndefined();
});

it.each([
  ["a command", '"digest":"'],
  ["a lease", '"station":"'],
  ["a hold", '"sinceMs":'],
  ["the order", "commands/cli:me"],
])("a start finds a damaged record: %s", async (_, text) => {
  const journal = openJournalOn(openStore(folder), limits, noRunningTime);
  const source = { protocol: "cli", name: "me" } as const;
  const command = { source, requestId: "r", operation: "Go", effect: "moves", robotId: null } as const;
  await journal.write({
    id: "cli:me/r",
    digest: "d",
    command: { ...command, requestJson: "{}", startByMs: 0 },
    queue: "fleet",
    robotId: null,
    acceptedAtMs: 0,
    sentAtMs: null,
    finalAtMs: null,
    sentJson: "{}",
    baseline: null,
    outcome: null,
  });
  await journal.writeLease("AMR01", { robotId: "AMR01", station: "Dock", owner: source, sinceMs: 0 });
  await journal.writeHold({ robotId: null, owner: source, sinceMs: 1 }, true);
  await journal.close();
  flipBehind(join(folder, "data.mdb"), text);
  const store = openStore(folder);
  expect(() => openJournalOn(store, limits, noRunningTime)).toThrow(
    text === "commands/cli:me" ? Error : RecordDamaged,
  );
  await store.close();
});
