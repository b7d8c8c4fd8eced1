import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../../../src/platform/log.ts";
import { createRecorder, type Recorder } from "../../../src/platform/recorder/recorder.ts";
import { readRecording } from "../../../src/platform/recorder/recording.ts";
import { createRunningTime, type RunningTime } from "../../../src/platform/running-time.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";

const MEGABYTE = 1024 * 1024;
const MINUTE_MS = 60_000;

let directory: string;
let folder: string;
let clock: ManualClock;
let time: RunningTime;
let stop: () => Promise<void>;
let free: number | null;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "records-"));
  folder = join(directory, "records");
  clock = createManualClock();
  time = createRunningTime(0, clock);
  free = null;
});
afterEach(async () => {
  await stop();
  rmSync(directory, { recursive: true, force: true });
});

function start(options: { maxBytes?: number; keepMs?: number; saved?: number } = {}): Recorder {
  const recorder = createRecorder(
    { folder, maxBytes: 16 * MEGABYTE, keepMs: 30 * MINUTE_MS, saved: 2, ...options },
    { clock, time, log: silentLog, freeBytes: () => free, version: "1.2.3" },
  );
  const stopping = new AbortController();
  const run = recorder.run(stopping.signal, () => {});
  stop = async () => {
    stopping.abort();
    await run;
  };
  return recorder;
}

const bytes = (text: string) => Buffer.from(text);
const message = (recorder: Recorder, text: string) =>
  recorder.tap.write("message", { name: "SubscribeMissionStatus", second: bytes(text) });
const texts = async (path: string) =>
  (await readRecording(path)).entries.map(({ second }) => second.toString());
const segmentFiles = () => readdirSync(folder).filter((name) => name.startsWith("segment-"));

it("saves all that an entry says, in order, for its owner's eyes only", async () => {
  const recorder = start();
  message(recorder, "one");
  clock.advance(5);
  recorder.tap.write("call", { name: "SkipGoal", id: 70_000, first: bytes("request") });
  recorder.tap.write("answer", { name: "SkipGoal", id: 70_000, code: 14, second: bytes("no") });
  const saved = await recorder.save("asked by cli:ann");
  const { header, entries } = await readRecording(saved.path);
  expect(header).toEqual({
    format: "fleetgate-recording",
    version: 2,
    gateway: "1.2.3",
    startedAt: "2026-01-01T00:00:00.005Z",
    cause: "asked by cli:ann",
    savedAt: "2026-01-01T00:00:00.005Z",
  });
  expect(
    entries.map(({ kind, atMs, id, code, name, first, second }) => [
      ...[kind, atMs - Date.UTC(2026, 0, 1), id, code, name],
      ...[first.toString(), second.toString()],
    ]),
  ).toEqual([
    ["message", 0, 0, 0, "SubscribeMissionStatus", "", "one"],
    ["call", 5, 70_000, 0, "SkipGoal", "request", ""],
    ["answer", 5, 70_000, 14, "SkipGoal", "", "no"],
  ]);
  expect(saved.bytes).toBe(statSync(saved.path).size);
  expect(statSync(saved.path).mode & 0o777).toBe(0o600);
});

it("writes a fraction of what it was given: messages are alike", async () => {
  const recorder = start();
  let given = 0;
  for (let number = 0; number < 500; number += 1) {
    const text = JSON.stringify({
      robotId: "cart-0001",
      missionId: `m${number}`,
      state: "STATE_RUNNING",
      number,
    });
    given += text.length;
    message(recorder, text);
  }
  const { path, bytes } = await recorder.save("test");
  expect(bytes).toBeLessThan(given / 4);
  expect(await texts(path)).toHaveLength(500);
});

it("writes within a second, and what an earlier run has written is saved too", async () => {
  const recorder = start();
  message(recorder, "before");
  await clock.settle(1_000);
  await stop();
  expect(segmentFiles()).toHaveLength(1);
  clock.advance(MINUTE_MS);
  const second = start();
  message(second, "after");
  expect(await texts((await second.save("test")).path)).toEqual(["before", "after"]);
});

it("leaves out what a crash has written the half of", async () => {
  const recorder = start();
  message(recorder, "whole");
  await recorder.save("test");
  message(recorder, "half");
  await stop();
  const path = join(folder, "segment-1.fgrec");
  truncateSync(path, statSync(path).size - 2);
  writeFileSync(join(folder, "segment-2.fgrec"), "something else");
  const second = start();
  message(second, "next");
  expect(await texts((await second.save("test")).path)).toEqual(["whole", "next"]);
});

it("keeps no more than so many bytes, and loses the oldest", async () => {
  const recorder = start({ maxBytes: MEGABYTE });
  const body = randomBytes(50_000).toString("hex");
  for (let number = 10; number < 40; number += 1) {
    message(recorder, `${number}${body}`);
    await clock.settle(1_000);
  }
  const saved = await recorder.save("test");
  const kept = (await texts(saved.path)).map((text) => Number(text.slice(0, 2)));
  expect(saved.bytes).toBeLessThanOrEqual(MEGABYTE);
  expect(kept.length).toBeGreaterThan(7);
  expect(kept).toEqual(kept.map((_, index) => 40 - kept.length + index));
  const onDisk = segmentFiles().reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  expect(onDisk).toBeLessThanOrEqual(MEGABYTE);
});

