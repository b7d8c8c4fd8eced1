import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MOST_MADE_UP, recordMissing } from "../../src/commands/audit/missing-records.ts";
import type { JournalRecord } from "../../src/commands/journal/journal.ts";
import { ending, refusal } from "../../src/domain/outcome.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLineFile, readLinesBack } from "../../src/platform/line-file.ts";
import { silentLog } from "../../src/platform/log.ts";
import { openStore } from "../../src/platform/store.ts";
import { openJournalOn } from "../support/journal-on.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { noRunningTime } from "../support/no-running-time.ts";
import { createHarness, OK } from "./commands-harness.ts";
import { createLossyDisk, syncing } from "./lossy-store.ts";

const T0 = Date.parse("2026-03-01T12:00:00.000Z");
const DOWN_MS = 600_000;
const READ_BYTES = 16_000_000;
let directory: string;
let path: string;
let log: string[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "missing-"));
  path = join(directory, "audit.jsonl");
  log = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** A command that ended so long after T0. */
function ended(requestId: string, afterMs: number, more: Partial<JournalRecord> = {}): JournalRecord {
  const source = { protocol: "mqtt", name: "scada" } as const;
  const finalAtMs = T0 + afterMs;
  return {
    id: `mqtt:scada/${requestId}`,
    digest: "d",
    command: {
      source,
      requestId,
      operation: "PauseRobot",
      effect: "stops",
      robotId: null,
      requestJson: '{"amrId":101}',
      startByMs: 0,
      origin: { address: "10.0.0.7" },
    },
    queue: "robot/AMR01",
    robotId: "AMR01",
    acceptedAtMs: finalAtMs - 20,
    sentAtMs: finalAtMs - 10,
    finalAtMs,
    sentJson: "",
    baseline: null,
    outcome: ending("succeeded", "OK", "", false),
    ...more,
  };
}

type Line = Readonly<Record<string, unknown>>;

/** The line that a gateway writes of it while it lives, as far as it tells which command it is. */
function lineOf({ command, outcome, finalAtMs }: JournalRecord): string {
  const { protocol, name } = command.source;
  const at = new Date(finalAtMs ?? 0).toISOString();
  const told = {
    at,
    event: "command",
    protocol,
    user: name,
    request_id: command.requestId,
    code: outcome?.code,
  };
  return `${JSON.stringify(told)}\n`;
}

async function journaled(...entries: readonly JournalRecord[]): Promise<void> {
  const journal = openJournalOn(
    openStore(join(directory, "journal")),
    { keepMs: 1e12, keepCount: 1e6 },
    noRunningTime,
  );
  await Promise.all(entries.map((entry) => journal.write(entry)));
  await journal.close();
}

/** What a start does, ten minutes later. @returns the lines that it has made up */
async function start({ readBytes = READ_BYTES, nowMs = T0 + DOWN_MS } = {}): Promise<readonly Line[]> {
  const options = { path, maxBytes: 10_000_000, keep: 2 };
  const journal = openJournalOn(
    openStore(join(directory, "journal")),
    { keepMs: 1e12, keepCount: 1e6 },
    noRunningTime,
  );
  const file = createLineFile(options, systemClock, silentLog);
  const made: Line[] = [];
  await recordMissing({
    catalogue: createCatalogue(),
    journal,
    clock: { nowMs: () => nowMs },
    log: { ...silentLog, warn: (fields, text) => void log.push(`${text} ${JSON.stringify(fields)}`) },
    audit(record) {
      made.push(record);
      file.append(JSON.stringify(record));
    },
    auditLines: (take) => readLinesBack(options, readBytes, take),
  });
  await file.close();
  await journal.close();
  return made;
}

const ids = (lines: readonly Line[]) => lines.map(({ request_id }) => request_id);

