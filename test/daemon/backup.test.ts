import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { packTar, unpackTar } from "../../src/platform/archive/tar.ts";
import { exportTables } from "../../src/platform/stores/tables-export.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { startHere } from "./built-gateway.ts";
import { type Daemon, writeConfiguration } from "./daemon.ts";

const strace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
if (!strace && process.env.CI) throw new Error("strace is not installed, or may not trace: CI needs it");
if (!strace) process.stderr.write("strace is not installed, or may not trace: its tests are skipped\n");

const TIMEOUT_MS = 180_000;
const TABLES = '{"robots":{}}';

let simulator: RunningSimulator;
let folder: string;
let config: string;
let daemons: Pick<Daemon, "kill">[];

beforeAll(async () => {
  simulator = await startSimulator({});
});
afterAll(() => simulator.stop());
beforeEach(async () => {
  daemons = [];
  folder = mkdtempSync(join(tmpdir(), "fleetgate-backup-"));
  mkdirSync(join(folder, "etc"));
  config = await writeConfiguration(
    join(folder, "etc"),
    "plant1",
    simulator.endpoints,
    ["cart-01"],
    "mqtt://127.0.0.1:9",
  );
  writeFileSync(config, readFileSync(config, "utf8").replace("dataDir: data", `dataDir: ${inData()}`));
});
afterEach(async () => {
  for (const daemon of daemons) await daemon.kill();
  rmSync(folder, { recursive: true, force: true });
});

const inData = (...names: readonly string[]) => join(folder, "data", ...names);
const file = () => join(folder, "backup.tar.gz");

function fleetgate(...args: readonly string[]): { status: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["dist/main.js", ...args], {
    encoding: "utf8",
  });
  return { status, out: stdout, err: stderr };
}

async function start(): ReturnType<typeof startHere> {
  const gateway = await startHere(config);
  daemons.push(gateway);
  return gateway;
}

/** A data folder as a gateway has left it, without the time that its start takes. */
function fillData(): void {
  mkdirSync(inData("opcua", "server", "own"), { recursive: true, mode: 0o700 });
  writeFileSync(inData("opcua", "trusted"), "a client", { mode: 0o600 });
  // As a restore has left it: no gateway has started since.
  writeFileSync(inData("tables.json"), TABLES, { mode: 0o600 });
  for (const store of ["journal", "tables"]) {
    mkdirSync(inData(store));
    writeFileSync(inData(store, "data.mdb"), "of before");
  }
}

/** Everything under a folder: the mode of each, and what is in it. */
function contentOf(path: string): Record<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const stats = statSync(join(path, name));
      const text = stats.isFile() ? readFileSync(join(path, name), "base64") : "";
      return [name, `${stats.mode.toString(8)} ${text}`];
    }),
  );
}