it("keeps no more than so many minutes, whatever the wall clock says", async () => {
  const recorder = start();
  for (let minute = 0; minute < 60; minute += 1) {
    message(recorder, String(minute));
    if (minute === 50) clock.jump(86_400_000);
    await clock.settle(MINUTE_MS);
    // The file is written in threads, which no clock waits for.
    await recorder.save("test");
  }
  const kept = (await texts((await recorder.save("test")).path)).map(Number);
  expect(kept[0]).toBeGreaterThanOrEqual(30);
  expect(kept[0]).toBeLessThan(34);
  expect(kept.at(-1)).toBe(59);
});

it("keeps over a restart what a start with a wrong clock has seen, and what was before it", async () => {
  const DAY_MS = 86_400_000;
  for (const [text, jumpMs] of [
    ["before", 8 * DAY_MS],
    ["ahead", -8 * DAY_MS],
    ["after", 0],
  ] as const) {
    const recorder = start({ saved: 2 });
    message(recorder, text);
    const { path } = await recorder.save("test");
    if (text === "after") expect(await texts(path)).toEqual(["before", "ahead", "after"]);
    await stop();
    clock.jump(jumpMs);
    await clock.settle(1_000);
  }
  const saved = readdirSync(join(folder, "saved"));
  // The oldest one made room, though the name of another one has a time to come.
  expect(saved.map((name) => name.slice(0, 15)).sort()).toEqual(["user-2026-01-01", "user-2026-01-09"]);
  expect(saved.some((name) => name.endsWith("-3.fgrec"))).toBe(true);
});

it("stops on a disk that takes nothing, says so, counts what it drops, and goes on when it can", async () => {
  mkdirSync(directory, { recursive: true });
  writeFileSync(folder, "in the way");
  const recorder = start();
  message(recorder, "lost");
  await expect(recorder.save("test")).rejects.toThrow(/records is a file/);
  message(recorder, "lost");
  expect(recorder.health()).toMatchObject({
    state: "degraded",
    detail: expect.stringMatching(/^nothing is recorded: .*records is a file/),
    figures: { entriesDropped: 2, saveFailures: 1 },
  });
  rmSync(folder);
  await clock.settle(MINUTE_MS);
  message(recorder, "kept");
  expect(await texts((await recorder.save("test")).path)).toEqual(["kept"]);
  expect(recorder.health()).toMatchObject({ state: "up" });
});

it("leaves room on the disk for what matters more", async () => {
  const recorder = start();
  free = 64 * MEGABYTE;
  message(recorder, "lost");
  await expect(recorder.save("test")).rejects.toThrow(/only 64 MB left/);
  expect(segmentFiles()).toEqual([]);
  free = 500 * MEGABYTE;
  expect(recorder.health()).toMatchObject({
    state: "degraded",
    detail: `nothing is recorded: the disk of ${folder} has only 64 MB left (as of the last try; the next is within a minute)`,
  });
  await clock.settle(MINUTE_MS);
  message(recorder, "kept");
  expect(await texts((await recorder.save("test")).path)).toEqual(["kept"]);
  expect(recorder.health()).toMatchObject({ state: "up" });
});

it("drops what is larger than an entry may be, and what waits for too long", async () => {
  const recorder = start();
  message(recorder, "x".repeat(MEGABYTE));
  expect(recorder.health()).toMatchObject({ state: "up", figures: { entriesDropped: 1, entries: 0 } });
  for (let count = 0; count < 20; count += 1) message(recorder, "x".repeat(MEGABYTE / 2));
  expect(recorder.health().figures).toMatchObject({ entries: 15, entriesDropped: 6 });
});

it("saves after an alarm, once for several, and not again for ten minutes", async () => {
  const recorder = start();
  const savedBy = (by: string) =>
    existsSync(join(folder, "saved"))
      ? readdirSync(join(folder, "saved")).filter((name) => name.startsWith(by))
      : [];
  message(recorder, "before");
  recorder.alarm("ROBOT_LOST: a");
  recorder.alarm("ROBOT_LOST: b");
  await clock.settle(15_000);
  await recorder.save("test");
  expect(savedBy("alarm")).toHaveLength(1);
  const path = join(folder, "saved", savedBy("alarm")[0] ?? "");
  expect((await readRecording(path)).header.cause).toBe("ROBOT_LOST: a");
  recorder.alarm("ROBOT_LOST: c");
  await clock.settle(599_999);
  await recorder.save("test");
  expect(savedBy("alarm")).toHaveLength(1);
  await clock.settle(1);
  for (let more = 0; more < 3; more += 1) {
    await clock.settle(1);
    await recorder.save("test");
  }
  expect(savedBy("alarm")).toHaveLength(2);
  expect(savedBy("user")).toHaveLength(2);
});
