import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { triedRow, writeTriedRow } from "../../scripts/foreign/tried-clients.mjs";
import { endPrograms, fleetgate, newFolder, type Program, type Ready, ready } from "../cli/program.ts";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import { exampleFlow, type NodeRed, nodeRedVersions, startNodeRed } from "./node-red-harness.ts";

vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

const folder = newFolder();
let base: string;
let program: Program;
let demo: Ready;
let nodeRed: NodeRed;
beforeAll(async () => {
  // Before anything starts: it says how Node-RED is installed.
  nodeRedVersions();
  base = String(await freePorts(5));
  await startDemo();
  const ports = { 1883: new URL(demo.mqtt).port, 4840: new URL(demo.opcua).port };
  const flows = ["node-red-opcua.json", "node-red-mqtt.json"].flatMap((name) => exampleFlow(name, ports));
  nodeRed = await startNodeRed(flows);
});
afterAll(async () => {
  await nodeRed?.close();
  await endPrograms();
});

/** The simulated robots begin anew; the alarms are kept. */
async function startDemo(): Promise<void> {
  program = fleetgate(folder, "demo", "--json", "--no-lively", "--base-port", base);
  demo = await ready(program);
}

const passed: string[] = [];
/** A case of the table in docs/scada.md. */
function tried(name: string, run: () => Promise<void>): void {
  test(name, async () => {
    await run();
    passed.push(name);
  });
}

/** Waits until a debug node shows a payload, `from` one of its entries on. */
async function shows(name: string, payload: unknown, from = 0): Promise<void> {
  const wanted = expect.objectContaining({ name, payload });
  const fits = (entry: unknown) => wanted.asymmetricMatch(entry);
  await nodeRed.shown.first(`${name}: ${JSON.stringify(payload)}`, fits, from);
}

/** The commands for a robot that the service has received. */
async function received(robotId: string): Promise<readonly string[]> {
  const url = `${demo.fleet.https}/simulator/record?since=0&robotId=${robotId}`;
  const { entries } = (await https({ url, ca: await readFile(demo.fleet.ca) })).json() as {
    readonly entries: ReadonlyArray<{
      readonly fact: { readonly what: string; readonly operation?: string };
    }>;
  };
  return entries.flatMap(({ fact }) => (fact.what === "received" ? [fact.operation ?? ""] : []));
}

async function happen(incident: Readonly<Record<string, unknown>>): Promise<void> {
  const url = `${demo.fleet.https}/simulator/incidents`;
  const answer = await https({ url, ca: await readFile(demo.fleet.ca), method: "POST", body: incident });
  expect(answer.status).toBeLessThan(300);
}

tried("OPC UA: subscribe", async () => {
  await shows("values", { tag: "Robots.cart-01.Mission.State", good: true, value: 0 });
});

tried("OPC UA: read", async () => {
  await nodeRed.press("read");
  await shows("values", { tag: "Robots.cart-01.ReadyForCommand", good: true, value: true });
});

tried("OPC UA: slot write", async () => {
  await nodeRed.press("send to Station A by a slot");
  await shows("outcome", { number: expect.any(Number), verdict: "ended", outcome: 3, error: 0 });
  await shows("values", { tag: "Robots.cart-01.Mission.State", good: true, value: 2 });
  expect(await received("cart-01")).toEqual(["CreateMission"]);
});

tried("OPC UA: condition, acknowledged", async () => {
  const incident = { kind: "conveyor-health", robotId: "cart-02", index: 1 };
  const condition = "ns=2;s=Robots.cart-02.Alarms.CONVEYOR_ERROR_1";
  await happen({ ...incident, ok: false });
  await shows("conditions", [{ condition, acknowledged: false }]);
  await nodeRed.press("acknowledge a condition");
  await shows("conditions", [{ condition, acknowledged: true }]);
  const from = nodeRed.shown.entries.length;
  await happen({ ...incident, ok: true });
  await shows("conditions", [], from);
});

