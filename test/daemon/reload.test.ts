import { mkdtempSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { askGateway } from "../../src/cli/control-client.ts";
import { endPrograms, fleetgate } from "../cli/program.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { seededChance } from "./chance.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

/** The built gateway reads its configuration again. */
vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const ROUNDS = Number(process.env.RELOAD_ROUNDS ?? 3);
const SEED = Number(process.env.RELOAD_SEED ?? 1);
/** Longer than a reload takes. */
const KILLED_WITHIN_MS = 60;

let simulator: RunningSimulator;
let folder: string;
let daemon: Daemon | null = null;

beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-reload-"));
});
afterEach(async () => {
  await daemon?.kill();
  daemon = null;
  await endPrograms();
  await rm(folder, { recursive: true, force: true });
});

const write = (sections: Readonly<Record<string, unknown>> = {}) =>
  writeConfiguration(folder, "plant", simulator.endpoints, ["cart-01"], "mqtt://127.0.0.1:9", sections);
const battery = (low: number) => ({ alarms: { battery: { low } } });

async function start(path: string): Promise<Daemon> {
  daemon = startDaemon(path);
  await daemon.says(READY);
  return daemon;
}
async function ask(): Promise<Readonly<Record<string, unknown>>> {
  const request = { method: "POST", path: "/api/v1/reload" } as const;
  const { body } = await askGateway(
    join(folder, "data", "control.sock"),
    request,
    new AbortController().signal,
  );
  return body;
}
async function cli(...more: readonly string[]) {
  const program = fleetgate(folder, "reload", "--config", "fleetgate.yaml", ...more);
  const { code } = await program.ended;
  return { code, out: program.out.entries.join("\n"), err: program.err.entries.join("\n") };
}

test("fleetgate reload prints what is in use now, or each problem, and its exit code says which", async () => {
  const path = await write();
  expect(await cli()).toMatchObject({ code: 1, err: expect.stringContaining("no gateway runs behind") });
  await start(path);
  expect(await cli()).toEqual({ code: 0, out: "nothing in the configuration is new", err: "" });
  await write({ ...battery(30), log: { level: "debug" } });
  expect(await cli()).toEqual({ code: 0, out: "in use now: log.level, alarms.battery.low", err: "" });
  await write({ ...battery(40), log: { level: "loud" } });
  const broken = await cli();
  expect(broken).toMatchObject({ code: 78, out: "" });
  expect(broken.err).toMatch(/^log\.level: .*\(line \d+\)\nfleetgate: .* not reloaded; nothing has changed$/);
  await write({ ...battery(40), quality: { holdMs: 9_000 } });
  const { code, out } = await cli("--json");
  expect(code).toBe(78);
  expect(JSON.parse(out)).toMatchObject({
    applied: [],
    refused: [{ path: "quality.holdMs", reason: "restart to change it" }],
  });
  await write(battery(30));
  expect(JSON.parse((await cli("--json")).out)).toMatchObject({ applied: ["log.level"], refused: [] });
  const audit = readFileSync(join(folder, "data", "audit", "audit.jsonl"), "utf8");
  const records = audit
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const user = expect.stringMatching(/^cli:/);
  expect(records.filter(({ event }) => event === "reload")).toEqual(
    ["succeeded", "succeeded", "refused", "refused", "succeeded"].map((outcome) =>
      expect.objectContaining({ outcome, by: [user] }),
    ),
  );
});

test("a hundred reloads at once each answer with the same, and the last file holds", async () => {
  await start(await write());
  await write(battery(31));
  const first = Array.from({ length: 50 }, ask);
  await write(battery(32));
  const answers = await Promise.all([...first, ...Array.from({ length: 50 }, ask)]);
  expect(answers.flatMap(({ refused }) => refused)).toEqual([]);
  const now = await ask();
  expect(now.applied).toEqual([]);
  expect(answers.at(-1)?.hash).toBe(now.hash);
});

describe(`kill -9 in the middle of a reload (${ROUNDS} rounds, seed ${SEED})`, () => {
  test("leaves what is in the file: the next start has all of it", async () => {
    const chance = seededChance(SEED);
    const path = await write(battery(20));
    await start(path);
    for (let round = 0; round < ROUNDS; round += 1) {
      const text = readFileSync(path, "utf8");
      const next = text
        .replace(/low: \d+/, `low: ${21 + (round % 70)}`)
        .replace(/role: \w+/, `role: ${round % 2 === 0 ? "operator" : "engineer"}`);
      // An editor that writes in two steps, or one that puts the whole file in its place.
      if (chance() < 0.5) {
        await writeFile(path, next.slice(0, Math.floor(next.length * chance())));
        process.kill(daemon?.pid ?? 0, "SIGHUP");
        await pause(chance() * KILLED_WITHIN_MS);
        await writeFile(path, next);
      } else {
        await writeFile(`${path}.new`, next);
        await rename(`${path}.new`, path);
      }
      process.kill(daemon?.pid ?? 0, "SIGHUP");
      // The moment of the kill is what the test is about.
      await pause(chance() * KILLED_WITHIN_MS);
      await daemon?.kill();
      expect(readFileSync(path, "utf8")).toBe(next);
      await start(path);
      expect(await ask()).toMatchObject({ applied: [], refused: [] });
    }
    expect(await daemon?.stop()).toBe(0);
  });
});
