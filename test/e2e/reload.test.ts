import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mqtt from "mqtt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { createGateway, type Gateway } from "../../src/composition/gateway.ts";
import { loadConfig } from "../../src/config/load.ts";
import type { ReloadResult } from "../../src/contracts/reload.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { createLog } from "../../src/platform/log.ts";
import { createChronicle } from "../support/chronicle.ts";
import { freePorts } from "../support/free-ports.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { listenMqtt } from "./mqtt-ear.ts";
import { int32, openPlc, type Plc, text } from "./plc.ts";

/** A configuration that changes under a running gateway with an embedded broker and an OPC UA server. */
const BASE = "fleetgate/plant";
const SLOT = "Robots.cart-01.MissionSlot";
const conveyor = { robotId: "cart-01", commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_STOP" }] };

let folder: string;
let port: number;
/** What reloads have described stays until a restart. */
let robots: Sections = {};
let simulator: RunningSimulator;
let gateway: Gateway;
let stop: () => Promise<void>;
const log = createChronicle<string>((line) => line);
const rule = (protocol: string, name: string, role = "engineer") => ({ source: { protocol, name }, role });

interface Sections {
  readonly [section: string]: unknown;
}

/** What the file says at the beginning of each test. */
function sections(): Sections {
  const listen = (place: number) => ({ host: "127.0.0.1", port: port + place });
  return {
    log: { level: "info" },
    mqtt: {
      broker: "embedded",
      listen: listen(0),
      users: { hmi: { password: "hmi.pw" }, scada: { password: "scada.pw" } },
    },
    opcua: {
      listen: listen(1),
      insecureLoopback: { role: "observer" },
      users: {
        line1: { password: "line1.pw", role: "operator" },
        line2: { password: "line2.pw", role: "operator" },
      },
      robots,
    },
    rights: [rule("mqtt", "hmi"), rule("mqtt", "scada")],
  };
}

async function write(changes: Sections = {}): Promise<void> {
  const { grpc, https, ca, credentials, locations } = simulator.endpoints;
  const fleet = { grpc: { address: grpc }, https, ca, credentials, locations: locations.slice(0, 1) };
  const file = { gateway: { id: "plant", dataDir: "data" }, fleet, ...sections(), ...changes };
  await writeFile(join(folder, "fleetgate.yaml"), stringify(file), { mode: 0o600 });
}
async function reload(changes: Sections = {}): Promise<ReloadResult> {
  await write(changes);
  return gateway.reload("cli:test");
}
const ear = (name: string, password = `secret of ${name}`) =>
  listenMqtt(`mqtt://127.0.0.1:${port}`, name, BASE, { password });
/** A client that stays away once it was disconnected. */
async function connected(username: string): Promise<{ readonly closed: Promise<void> }> {
  const login = { username, password: `secret of ${username}` };
  const options = { ...login, reconnectPeriod: 0, protocolVersion: 4 } as const;
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, options, false);
  return { closed: new Promise((resolve) => client.once("close", () => resolve())) };
}
const plc = (name: string) =>
  openPlc(`opc.tcp://localhost:${port + 1}`, { name, password: `secret of ${name}` }, 0);

async function audit(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const lines = await readFile(join(folder, "data", "audit", "audit.jsonl"), "utf8");
  return lines
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-reload-"));
  port = await freePorts(2);
  simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7 });
  for (const name of ["hmi", "scada", "line1", "line2"])
    await writeFile(join(folder, `${name}.pw`), `secret of ${name}`, { mode: 0o600 });
  await write();
  const read = () => loadConfig(join(folder, "fleetgate.yaml"), {}, createCatalogue(), Date.now());
  const loaded = await read();
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const lines = createLog("info", { write: (line: string) => log.add(line.trimEnd()) });
  const configuration = { settings: loaded.settings, read };
  gateway = createGateway(loaded.config, {
    clock: systemClock,
    random: Math.random,
    log: lines,
    logLevels: lines.levels,
    configuration,
  });
  const stopping = new AbortController();
  let run: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    run = gateway.run(stopping.signal, resolve);
    run.catch(reject);
  });
  stop = async () => {
    stopping.abort();
    await run;
  };
}, 60_000);
afterAll(async () => {
  await stop();
  await simulator.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  expect((await reload()).refused).toEqual([]);
});

