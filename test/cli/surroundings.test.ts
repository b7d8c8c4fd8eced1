import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startDaemon, writeConfiguration } from "../daemon/daemon.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { mayMount } from "../support/small-disk.ts";
import { endPrograms, fleetgate, newFolder, type Program, ready, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS, hookTimeout: TEST_TIMEOUT_MS });

let simulator: RunningSimulator;
beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.stop());
afterEach(endPrograms);

const BROKER_NOWHERE = "mqtt://127.0.0.1:9";
const configure = (folder: string) =>
  writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], BROKER_NOWHERE);

/** A line of the log, or of the problems before it. */
const saying = (program: Program, part: string) => program.err.first(part, (line) => line.includes(part));

describe("SIGHUP", () => {
  test("reads the configuration again: during the start, a thousand times, and before the end", async () => {
    const folder = newFolder();
    const path = await configure(folder);
    const gateway = fleetgate(folder, "run", "--config", path);
    // Its log is not there yet, but its signal is heard: files are opened after that.
    await vi.waitFor(() => expect(existsSync(join(folder, "data"))).toBe(true), { timeout: 45_000 });
    gateway.send("SIGHUP");
    await saying(gateway, '"msg":"the configuration was reloaded: nothing in it is new"');
    expect(gateway.err.entries.findIndex((line) => line.includes("was reloaded"))).toBeGreaterThan(
      gateway.err.entries.findIndex((line) => line.includes('"msg":"ready"')) - 2,
    );
    await writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], BROKER_NOWHERE, {
      alarms: { battery: { low: 30 } },
    });
    for (let count = 0; count < 1_000; count += 1) gateway.send("SIGHUP");
    await saying(gateway, '"applied":["alarms.battery.low"]');
    await writeFile(path, "{ gateway: ");
    gateway.send("SIGHUP");
    await saying(gateway, "the configuration was not reloaded: nothing has changed");
    gateway.send("SIGHUP");
    gateway.send("SIGTERM");
    expect(await gateway.ended).toEqual({ code: 0, signal: null });
    const reloads = gateway.err.entries.filter((line) => line.includes('"by":["SIGHUP"]'));
    expect(reloads.length).toBeLessThan(1_000);
    expect(reloads.filter((line) => line.includes('"applied"'))).toHaveLength(1);
  });

  test.each(["demo", "simulate"])("ends %s in order, whose window was closed", async (command) => {
    const program = fleetgate(newFolder(), command, "--json", "--base-port", String(await freePorts(5)));
    await ready(program);
    program.send("SIGHUP");
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

const kernelFolders = ["/proc", "/sys"].filter((path) => existsSync(path));
describe.each(kernelFolders)("a folder where the kernel takes none: %s", (kernel) => {
  // /sys refuses another user first for being another.
  const message =
    kernel === "/proc" || process.getuid?.() === 0
      ? `${kernel}/fleetgate cannot be made: ${kernel} takes no folders; choose a folder on a disk`
      : `${kernel}/fleetgate cannot be made: user ${process.getuid?.()} may not write in ${kernel}`;

  test("as data folder: the gateway says so and ends, and does not keep a core busy", async () => {
    const folder = newFolder();
    const gateway = fleetgate(
      folder,
      "run",
      "--config",
      await configured(folder, `${kernel}/fleetgate/data`),
    );
    expect(await gateway.ended).toEqual({ code: 1, signal: null });
    expect(gateway.err.entries).toEqual([expect.stringContaining(`fleetgate: ${message}`)]);
  });

  test.each(["demo", "simulate"])("as the folder of %s", async (command) => {
    const base = String(await freePorts(5));
    const program = fleetgate(
      newFolder(),
      command,
      "--json",
      "--base-port",
      base,
      "--data",
      `${kernel}/fleetgate`,
    );
    expect(await program.ended).toEqual({ code: 1, signal: null });
    expect(program.err.entries.join("\n")).toContain(message);
  });
});

test("check and run warn of a data folder that others may write", async () => {
  const folder = newFolder();
  const path = await configure(folder);
  const data = join(folder, "data");
  mkdirSync(data);
  chmodSync(data, 0o777);
  const warning = `gateway.dataDir: ${data} can be written by users besides its owner (mode 0777), who could forge the record of commands: chmod go-w ${data}`;
  const check = fleetgate(folder, "check", "--config", path);
  expect(await check.ended).toEqual({ code: 0, signal: null });
  expect(check.err.entries.join("\n")).toContain(`warning: ${warning}`);
  const gateway = startDaemon(path);
  await gateway.says(warning);
  await gateway.says('"msg":"ready"');
  expect(await gateway.stop()).toBe(0);
});

/** A machine without /etc/hosts, where no name server knows `localhost` either. */
const nameless = "mount --bind /dev/null /etc/hosts";
const hasNameless =
  mayMount() &&
  spawnSync("unshare", ["-m", "sh", "-c", `${nameless} && ! getent hosts localhost`]).status === 0;
if (!hasNameless)
  process.stderr.write("no machine without the name localhost can be had here: a test is skipped\n");

test.skipIf(!hasNameless)("the demo needs no name, not even localhost", async () => {
  const base = await freePorts(5);
  const program = `${nameless} && exec ${process.execPath} ${resolve("dist/main.js")} demo --json --base-port ${base}`;
  const demo = spawn("unshare", ["-m", "sh", "-c", program], {
    cwd: newFolder(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaints = text(demo.stderr);
  try {
    const [line] = await once(demo.stdout, "data");
    const { web } = JSON.parse(String(line)) as { web: string };
    const states = async () => {
      const health = (await (await fetch(`${web}/healthz`)).json()) as {
        components: Record<string, { state: string }>;
      };
      return Object.entries(health.components).filter(([, { state }]) => state !== "up");
    };
    await vi.waitFor(async () => expect(await states()).toEqual([]), { timeout: 30_000, interval: 100 });
  } finally {
    const ended = once(demo, "close");
    demo.kill("SIGTERM");
    await ended;
  }
  expect(await complaints).not.toMatch(/ENOTFOUND|EAI_AGAIN|localhost/);
});

async function configured(folder: string, dataDir: string): Promise<string> {
  const path = await configure(folder);
  await writeFile(path, (await readFile(path, "utf8")).replace("dataDir: data", `dataDir: ${dataDir}`));
  return path;
}