test(
  "a backup of a running gateway makes an empty machine that gateway, and no command passes until a reset",
  async () => {
    const port = await freePorts(1);
    appendFileSync(config, `opcua: { listen: { host: 127.0.0.1, port: ${port} }, insecureLoopback: {} }\n`);
    const first = await start();
    const robots = async () => JSON.parse((await exportTables(inData("tables"))) ?? "{}").robots;
    const cart = { "cart-01": { robotId: "cart-01", family: "cart" } };
    await expect.poll(robots, { timeout: TIMEOUT_MS }).toMatchObject(cart);
    const backup = fleetgate("backup", file(), "--config", config);
    expect(backup).toMatchObject({ status: 0, err: "" });
    expect(backup.out).toContain(config);
    expect(backup.out).toContain(simulator.endpoints.credentials);
    expect(backup.out).toContain(inData("tables.json"));
    expect(backup.out).not.toMatch(/journal|slots|outbox/);
    expect(statSync(file()).mode & 0o777).toBe(0o600);

    // While it runs, nothing may be put under it.
    const refused = fleetgate("restore", file(), "--elsewhere");
    expect(refused.status).toBe(1);
    expect(refused.err).toContain(`in use by process ${process.pid}: stop the gateway first`);
    expect(await first.stop()).toBe(0);

    const opcuaContent = () => contentOf(inData("opcua"));
    const [etc, opcua] = [contentOf(join(folder, "etc")), opcuaContent()];
    rmSync(join(folder, "etc"), { recursive: true });
    rmSync(inData(), { recursive: true });
    const restore = fleetgate("restore", file(), "--elsewhere");
    expect(restore).toMatchObject({ status: 0, err: "" });
    expect(restore.out).toContain(`fleetgate journal reset --data ${inData()}`);
    expect(contentOf(join(folder, "etc"))).toEqual(etc);
    expect(opcuaContent()).toEqual(opcua);

    const second = await start();
    expect(second.said()).toContain("a backup was restored");
    expect(second.said()).toContain("only stops and reads pass");
    expect(await robots()).toMatchObject(cart);
    expect(existsSync(inData("tables.json"))).toBe(false);
    expect(await second.stop()).toBe(0);

    // A reset right after the restore is enough: the first start has lost nothing.
    rmSync(inData(), { recursive: true });
    expect(fleetgate("restore", file(), "--elsewhere").status).toBe(0);
    expect(fleetgate("journal", "reset", "--data", inData()).status).toBe(0);
    const third = await start();
    expect(third.said()).not.toContain("a store is lost");
    expect(third.said()).not.toContain("only stops and reads pass");
    expect(await third.stop()).toBe(0);
  },
  TIMEOUT_MS,
);

test("a journal that lies there is put aside, or kept by those who say so", () => {
  fillData();
  expect(fleetgate("backup", file(), "--config", config).status).toBe(0);
  const kept = fleetgate("restore", file(), "--elsewhere", "--keep-journal");
  expect(kept.out).toContain(`What there was is kept as ${inData("tables.before-")}`);
  expect(readFileSync(inData("journal", "data.mdb"), "utf8")).toBe("of before");

  writeFileSync(config, `${readFileSync(config, "utf8")}# changed\n`);
  const restore = fleetgate("restore", file(), "--elsewhere");
  expect(restore.status).toBe(0);
  expect(existsSync(inData("journal", "data.mdb"))).toBe(false);
  expect(existsSync(inData("journal", "lost.json"))).toBe(true);
  expect(restore.out).toContain(`What there was is kept as ${inData("journal.damaged-")}`);
  expect(restore.out).toContain(`What there was is kept as ${config}.before-`);
  expect(readFileSync(config, "utf8")).not.toContain("# changed");

  const without = fleetgate("restore", file(), "--elsewhere", "--keep-journal");
  expect(without).toMatchObject({ status: 1 });
  expect(without.err).toContain("has no journal: leave --keep-journal out");
});

test("in a folder each backup has a file of its own, as each night needs it", () => {
  fillData();
  const nights = join(folder, "nights");
  mkdirSync(nights);
  const nightly = () => fleetgate("backup", `${nights}/`, "--config", config).status;
  expect([nightly(), nightly()]).toEqual([0, 0]);
  expect(readdirSync(nights).filter((name) => /^fleetgate-plant1-.*\.tar\.gz$/.test(name))).toHaveLength(2);
});

