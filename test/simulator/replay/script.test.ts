import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type EntryKind,
  type EntryParts,
  entryBytes,
  headerBytes,
  writeEntry,
} from "../../../src/platform/recorder/recording.ts";
import { readScript } from "../../../src/simulator/replay/script.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-script-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const header = headerBytes({ gateway: "0.1.0", startedAt: "2026-01-31T18:00:00.000Z" });

function entry(kind: EntryKind, parts: EntryParts): Buffer {
  const bytes = Buffer.alloc(entryBytes(parts));
  writeEntry(bytes, 0, kind, 1_000, parts);
  return bytes;
}

async function scriptOf(...parts: readonly Buffer[]) {
  const path = join(folder, "a.fgrec");
  await writeFile(path, Buffer.concat(parts));
  return readScript(path);
}

const poll = (request: string) =>
  entry("read", { name: "GetOnlineRobots", first: Buffer.from(request), second: Buffer.from("{}") });

it("leaves out what is damaged, and plays the rest", async () => {
  const damaged = [poll("{"), poll('{"noSuchField":1}'), poll('"text"')];
  const noCall = entry("call", { name: "CreateMission", id: 1, first: Buffer.from([0xff, 0xff]) });
  const noMessage = entry("message", { name: "SubscribeMissionStatus", second: Buffer.from([0xff]) });
  const script = await scriptOf(header, ...damaged, noCall, noMessage, poll("{}"));
  expect([...script.polls.keys()]).toEqual(["GetOnlineRobots {}"]);
  expect(script.messages).toEqual([]);
});

it("ends where an entry is cut off, or has an impossible length", async () => {
  const huge = Buffer.from([0xff, 0xff, 0xff, 0xff, 1, 2, 3]);
  for (const rest of [huge, Buffer.alloc(4_096), poll("{}").subarray(0, 20)]) {
    expect((await scriptOf(header, poll("{}"), rest)).polls.size).toBe(1);
  }
});

it("names a file that is no recording, or one of another version", async () => {
  await expect(scriptOf(Buffer.from("hello"))).rejects.toThrow(/a\.fgrec: it is no recording$/);
  const later = Buffer.from(header.toString().replace('"version":2', '"version":3'));
  await expect(scriptOf(later, poll("{}"))).rejects.toThrow(/version 3 .* this program reads version 2$/);
});
