import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { type ControlHarness, createControlHarness, wellFacts } from "../northbound/web/control-harness.ts";
import { standingAlarm } from "../support/test-alarms.ts";
import { TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const alarms = [standingAlarm("ROBOT_LOST", "r1"), standingAlarm("DISK_FULL", "")];
let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
  harness.facts.now = { ...wellFacts, alarms };
  vi.stubEnv("SUDO_USER", "bob");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await harness[Symbol.asyncDispose]();
});

/** Runs `fleetgate` with standard output that nobody reads, and standard error too if `both`. */
async function unread(args: readonly string[], both = false) {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  if (both) child.stderr.destroy();
  const err = both ? "" : text(child.stderr);
  const [code, signal] = await new Promise<readonly unknown[]>((resolve) =>
    child.once("exit", (...ended) => resolve(ended)),
  );
  return { code, signal, err: await err };
}

it.each([
  [0, "--help"],
  [0, "call --list"],
  [4, "call GetOnlineRobots"],
  [4, "call GetOnlineRobots --json"],
  [0, "alarms list"],
  [0, "alarms ack DISK_FULL-1 ROBOT_LOST-1"],
  [0, "hold r1"],
  [0, "log-level"],
])("ends quietly with %i when nobody reads its output: %s", async (code, line) => {
  const words = line.split(" ");
  const isOffline = words.some((word) => ["--help", "--list"].includes(word));
  const ended = await unread(isOffline ? words : [...words, "--socket", harness.socketPath]);
  expect(ended).toEqual({ code, signal: null, err: "" });
});

it("goes on with what changes something, and keeps its exit code", async () => {
  const { socketPath } = harness;
  const args = ["alarms", "ack", "DISK_FULL-1", "NONE-1", "ROBOT_LOST-1", "--socket", socketPath];
  expect(await unread(args, true)).toMatchObject({ code: 4, signal: null });
  expect(harness.facts.now.alarms.map(({ acknowledged }) => acknowledged?.by.name)).toEqual(["bob", "bob"]);
});

it("says when its output cannot be written for another reason", async () => {
  const full = openSync("/dev/full", "w");
  const child = spawn(process.execPath, [main, "call", "--list"], { stdio: ["ignore", full, "pipe"] });
  const err = text(child.stderr as NonNullable<typeof child.stderr>);
  const code = await new Promise((resolve) => child.once("exit", resolve));
  expect({ code, err: await err }).toEqual({
    code: 1,
    err: "fleetgate: its output cannot be written: ENOSPC: no space left on device, write\n",
  });
});