test("what does not belong here is refused, and nothing is changed", async () => {
  fillData();
  expect(fleetgate("backup", file(), "--config", config).status).toBe(0);
  const again = fleetgate("backup", file(), "--config", config);
  expect(again).toMatchObject({ status: 1 });
  expect(again.err).toContain("is there already");

  const [facts, ...entries] = await unpackTar(gunzipSync(readFileSync(file())));
  if (facts === undefined) throw new Error("the backup is empty");
  const altered = async (text: string, more: typeof entries = entries) => {
    const path = join(folder, "altered.tar.gz");
    writeFileSync(path, gzipSync(await packTar([{ ...facts, content: Buffer.from(text) }, ...more])));
    return path;
  };
  const said = facts.content.toString("utf8");
  const before = contentOf(folder);
  const newer = fleetgate(
    "restore",
    await altered(said.replace(/"program": ".*"/, '"program": "99.0.0"')),
    "--elsewhere",
  );
  expect(newer.status).toBe(65);
  expect(newer.err).toContain("install that version first; nothing was changed");
  const outside = entries.map((entry) => ({ ...entry, name: entry.name.replace("etc/", "etc/../../") }));
  expect(fleetgate("restore", await altered(said, outside), "--elsewhere").err).toContain(
    "is no name that fleetgate has written; nothing was changed",
  );
  const half = join(folder, "altered.tar.gz");
  writeFileSync(half, readFileSync(file()).subarray(0, 700));
  expect(fleetgate("restore", half).err).toContain("it is damaged, or no backup; nothing was changed");
  rmSync(half);
  expect(contentOf(folder)).toEqual(before);

  writeFileSync(config, readFileSync(config, "utf8").replace("plant1", "plant2"));
  const other = fleetgate("restore", file(), "--elsewhere");
  expect(other.status).toBe(1);
  expect(other.err).toContain(`the backup is of gateway plant1, and ${config} is of gateway plant2`);
});

/** Runs it, and kills it at its rename of this number; null: lets it live. */
function dying(moment: number, ...args: readonly string[]): number | null {
  const kill = ["-e", "trace=rename", "-e", `inject=rename:signal=SIGKILL:when=${moment}`];
  const program = [process.execPath, "dist/main.js", ...args];
  const { status, signal } = spawnSync("strace", ["-f", "-qq", "-o", "/dev/null", ...kill, ...program]);
  return signal === null ? status : null;
}

test.skipIf(!strace)("a backup that dies leaves no file of its name, and the next one is whole", () => {
  fillData();
  expect(dying(1, "backup", file(), "--config", config)).not.toBe(0);
  expect(existsSync(file())).toBe(false);
  expect(fleetgate("backup", file(), "--config", config).status).toBe(0);
  expect(readdirSync(folder).sort()).toEqual(["backup.tar.gz", "data", "etc"]);
});

test.skipIf(!strace)(
  "a restore that dies has changed nothing, or no gateway starts until it is run again",
  () => {
    fillData();
    expect(fleetgate("backup", file(), "--config", config).status).toBe(0);
    const wanted = contentOf(inData("opcua"));
    const wantedConfig = readFileSync(config, "utf8");
    writeFileSync(config, `${wantedConfig}# changed\n`);
    rmSync(inData("opcua", "trusted"));
    rmSync(inData("tables.json"));
    const machine = join(folder, "machine");
    for (const name of ["etc", "data"]) cpSync(join(folder, name), join(machine, name), { recursive: true });

    let moment = 1;
    for (; dying(moment, "restore", file(), "--elsewhere") !== 0; moment += 1) {
      expect(existsSync(inData("restore-unfinished"))).toBe(true);
      if (moment === 1) {
        const { status, err } = fleetgate(
          "run",
          "--config",
          existsSync(config) ? config : join(machine, "etc"),
        );
        expect(status).toBe(1);
        expect(err).toContain("was not finished: run fleetgate restore with the same file again");
      }
      expect(fleetgate("restore", file(), "--elsewhere").status).toBe(0);
      expect(existsSync(inData("restore-unfinished"))).toBe(false);
      expect(contentOf(inData("opcua"))).toEqual(wanted);
      expect(readFileSync(inData("tables.json"), "utf8")).toBe(TABLES);
      expect(existsSync(inData("tables"))).toBe(false);
      expect(readFileSync(config, "utf8")).toBe(wantedConfig);
      expect(existsSync(inData("journal", "lost.json"))).toBe(true);
      for (const name of ["etc", "data"]) {
        rmSync(join(folder, name), { recursive: true });
        cpSync(join(machine, name), join(folder, name), { recursive: true });
      }
    }
    // The journal put aside, its mark, and each file and folder renamed.
    expect(moment).toBeGreaterThan(5);
  },
  TIMEOUT_MS,
);