describe("rights that a reload takes", () => {
  it("are gone with the next command of an MQTT client, whose connection stays", async () => {
    const hmi = await ear("hmi");
    const look = (id: string) => hmi.send("ControlConveyor", id, conveyor);
    expect((await look("a-1")).code).not.toBe("NOT_ALLOWED");
    const result = await reload({ rights: [rule("mqtt", "hmi", "observer"), rule("mqtt", "scada")] });
    expect(result).toMatchObject({ applied: ["rights"], refused: [] });
    expect(await look("a-2")).toMatchObject({ code: "NOT_ALLOWED" });
    await reload();
    expect((await look("a-3")).code).not.toBe("NOT_ALLOWED");
    await hmi.close();
  });

  it("end the connections of an MQTT user that is gone, and of no other", async () => {
    const hmi = await ear("hmi");
    const { closed: scada } = await connected("scada");
    const { mqtt: section } = sections() as { readonly mqtt: { readonly users: Sections } };
    const { scada: _gone, ...users } = section.users;
    const result = await reload({ mqtt: { ...section, users }, rights: [rule("mqtt", "hmi")] });
    expect(result).toMatchObject({
      applied: expect.arrayContaining(["mqtt.users.scada", "rights"]),
      refused: [],
    });
    await scada;
    await expect(ear("scada")).rejects.toThrow(/refused|authorized/i);
    expect((await hmi.send("ControlConveyor", "b-2", conveyor)).id).toBe("b-2");
    await hmi.close();
  });

  it("end the connections of an MQTT user with another password; it logs in with that", async () => {
    const { closed: hmi } = await connected("hmi");
    await writeFile(join(folder, "hmi.pw"), "another", { mode: 0o600 });
    expect((await reload()).applied).toEqual(["mqtt.users.hmi.password"]);
    await hmi;
    await expect(ear("hmi")).rejects.toThrow();
    await (await ear("hmi", "another")).close();
    await writeFile(join(folder, "hmi.pw"), "secret of hmi", { mode: 0o600 });
  });

  it("are gone with the next write of an OPC UA session, and come back to the same session", async () => {
    const line1 = await plc("line1");
    const operation = () => line1.write([`${SLOT}.Operation`, int32(1)]);
    expect(await operation()).toEqual(["Good"]);
    const { opcua } = sections() as { readonly opcua: { readonly users: Sections } };
    const observer = { password: "line1.pw", role: "observer" };
    const changed = { opcua: { ...opcua, users: { ...opcua.users, line1: observer } } };
    expect((await reload(changed)).applied).toEqual(["opcua.users.line1.role"]);
    expect(await operation()).toEqual(["BadUserAccessDenied"]);
    await reload();
    expect(await operation()).toEqual(["Good"]);
    await line1.close();
  });

  it("close the sessions of an OPC UA user that is gone, and of no other", async () => {
    const [line1, line2]: Plc[] = [await plc("line1"), await plc("line2")];
    const { opcua } = sections() as { readonly opcua: { readonly users: Sections } };
    const { line2: _gone, ...users } = opcua.users;
    expect((await reload({ opcua: { ...opcua, users } })).applied).toEqual(["opcua.users.line2"]);
    await log.first(
      "the end",
      (line) => line.includes("OPC UA session was closed") && line.includes("line2"),
    );
    await line2?.abandon();
    await expect(plc("line2")).rejects.toThrow(/BadUserAccessDenied|BadIdentityTokenRejected/);
    expect(await line1?.write([`${SLOT}.Destination`, text("Station A")])).toEqual(["Good"]);
    await reload();
    await (await plc("line2")).close();
    await line1?.close();
  });
});

describe("what a reload shows", () => {
  it("the hash of the configuration, on OPC UA and in the audit log, with who asked", async () => {
    const reader = await plc("line1");
    const { hash } = await reload();
    await reader.shows("Gateway.ConfigHash", hash);
    const after = await reload({ alarms: { battery: { low: 25 } } });
    expect(after.hash).not.toBe(hash);
    await reader.shows("Gateway.ConfigHash", after.hash);
    await reader.close();
    await log.first("the reload", (line) => line.includes('"applied":["alarms.battery.low"]'));
    const record = {
      event: "reload",
      by: ["cli:test"],
      outcome: "succeeded",
      applied: ["alarms.battery.low"],
    };
    await expect
      .poll(async () => (await audit()).at(-1))
      .toMatchObject({ ...record, hash_before: hash, hash: after.hash });
    expect(JSON.stringify(await audit())).not.toContain("secret of");
  });

  it("lines of the new log level at once", async () => {
    expect((await reload({ log: { level: "silent" } })).applied).toEqual(["log.level"]);
    const from = log.entries.length;
    await (await ear("hmi")).close();
    expect(log.entries.slice(from)).toEqual([]);
    await reload();
    await log.first("lines again", (line) => line.includes("the configuration was reloaded"), from);
  });
});

describe("CAs of OPC UA clients", () => {
  it("are trusted with a reload that names them, and no more with one that does not", async () => {
    const { opcua } = sections() as { readonly opcua: Sections };
    const placed = join(folder, "data/opcua/server/trusted/certs/configured-1.pem");
    const text = () => readFile(placed, "utf8").catch(() => null);
    const { ca } = simulator.endpoints;
    const named = await reload({ opcua: { ...opcua, trustedCas: ca } });
    expect(named).toMatchObject({ applied: ["opcua.trustedCas"], refused: [] });
    await expect.poll(text).toBe(`${(await readFile(ca, "utf8")).trim()}\n`);
    expect(await reload()).toMatchObject({ applied: ["opcua.trustedCas"], refused: [] });
    await expect.poll(text).toBe(null);
  });
});

