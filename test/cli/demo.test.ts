import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { FleetService } from "../../src/wire/fleet/v1/service_pb.js";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { openPlc, text } from "../e2e/plc.ts";
import { createFleetClient } from "../support/fleet-client.ts";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import { endPrograms, fleetgate, newFolder, type Ready, ready, TEST_TIMEOUT_MS } from "./program.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterEach(endPrograms);

/** Far beyond what an end takes, also on a busy machine: it waits for nobody. */
const ENDED_WITHIN_MS = 15_000;
/** With the demo's seed, the first robot of a lively demo leaves before the gateway's third heartbeat. */
const BEATS_WITHOUT_A_MOVE = 4;

test("demo --json prints the line that was promised, and robots stand still", async () => {
  const base = await freePorts(5);
  const demo = fleetgate(newFolder(), "demo", "--json", "--base-port", String(base));
  const line = await ready(demo);
  expect(line).toEqual({
    event: "ready",
    fleet: {
      grpc: `127.0.0.1:${base}`,
      https: `https://127.0.0.1:${base + 1}`,
      ca: expect.stringMatching(/^\//),
      credentials: expect.stringMatching(/^\//),
      otherCredentials: expect.stringMatching(/^\//),
      locations: ["plant-1"],
    },
    mqtt: `mqtt://127.0.0.1:${base + 2}`,
    opcua: `opc.tcp://127.0.0.1:${base + 3}`,
    web: `http://127.0.0.1:${base + 4}`,
  });
  await bothCredentialsWork(line.fleet);

  // Each address answers, and what it shows is the demo's fleet.
  const mqtt = await listenMqtt(line.mqtt, "demo", "fleetgate/demo");
  await mqtt.on("robots/cart-01/availability", (text) => text === "good");
  await mqtt.close();
  expect((await fetch(`${line.web}/healthz`)).status).toBe(200);
  const plc = await openPlc(line.opcua);
  await plc.shows("Robots.cart-01.Valid", true);
  const beats = await plc.follow("Gateway.Heartbeat");
  const first = Number(beats.entries[0]?.value);
  await beats.first("some heartbeats", ({ value }) => Number(value) >= first + BEATS_WITHOUT_A_MOVE);
  await plc.close();
  const ca = await readFile(line.fleet.ca);
  const record = await https({ url: `${line.fleet.https}/simulator/record`, ca });
  const { entries } = record.json() as { entries: ReadonlyArray<{ fact: { what: string } }> };
  expect(entries.filter(({ fact }) => fact.what !== "received" && fact.what !== "answered")).toEqual([]);

  demo.send("SIGTERM");
  expect(await demo.ended).toEqual({ code: 0, signal: null });
  expect(demo.out.entries).toHaveLength(1);
  // The log is on standard error, a JSON object a line.
  for (const logged of demo.err.entries) expect(JSON.parse(logged)).toHaveProperty("msg");
});

test("with robots that stand still: the first mission of docs/plc.md; a fault that the console asks for is audited", async () => {
  const base = await freePorts(5);
  const folder = newFolder();
  const options = ["--json", "--no-lively", "--data", "data", "--base-port", String(base)];
  const demo = fleetgate(folder, "demo", ...options);
  const { opcua, web } = await ready(demo);
  await sendsFirstMission(opcua);
  await strikesByConsole(web);
  demo.send("SIGTERM");
  expect((await demo.ended).code).toBe(0);
  const audit = await readFile(join(folder, "data", "gateway", "audit", "audit.jsonl"), "utf8");
  const lines = audit.trim().split("\n");
  const faults = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === "simulator");
  expect(faults).toMatchObject([
    { protocol: "web", user: "open", address: "127.0.0.1", operation: "begin_fault", fault: "cut" },
    { operation: "end_fault", fault: "cut", robot_id: null, outcome: "succeeded" },
  ]);
});

/** The first mission of docs/plc.md, line by line. */
async function sendsFirstMission(opcua: string): Promise<void> {
  const plc = await openPlc(opcua);
  // By a method, of another robot: the page's reader takes one of the two ways.
  await plc.shows("Robots.cart-02.ReadyForCommand", true);
  const navigate = (requestId: string, expiresAt: Date | null) =>
    plc.call("cart-02", "Navigate", { requestId, expiresAt, further: [text("Station B")] });
  expect(await navigate("first", null)).toEqual({ outcome: 4, errorId: 1004 });
  expect(await navigate("second", new Date(Date.now() + 60_000))).toEqual({ outcome: 3, errorId: 0 });

  const slot = (name: string) => `Robots.cart-01.MissionSlot.${name}`;
  await plc.shows("Robots.cart-01.ReadyForCommand", true);
  const number = await plc.nextId(slot("NextId"));
  const command = [slot("CommandText"), text(`${number};1;Station A`)] as const;
  expect(await plc.write(command)).toEqual(["Good"]);
  await plc.shows(slot("AcceptedId"), number);
  expect(await plc.value(slot("AcceptedText"))).toBe("navigate to Station A");
  await plc.shows(slot("DoneId"), number);
  expect(await plc.value(slot("Outcome"))).toBe(3);
  // Whether it arrives is a test of the page's program: here the robot takes its own time.
  await plc.shows(slot("MissionState"), 2);
  for (const again of [command, [slot("CommandText"), text(`-${number}`)] as const]) {
    expect(await plc.write(again)).toEqual(["Good"]);
    expect(await plc.value(slot("AcceptedId"))).toBe(number);
    expect(await plc.value(slot("RejectedId"))).toBe(0);
  }
  await plc.close();
}

/** A fault that the console asks for strikes the simulated service, and ends again. */
async function strikesByConsole(web: string): Promise<void> {
  const ask = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json", origin: web };
    const request = body === undefined ? {} : { method: "PUT", headers, body: JSON.stringify(body) };
    return (await fetch(`${web}/api/v1${path}`, request)).json() as Promise<Record<string, unknown>>;
  };
  const fleetState = async () => {
    const { parts } = (await ask("/health")) as { parts: { fleet: { state: string } } };
    return parts.fleet.state;
  };
  await expect.poll(fleetState).toBe("up");
  expect(await ask("/simulator/faults")).toMatchObject({ active: [] });
  const active = [{ fault: "cut", robot_id: null, active_for_ms: expect.any(Number) }];
  expect(await ask("/simulator/faults/cut", { active: true })).toMatchObject({ active });
  await expect.poll(fleetState).not.toBe("up");
  expect(await ask("/simulator/faults/cut", { active: false })).toMatchObject({ active: [] });
  await expect.poll(fleetState).toBe("up");
  expect((await fetch(`${web}/simulator`)).status).toBe(200);
  expect(await ask("/openapi.json")).toEqual(JSON.parse(await readFile("dist/openapi.json", "utf8")));
}

/** Both files are API key documents that only their owner can read, of two distributors with a robot each. */
async function bothCredentialsWork(fleet: Ready["fleet"]): Promise<void> {
  const ca = await readFile(fleet.ca);
  const scopes = new Set<unknown>();
  for (const [file, own, others] of [
    [fleet.credentials, "cart-01", "globex-01"],
    [fleet.otherCredentials, "globex-01", "cart-01"],
  ] as const) {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const document = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>;
    expect(document).toEqual({
      api_key: expect.stringMatching(/./),
      scope: expect.stringMatching(/./),
      secret: expect.stringMatching(/./),
    });
    scopes.add(document.scope);
    const url = `${fleet.https}/authorizeApiAccess`;
    const answer = await https({ url, ca, method: "POST", body: document });
    expect(answer.status).toBe(200);
    const client = createFleetClient({ address: fleet.grpc, ca, token: answer.text });
    const subscribe = (robotId: string) =>
      client.stream(FleetService.method.subscribeBatteryStatus, {
        selector: { targetId: { case: "robotIds", value: { ids: [robotId] } } },
      });
    expect((await subscribe(own).next()).robotId).toBe(own);
    await expect(subscribe(others).next()).rejects.toThrow();
    client.close();
  }
  expect(scopes.size).toBe(2);
}

test("demo tells a person where to look and what happens; watch follows; one Ctrl-C, told twice, ends it", async () => {
  const folder = newFolder();
  const base = await freePorts(5);
  const demo = fleetgate(folder, "demo", "--base-port", String(base));
  for (const shown of [
    `mqtt://127.0.0.1:${base + 2}`,
    `npx mqtt sub -h 127.0.0.1 -p ${base + 2} -v -t 'fleetgate/demo/robots/+/mission'`,
    `opc.tcp://127.0.0.1:${base + 3}`,
    `node dist/main.js watch opc.tcp://127.0.0.1:${base + 3} Robots.cart-01`,
    `http://127.0.0.1:${base + 4}`,
  ]) {
    await demo.out.first(shown, (line) => line.includes(shown));
  }
  const watch = fleetgate(folder, "watch", `opc.tcp://127.0.0.1:${base + 3}`, "Robots.cart-01.Battery");
  const tag = /^[\d:.]{12} {2}Robots\.cart-01\.Battery\.ChargePercent = \d+$/;
  await watch.out.first("a tag", (line) => tag.test(line));
  watch.send("SIGINT");
  expect(await watch.ended).toEqual({ code: 0, signal: null });

  const mission = /^[\d-]{10} [\d:]{8} {2}\S+ +mission \S+ running/;
  await demo.out.first("a mission", (line) => mission.test(line));
  const sentMs = performance.now();
  demo.send("SIGINT");
  demo.send("SIGINT");
  expect(await demo.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - sentMs).toBeLessThan(ENDED_WITHIN_MS);
  const unsaid = demo.err.entries.filter((line) => !/INSECURE|WITHOUT SECURITY/.test(line));
  expect(unsaid).toEqual([]);
});

test("Ctrl-C while the demo still starts ends it", async () => {
  const demo = fleetgate(newFolder(), "demo", "--json", "--base-port", String(await freePorts(5)));
  await demo.err.first("its first line", () => true);
  demo.send("SIGINT");
  expect(await demo.ended).toEqual({ code: 0, signal: null });
  expect(demo.out.entries).toEqual([]);
});

test.each([
  ["demo", 2, "mqtt"],
  ["simulate", 1, "fleet HTTPS"],
] as const)("%s with its port N+%i taken says so in one line, and ends", async (command, place, listener) => {
  const base = await freePorts(5);
  const other = createServer().listen(base + place, "127.0.0.1");
  await once(other, "listening");
  const program = fleetgate(newFolder(), command, "--json", "--base-port", String(base));
  const { code } = await program.ended;
  other.close();
  expect(code).toBe(1);
  expect(program.out.entries).toEqual([]);
  const lines = program.err.entries.filter((line) => !line.startsWith("{"));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(`port ${base + place} (${listener}) is taken`);
  expect(lines[0]).toContain("--base-port");
});