/** The alarms that stand, in the words of the function *conditions*. */
async function standing(): Promise<readonly unknown[]> {
  const { alarms } = (await (await fetch(`${demo.web}/api/v1/alarms`)).json()) as {
    readonly alarms: ReadonlyArray<{
      readonly code: string;
      readonly robot_id: string | null;
      readonly acknowledged_by: string | null;
    }>;
  };
  return alarms.map(({ code, robot_id: robotId, acknowledged_by: by }) => {
    const source = robotId === null ? "Gateway" : `Robots.${robotId}`;
    return { condition: `ns=2;s=${source}.Alarms.${code}`, acknowledged: by !== null };
  });
}

tried("MQTT: state", async () => {
  await shows("mission", { robot: "cart-01", good: true, mission: "STATE_RUNNING" });
});

tried("MQTT: command, asked again", async () => {
  await nodeRed.press("send to Station A");
  await shows("reply", expect.objectContaining({ outcome: "succeeded", duplicate: false }));
  await nodeRed.press("ask again");
  await shows("reply", expect.objectContaining({ outcome: "succeeded", duplicate: true }));
  expect(await received("cart-02")).toEqual(["CreateMission"]);
});

tried("MQTT: alarm, acknowledged", async () => {
  await shows("alarms", []);
  await happen({ kind: "conveyor-health", robotId: "cart-01", index: 1, ok: false });
  const alarm = { code: "CONVEYOR_ERROR_1", robot_id: "cart-01", acknowledged_by: null };
  await shows("alarms", [alarm]);
  await nodeRed.press("acknowledge");
  await shows("alarms", [{ ...alarm, acknowledged_by: "mqtt:hmi" }]);
  const from = nodeRed.shown.entries.length;
  await happen({ kind: "conveyor-health", robotId: "cart-01", index: 1, ok: true });
  await shows("alarms", [], from);
});

tried("OPC UA: conditions, over a restart", async () => {
  const conditionOf = (robotId: string) => `ns=2;s=Robots.${robotId}.Alarms.CONVEYOR_ERROR_1`;
  const fail = (robotId: string) => happen({ kind: "conveyor-health", robotId, index: 1, ok: false });
  const acknowledged = { condition: conditionOf("cart-01"), acknowledged: true };
  const open = { condition: conditionOf("cart-02"), acknowledged: false };
  const began = nodeRed.shown.entries.length;
  await fail("cart-01");
  await shows("conditions", [{ ...acknowledged, acknowledged: false }], began);
  await nodeRed.press("acknowledge a condition");
  await shows("conditions", [acknowledged], began);
  await fail("cart-02");
  await shows("conditions", [acknowledged, open]);
  expect(await standing()).toEqual(expect.arrayContaining([acknowledged, open]));

  program.send("SIGKILL");
  await program.ended;
  const restartedAt = nodeRed.shown.entries.length;
  await startDemo();
  // The conveyors of the new robots are well: the one alarm ends, the other waits for its acknowledgement.
  await vi.waitFor(
    async () => {
      const shown = nodeRed.shown.entries.slice(restartedAt).filter(({ name }) => name === "conditions");
      const lists = shown.map(({ payload }) => payload);
      // It began anew: an alarm may end before Node-RED is back, which tries after 1, 6, 16 and 36 s.
      expect(lists).toContainEqual([]);
      expect(lists.at(-1)).toEqual([open]);
      expect(await standing()).toEqual([open]);
    },
    { timeout: 60_000, interval: 250 },
  );
  const from = nodeRed.shown.entries.length;
  await nodeRed.press("acknowledge a condition");
  await shows("conditions", [], from);
});

test("the table of docs/scada.md has what passed here", () => {
  const row = { client: "Node-RED", version: nodeRedVersions(), passed };
  if (process.env.RECORD_CLIENTS) writeTriedRow(row);
  expect(triedRow("Node-RED"), "RECORD_CLIENTS=yes writes the row").toEqual(row);
});