describe("the lines that a crash has kept from the audit log", () => {
  it("are made up at the next start, in the order of the ends, and marked; then none is missing", async () => {
    const entries = [ended("a", 0), ended("b", 300), ended("c", 200), ended("d", 100)];
    await journaled(...entries);
    writeFileSync(path, entries.slice(0, 1).map(lineOf).join(""));
    const made = await start();
    expect(ids(made)).toEqual(["d", "c", "b"]);
    expect(made[0]).toEqual({
      at: "2026-03-01T12:00:00.100Z",
      event: "command",
      protocol: "mqtt",
      user: "scada",
      address: "10.0.0.7",
      certificate: null,
      request_id: "d",
      operation: "PauseRobot",
      robot_id: "AMR01",
      request: '{"amrId":101}',
      accepted_at: "2026-03-01T12:00:00.080Z",
      sent_at: "2026-03-01T12:00:00.090Z",
      outcome: "succeeded",
      code: "OK",
      message: "",
      mission_id: null,
      evidence: null,
      recorded_after_restart: "2026-03-01T12:10:00.000Z",
    });
    expect(log).toEqual([
      'commands of an earlier run had no line in the audit log {"recorded":3,"notRecorded":0}',
    ]);
    expect(await start()).toEqual([]);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    expect(ids(lines.map((line) => JSON.parse(line)))).toEqual(["a", "d", "c", "b"]);
  });

  it("are not joined with one that was cut off, which has its line anew", async () => {
    const entries = [ended("a", 0), ended("b", 100)];
    await journaled(...entries);
    writeFileSync(path, entries.map(lineOf).join(""));
    truncateSync(path, readFileSync(path).length - 30);
    expect(ids(await start())).toEqual(["b"]);
    const lines = readFileSync(path, "utf8").trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(() => JSON.parse(lines[1] ?? "")).toThrow();
    expect(JSON.parse(lines[2] ?? "")).toMatchObject({ request_id: "b" });
  });

  it("are found where the disk has left zeros, and the newest lines lie in the file that was put aside", async () => {
    const entries = [ended("a", 0), ended("b", 100), ended("c", 200)];
    await journaled(...entries);
    writeFileSync(`${path}.1`, entries.slice(0, 2).map(lineOf).join(""));
    writeFileSync(path, Buffer.alloc(200));
    expect(ids(await start())).toEqual(["c"]);
  });

  it("are told from that of a refusal under the same identity", async () => {
    const entries = [ended("a", 0), ended("b", 100)];
    await journaled(...entries);
    const reused = { ...ended("b", 100), outcome: refusal("IDENTITY_REUSED", "used") };
    const later = { ...ended("a", 150), outcome: refusal("IDENTITY_REUSED", "used") };
    writeFileSync(path, [...entries.slice(0, 1), reused, later].map(lineOf).join(""));
    expect(ids(await start())).toEqual(["b"]);
  });

  it("say that it was never accepted where it was refused at once", async () => {
    const outcome = refusal("LEASE_HELD", "leased");
    await journaled(ended("a", 0, { acceptedAtMs: T0, sentAtMs: null, outcome }));
    expect(await start()).toMatchObject([{ accepted_at: null, sent_at: null, code: "LEASE_HELD" }]);
  });

  it("hide secrets, and all of a request whose operation this version does not know", async () => {
    const request = { url: "https://x.example/", options: { headers: { Authorization: "TOPSECRET" } } };
    const command = { ...ended("a", 0).command, requestJson: JSON.stringify(request) };
    await journaled(
      ended("a", 0, { command: { ...command, operation: "CreateWebhook" } }),
      ended("b", 1, { command: { ...command, requestId: "b", operation: "OfAnotherVersion" } }),
    );
    const made = await start();
    expect(made.map((line) => line.request)).toEqual([
      '{"url":"https://x.example/","options":{"headers":{"Authorization":"***"}}}',
      "",
    ]);
    expect(readFileSync(path, "utf8")).not.toContain("TOPSECRET");
  });
});

describe("what is made up has an end", () => {
  it("is of the last minute before the newest line, and of all after it", async () => {
    const kept = ended("kept", 0);
    await journaled(ended("long ago", -61_000), ended("before", -59_000), kept, ended("after", 500_000));
    writeFileSync(path, lineOf(kept));
    expect(ids(await start())).toEqual(["before", "after"]);
  });

  it("is of the journal's last minute where there is no line to go by", async () => {
    await journaled(ended("long ago", -61_000), ended("before", -59_000), ended("last", 0));
    expect(ids(await start())).toEqual(["before", "last"]);
  });

  it("is nothing without a journal", async () => {
    expect(await start()).toEqual([]);
    expect(log).toEqual([]);
  });

  it("is at most so many lines, the newest; the log says how many are left out", async () => {
    const entries = Array.from({ length: MOST_MADE_UP + 7 }, (_, number) => ended(`c${number}`, number));
    await journaled(...entries);
    const made = await start();
    expect(made).toHaveLength(MOST_MADE_UP);
    expect(made[0]?.request_id).toBe("c7");
    expect(log.join()).toContain('"recorded":5000,"notRecorded":7');
  });

  it("is nothing whose line may lie further back than is read", async () => {
    const entries = Array.from({ length: 100 }, (_, number) => ended(`c${number}`, number * 200));
    await journaled(...entries);
    const lines = entries.slice(0, -1).map(lineOf);
    writeFileSync(path, lines.join(""));
    expect(ids(await start({ readBytes: 60 * (lines[50]?.length ?? 0) }))).toEqual(["c99"]);
  });

  it("is nothing of a time that is yet to come, unless the newest lines are of that time too", async () => {
    const future = ended("future", 10 * DOWN_MS);
    await journaled(ended("a", 0), future);
    expect(ids(await start())).toEqual(["a"]);
    appendFileSync(path, lineOf(ended("other", 10 * DOWN_MS)));
    expect(ids(await start())).toEqual(["future"]);
  });

  it("is nothing where the audit log cannot be read, and the gateway starts", async () => {
    await journaled(ended("a", 0));
    mkdirSync(path);
    expect(await start()).toEqual([]);
    expect(log.join()).toMatch(
      /^whether commands of an earlier run lack their line in the audit log is not known/,
    );
  });
});

it("the dispatcher makes them up at its start, before the ends of what was left unfinished", async () => {
  const disk = createLossyDisk();
  const clock = createManualClock();
  const journal = () => openJournalOn(syncing(disk), { keepMs: 3_600_000, keepCount: 1_000 }, noRunningTime);
  const first = await createHarness({ clock, journal: journal() });
  await first.send("Go", { robot: "AMR01" });
  await first.call(0).answer(OK);
  await first.send("Go", { robot: "AMR02" });
  await first.send("Go", { robot: "AMR02" });
  disk.crash();
  // Its audit log is gone with it.
  const next = await createHarness({ clock, journal: journal(), auditLines: () => Promise.resolve(true) });
  const [line] = first.audit;
  const now = new Date(clock.nowMs()).toISOString();
  expect(next.audit).toMatchObject([
    { ...line, recorded_after_restart: now },
    { request_id: "r3", outcome: "expired" },
  ]);
  expect(next.audit[1]).not.toHaveProperty("recorded_after_restart");
});
