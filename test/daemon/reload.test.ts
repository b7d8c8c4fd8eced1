import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { askGateway } from "../../src/cli/control-client.ts";
import { loadConfig } from "../../src/config/load.ts";
import { configHash } from "../../src/config/running-config.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { endPrograms, fleetgate } from "../cli/program.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type Daemon, READY, startDaemon, writeConfiguration } from "./daemon.ts";

/** The built gateway reads its configuration again. */
vi.setConfig({ testTimeout: 600_000, hookTimeout: 60_000 });

const ROUNDS = Number(process.env.RELOAD_ROUNDS ?? 3);
const SEED = Number(process.env.RELOAD_SEED ?? 1);
/** Longer than a reload takes. */
const KILLED_WITHIN_MS = 60;

let simulator: RunningSimulator;
let folder: string;
let daemon: Daemon | null = null;
let opcUaPort: number;

beforeAll(async () => {
  simulator = await startSimulator({});
  opcUaPort = await freePorts(1);
});
afterAll(() => simulator.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fleetgate-reload-"));
  writeFileSync(join(folder, "line1.pw"), "secret of line1", { mode: 0o600 });
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
async function askControl(request: Parameters<typeof askGateway>[1]) {
  const socket = join(folder, "data", "control.sock");
  return (await askGateway(socket, request, new AbortController().signal)).body;
}
const ask = () => askControl({ method: "POST", path: "/api/v1/reload" });
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
  const reloads = () =>
    readFileSync(join(folder, "data", "audit", "audit.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === "reload");
  const user = expect.stringMatching(/^cli:/);
  await expect
    .poll(reloads)
    .toEqual(
      ["succeeded", "succeeded", "refused", "refused", "succeeded"].map((outcome) =>
        expect.objectContaining({ outcome, by: [user] }),
      ),
    );
});

/** What the log says of reloads so far, without when, for whom and of which hash. */
function reloadLines(): readonly unknown[] {
  const lines = (daemon?.said() ?? "").split("\n").filter((line) => line.includes('"the configuration was '));
  return lines.map((line) => {
    const { level, msg, applied, refused, problems } = JSON.parse(line) as Record<string, unknown>;
    return { level, msg, applied, refused, problems };
  });
}
/** What the log says of the reload that `begin` asks for. */
async function logOf(begin: () => unknown): Promise<unknown> {
  const before = reloadLines().length;
  await begin();
  await expect.poll(() => reloadLines().length, { timeout: 30_000 }).toBe(before + 1);
  return reloadLines().at(-1);
}

test.each(["fleetgate.service", "fleetgate@.service"])("%s reloads by fleetgate reload", (unit) => {
  const text = readFileSync(join("systemd", unit), "utf8");
  const [, file] = /^ExecStart=.* --config (\S+)$/m.exec(text) ?? [];
  expect(text).toContain(`\nExecReload=/usr/bin/fleetgate reload --config ${file}\n`);
});

test("SIGHUP and fleetgate reload say the same of the same file, in the log and at the terminal", async () => {
  await start(await write());
  const hangup = () => process.kill(daemon?.pid ?? 0, "SIGHUP");
  const refused = [
    { quality: { holdMs: 9_000 }, web: {} },
    { alarms: { battery: { low: 0 } }, log: { level: "loud" } },
    { gateway: { id: "other", dataDir: "data" } },
  ];
  for (const sections of refused) {
    await write(sections);
    let ended = { code: 0 as number | null, out: "", err: "" };
    const asked = await logOf(async () => {
      ended = await cli();
    });
    expect(await logOf(hangup)).toEqual(asked);
    const { refused: lines } = asked as { readonly refused: readonly string[] };
    expect(lines.length).toBeGreaterThan(0);
    const err = [...lines, "fleetgate: the configuration was not reloaded; nothing has changed"].join("\n");
    expect(ended).toEqual({ code: 78, out: "", err });
  }
  await write(battery(30));
  const asked = await logOf(async () =>
    expect(await cli()).toEqual({ code: 0, out: "in use now: alarms.battery.low", err: "" }),
  );
  await write(battery(31));
  expect(await logOf(hangup)).toEqual(asked);
  expect(await logOf(hangup)).toEqual(
    await logOf(async () =>
      expect(await cli()).toEqual({ code: 0, out: "nothing in the configuration is new", err: "" }),
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

/** Carts of the location that the configuration names. */
const carts = () =>
  simulator.control
    .robots()
    .filter(({ family }) => family === "cart")
    .map(({ robotId }) => robotId);

/** A configuration that differs from the one before in every kind of key that a reload changes. */
function sectionsOf(round: number): Readonly<Record<string, unknown>> {
  const role = round % 2 === 0 ? "operator" : "engineer";
  const { grpc, https, ca, credentials, locations } = simulator.endpoints;
  const times = { rosterPollMs: 300, connectMs: 1_000, backoffBaseMs: 20, backoffCapMs: 200 };
  // A robot that was named cannot go without a restart.
  const aliases = Array.from({ length: round + 1 }, (_, at) => [`spare-${at}`, { alias: `AMR${at}` }]);
  return {
    fleet: { grpc: { address: grpc }, https, ca, credentials, locations, times },
    alarms: { battery: { low: 21 + (round % 70) } },
    rights: ["mqtt", "opcua", "cli"].map((protocol) => ({ source: { protocol, name: "*" }, role })),
    stations: {
      dock: { destinations: [`D${round}`], place: `hall${round % 3}` },
      [`cell${round % 4}`]: { destinations: ["A"], place: "hall9" },
    },
    opcua: {
      listen: { host: "127.0.0.1", port: opcUaPort },
      users: { line1: { password: "line1.pw", role }, [`hmi${round}`]: { password: "line1.pw", role } },
      destinations: { [round + 1]: "A" },
      robots: Object.fromEntries(aliases),
    },
    mqtt: {
      broker: "mqtt://127.0.0.1:9",
      protocolVersion: 4,
      placement: { robot: `plant${round % 5}/{alias}`, station: "plant/{place}/{station}" },
    },
  };
}

/** What a start of this file shows as the hash of its configuration. */
async function hashOf(path: string): Promise<string> {
  const loaded = await loadConfig(path, {}, createCatalogue(), Date.now());
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return configHash(loaded.config);
}

/** Resolves when commands can be sent: the service is reached, and values of robots are good. */
async function canCommand(): Promise<void> {
  const status = () => askControl({ method: "GET", path: "/api/v1/status" });
  const good = async () => {
    const { robots } = (await status()) as { robots: { by_quality: { good: number } } };
    return robots.by_quality.good;
  };
  await expect.poll(good, { timeout: 60_000 }).toBeGreaterThanOrEqual(carts().length);
}

/** A reload that nothing ends takes every kind of key at once. */
async function takesEveryKind(): Promise<void> {
  await write(sectionsOf(1));
  const answer = await ask();
  expect(answer).toMatchObject({ refused: [] });
  expect(answer.applied).toEqual(
    expect.arrayContaining([
      "alarms.battery.low",
      "rights",
      "stations.dock.destinations",
      "stations.dock.place",
      "stations.cell0",
      "stations.cell1",
      "mqtt.placement.robot",
      "opcua.users.hmi0",
      "opcua.users.hmi1",
      "opcua.users.line1.role",
      "opcua.destinations.2",
      "opcua.robots.spare-1",
    ]),
  );
  expect(await ask()).toMatchObject({ applied: [], refused: [] });
}

/** Commands of a round for one cart: one is in flight, the others wait behind it. */
const COMMANDS = 4;

describe(`kill -9 in the middle of a reload (${ROUNDS} rounds, seed ${SEED})`, () => {
  test("it takes every kind of key; killed, it leaves what is in the file: the next start has all of it, and sends no command twice", async () => {
    const random = seededRandom(SEED);
    const path = await write(sectionsOf(0));
    await start(path);
    await takesEveryKind();
    const command = (id: string, robotId: string) => {
      const goals = [{ destinationId: `${id}-goal` }];
      const request = { robotId, mission: { cartMission: { traverseMission: { goals } } } };
      const body = { operation: "CreateMission", request, expires_in_ms: 5_000 };
      // The gateway may be killed before it answers.
      return askControl({ method: "PUT", path: `/api/v1/commands/${id}`, body }).catch(() => null);
    };
    const commands = (round: number) =>
      carts().flatMap((robotId, cart) =>
        Array.from({ length: COMMANDS }, (_, at) => command(`round-${round}-${cart}-${at}`, robotId)),
      );
    for (let round = 2; round < ROUNDS + 2; round += 1) {
      await canCommand();
      const before = readFileSync(path, "utf8");
      await write(sectionsOf(round));
      const next = readFileSync(path, "utf8");
      const hash = await hashOf(path);
      await writeFile(path, before);
      const sent = commands(round);
      // An editor that writes in two steps, or one that puts the whole file in its place.
      if (random() < 0.5) {
        await writeFile(path, next.slice(0, Math.floor(next.length * random())));
        process.kill(daemon?.pid ?? 0, "SIGHUP");
        await pause(random() * KILLED_WITHIN_MS);
        await writeFile(path, next);
      } else {
        await writeFile(`${path}.new`, next);
        await rename(`${path}.new`, path);
      }
      process.kill(daemon?.pid ?? 0, "SIGHUP");
      // The moment of the kill is what the test is about.
      await pause(random() * KILLED_WITHIN_MS);
      await daemon?.kill();
      await Promise.all(sent);
      expect(readFileSync(path, "utf8")).toBe(next);
      await start(path);
      expect(await ask()).toMatchObject({ applied: [], refused: [], hash });
      // The same ids again: what was recorded is answered, and nothing of it is sent once more.
      await Promise.all(commands(round));
    }
    // However early the kills came, one command is sent: as soon as there is a session to the service.
    const isSent = () =>
      simulator.control.record(0).some(({ fact }) => JSON.stringify(fact).includes("round-"));
    for (let more = 1; !isSent() && more < 100; more += 1) await Promise.all(commands(ROUNDS + 1 + more));
    expect(await daemon?.stop()).toBe(0);
    const received = simulator.control
      .record(0)
      .filter(({ fact }) => fact.what === "received")
      .map(({ fact }) => /round-[\d-]+-goal/.exec(JSON.stringify(fact))?.[0])
      .filter((goal) => goal !== undefined);
    if (process.env.RELOAD_FIGURES === "1")
      process.stderr.write(`${received.length} of ${ROUNDS * COMMANDS * carts().length} were sent\n`);
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBe(new Set(received).size);
  });
});