describe("robots that a reload describes", () => {
  it("have their alias on OPC UA and MQTT at once, and the topics of the others stay", async () => {
    const { mqtt: section } = sections() as { readonly mqtt: Sections };
    const placed = { mqtt: { ...section, placement: { robot: `${BASE}/amr/{alias}` } } };
    expect((await reload(placed)).refused).toEqual([]);
    const hmi = await ear("hmi");
    await hmi.on("amr/cart-01/info");
    await hmi.on("status", (text) => text.includes("online"));
    // State comes first: from then on the gateway hears its clients.
    await expect.poll(() => gateway.health().mqtt?.state, { timeout: 30_000 }).toBe("up");
    const from = hmi.received.entries.length;
    robots = { "cart-09": { alias: "AMR09" } };
    expect(await reload(placed)).toMatchObject({ applied: ["opcua.robots.cart-09"], refused: [] });
    const line1 = await plc("line1");
    expect(await line1.value("Robots.AMR09.RobotId")).toBe("cart-09");

    // A robot that was not seen may be held in the first seconds of a session to the fleet only.
    simulator.control.apply({ kind: "cut" });
    await line1.shows("Gateway.FleetLinkUp", false);
    simulator.control.clearFaults();
    await line1.shows("Gateway.FleetLinkUp", true);
    const hold = (on: boolean) =>
      hmi.publish("command/Hold", JSON.stringify({ id: `hold-${on}`, robot_id: "cart-09", hold: on }));
    await hold(true);
    const { text: reply } = await hmi.on("clients/hmi/reply/hold-true");
    expect(JSON.parse(reply)).toMatchObject({ outcome: "succeeded", code: "OK" });
    await hmi.on("amr/AMR09/hold", (shown) => shown.includes("hmi"), from);
    await line1.shows("Robots.AMR09.Held", true);
    await hold(false);
    await hmi.on("clients/hmi/reply/hold-false");
    // A connection that is made anew says first that it is offline.
    expect(hmi.received.entries.slice(from).map(({ topic }) => topic)).not.toContain("status");
    await line1.close();
    await hmi.close();
  });

  it("are refused by name where they have nodes, and nothing changes", async () => {
    const { opcua } = sections() as { readonly opcua: Sections };
    const aliases = { ...robots, "cart-01": { alias: "AMR01" } };
    const result = await reload({ opcua: { ...opcua, robots: aliases } });
    const reason = "restart to change it: the robot has its nodes already";
    expect(result).toMatchObject({
      applied: [],
      refused: [{ path: "opcua.robots.cart-01.alias", reason }],
    });
  });
});

describe("a reload that is refused", () => {
  it("changes nothing: neither what is live nor what needs a restart, which is named", async () => {
    const { hash } = await reload();
    const changes = { rights: [rule("mqtt", "hmi", "observer")], quality: { holdMs: 9_000 } };
    const result = await reload(changes);
    const refused = [{ path: "quality.holdMs", reason: "restart to change it" }];
    const warnings = [expect.objectContaining({ path: "opcua.users.line2" })];
    expect(result).toEqual({ applied: [], refused, warnings, hash });
    const hmi = await ear("hmi");
    expect((await hmi.send("ControlConveyor", "d-1", conveyor)).code).not.toBe("NOT_ALLOWED");
    await hmi.close();
    expect(gateway.health().configuration).toMatchObject({
      state: "degraded",
      detail: expect.stringContaining("quality.holdMs: restart to change it"),
    });
    await reload();
    expect(gateway.health().configuration).toMatchObject({ state: "up" });
  });

  it("tells the problems of a broken file as fleetgate check does, and goes on", async () => {
    await write({ rights: [rule("mqtt", "nobody")], alarms: { battery: { low: 0 } } });
    const result = await gateway.reload("SIGHUP");
    const loaded = await loadConfig(join(folder, "fleetgate.yaml"), {}, createCatalogue(), Date.now());
    const problems = loaded.ok ? [] : loaded.problems;
    expect(problems).toHaveLength(2);
    expect(result.refused).toEqual(
      problems.map(({ path, line, message }) => ({ path, reason: `${message} (line ${line})` })),
    );
    await writeFile(join(folder, "fleetgate.yaml"), "{ half a fi");
    expect((await gateway.reload("SIGHUP")).refused).not.toEqual([]);
    await rm(join(folder, "fleetgate.yaml"));
    expect((await gateway.reload("SIGHUP")).refused).toEqual([
      { path: "", reason: expect.stringContaining("does not exist") },
    ]);
    const line1 = await plc("line1");
    expect(await line1.write([`${SLOT}.Operation`, int32(1)])).toEqual(["Good"]);
    await line1.close();
  });
});
