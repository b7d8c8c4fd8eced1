import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { noticesOf } from "../../src/cli/service-notices.ts";
import type { Health } from "../../src/platform/component.ts";
import type { Hang } from "../../src/platform/liveness.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";
import { writeConfiguration } from "../daemon/daemon.ts";
import { createManualClock } from "../support/manual-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { endPrograms, fleetgate, newFolder, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS });

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.stop());
afterEach(async () => {
  vi.unstubAllEnvs();
  await endPrograms();
});

const BROKER_NOWHERE = "mqtt://127.0.0.1:9";

/** Stands in for systemd-notify: it prints what it was told, to standard error or into a file. */
const PRINTS = '#!/bin/sh\necho "told $1" >&2\n';

test("systemd gets each status as it is, and no sign of life while a part hangs", async () => {
  const folder = newFolder();
  const file = join(folder, "told");
  writeFileSync(join(folder, "systemd-notify"), `#!/bin/sh\nprintf '%s\\n' "$1" >>${file}\n`, {
    mode: 0o755,
  });
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
  const clock = createManualClock();
  const stop = new AbortController();
  const environment = { NOTIFY_SOCKET: "/nowhere", WATCHDOG_USEC: "60000000" };
  const logged: string[] = [];
  const log: Log = { ...silentLog, error: (facts) => void logged.push(JSON.stringify(facts)) };
  const notices = noticesOf(environment, clock, log, stop.signal);
  let detail = "$(touch x) `id` \\n \\ \"'* %s";
  let hang: Hang | null = null;
  const state: Health = { state: "up", figures: { robots: 1, robotsGood: 1 } };
  notices.watch({ health: () => ({ fleet: { state: "degraded", detail }, state }), hang: () => hang });
  notices.ready();
  clock.advance(60_000);
  hang = { part: "quality", reason: "it has done nothing for 31 s" };
  clock.advance(60_000);
  detail = "short";
  clock.advance(4_000);
  hang = null;
  clock.advance(36_000);
  stop.abort();
  const expected = [
    "STATUS=1 of 1 robots good; fleet degraded ($(touch x) `id` \\n \\ \"'* %s)",
    "READY=1",
    ...["WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"],
    "STATUS=1 of 1 robots good; fleet degraded (short)",
    ...["WATCHDOG=1", "WATCHDOG=1"],
    "STATUS=Stopping",
    "STOPPING=1",
  ];
  await vi.waitFor(() => expect(readFileSync(file, "utf8").trimEnd().split("\n")).toEqual(expected), {
    timeout: TEST_TIMEOUT_MS / 2,
  });
  expect(logged).toEqual([JSON.stringify({ part: "quality", reason: "it has done nothing for 31 s" })]);
});

test("an open socket takes each notice as it is, without a helper", async () => {
  const file = join(newFolder(), "socket");
  const fd = openSync(file, "w");
  const stop = new AbortController();
  const environment = { NOTIFY_SOCKET: "/nowhere", FLEETGATE_NOTIFY_FD: String(fd) };
  const notices = noticesOf(environment, createManualClock(), silentLog, stop.signal);
  notices.watch({ health: () => ({}), hang: () => null });
  notices.ready();
  stop.abort();
  expect(readFileSync(file, "utf8")).toBe("STATUS=Opening the storesREADY=1STATUS=StoppingSTOPPING=1");
  closeSync(fd);
});

test("systemd is told that the gateway is ready, that its event loop turns, and that it stops", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "systemd-notify"), PRINTS, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}${delimiter}${process.env.PATH}`);
  vi.stubEnv("NOTIFY_SOCKET", join(folder, "nobody-listens"));
  vi.stubEnv("WATCHDOG_USEC", "600000");
  const path = await writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], BROKER_NOWHERE);
  const gateway = fleetgate(folder, "run", "--config", path);
  const sent = (notice: string, from = 0) =>
    gateway.err.first(notice, (line) => line === `told ${notice}`, from);
  await sent("READY=1");
  await sent("WATCHDOG=1");
  await sent("WATCHDOG=1", gateway.err.entries.length);
  expect(gateway.err.entries).toContain("told STATUS=Opening the stores");
  const status = /^told STATUS=[01] of 1 robots good; fleet \w+.*; mqtt (starting|down) \(/;
  await gateway.err.first("a status", (line) => status.test(line));
  gateway.send("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  const notices = gateway.err.entries.filter((line) => line.startsWith("told "));
  expect(notices.at(-1)).toBe("told STOPPING=1");
  expect(notices.filter((line) => line === "told READY=1")).toHaveLength(1);
});

test("in the journal each line has its priority, and elsewhere none", async () => {
  const folder = newFolder();
  const path = await writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], BROKER_NOWHERE);
  const file = join(folder, "journal");
  const main = resolve("dist/main.js");
  // The file stands in for the journal's socket: it is known by device and inode alone.
  const program = 'exec 2>journal; export JOURNAL_STREAM=$(stat -c %d:%i journal); exec "$@"';
  const arguments_ = ["-c", program, "sh", process.execPath, main, "run", "--config", path];
  const gateway = spawn("sh", arguments_, { cwd: folder, stdio: "ignore" });
  const ended = once(gateway, "close");
  const log = () => readFileSync(file, "utf8").split("\n");
  await vi.waitFor(() => expect(log()).toContainEqual(expect.stringContaining('"msg":"ready"')), {
    timeout: TEST_TIMEOUT_MS / 2,
    interval: 100,
  });
  writeFileSync(path, "{");
  gateway.kill("SIGHUP");
  await vi.waitFor(() => expect(log()).toContainEqual(expect.stringContaining("was not reloaded")), {
    timeout: TEST_TIMEOUT_MS / 2,
  });
  gateway.kill("SIGTERM");
  await ended;
  const beginnings = { ready: "<6>{", "was not reloaded": "<3>{" };
  for (const [text, beginning] of Object.entries(beginnings))
    expect(log().find((line) => line.includes(text))).toMatch(new RegExp(`^${beginning}`));

  vi.stubEnv("JOURNAL_STREAM", "1:2");
  await writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], BROKER_NOWHERE);
  const elsewhere = fleetgate(folder, "run", "--config", path);
  expect(await elsewhere.err.first("ready", (line) => line.includes('"msg":"ready"'))).toMatch(/^\{/);
});
