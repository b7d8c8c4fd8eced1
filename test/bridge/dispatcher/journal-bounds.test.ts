import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openDurableJournal } from "../../../src/bridge/dispatcher/durable-journal.ts";
import type { Journal, JournalEntry } from "../../../src/bridge/dispatcher/journal.ts";
import { ending } from "../../../src/domain/outcome.ts";
import { openStore } from "../../../src/platform/store.ts";

const KEEP = 500;
const ROUNDS = 40;
const A_ROUND = 250;

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "journal-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function finished(number: number): JournalEntry {
  return {
    id: `cli:me/${number}`,
    digest: "d".repeat(64),
    command: {
      source: { door: "cli", name: "me" },
      requestId: String(number),
      operation: "Go",
      effect: "moves",
      robotId: "AMR01",
      requestJson: JSON.stringify({ robot: "AMR01", to: "x".repeat(300) }),
      startByMs: number,
    },
    lane: "robot/AMR01",
    robotId: "AMR01",
    acceptedAtMs: number,
    sentAtMs: number,
    finalAtMs: number,
    sentJson: "",
    baseline: null,
    outcome: ending("succeeded", "OK", "", false),
  };
}

async function prune(journal: Journal, nowMs: number): Promise<void> {
  while (await journal.prune(nowMs));
}

it("what is pruned makes room: the file does not grow with the commands that went through it", async () => {
  const journal = openDurableJournal(openStore(directory), { keepMs: 1e9, keepCount: KEEP });
  const sizes: number[] = [];
  let number = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const writes = Array.from({ length: A_ROUND }, () => {
      number += 1;
      return journal.write(finished(number));
    });
    await Promise.all(writes);
    await prune(journal, number);
    expect(journal.figures().journalEntries).toBeLessThanOrEqual(KEEP);
    sizes.push(statSync(join(directory, "data.mdb")).size);
  }
  const [settled = 0] = sizes.slice(ROUNDS / 4);
  expect(sizes.at(-1), `sizes ${sizes.join(" ")}`).toBeLessThan(settled * 1.3);
  // The newest are there, also for a later start.
  await journal.close();
  const again = openDurableJournal(openStore(directory), { keepMs: 1e9, keepCount: KEEP });
  expect(again.figures().journalEntries).toBeLessThanOrEqual(KEEP);
  expect(again.find(`cli:me/${number}`)).toBeDefined();
  expect(again.find("cli:me/1")).toBeUndefined();
  await again.close();
}, 30_000);
