import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exportTables } from "../../src/platform/stores/tables-export.ts";
import {
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../src/wire/fleet/v1/service_pb.js";
import { type ScriptedService, startScriptedService } from "../support/scripted-service.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";
import { listenMqtt, type MqttEar } from "./mqtt-ear.ts";
import { openPlc, type Plc } from "./plc.ts";

const BATTERY = "SubscribeBatteryStatus";
const MISSION = "SubscribeMissionStatus";
/**
 * Texts that name nothing. The last has 256 characters, and more bytes than a key of a store holds once
 * encoded.
 */
const wrong = [
  "",
  "\u0000",
  "a\nb",
  "x".repeat(257),
  "x".repeat(70_000),
  "x".repeat(2_500),
  "語".repeat(256),
];
/** Odd, and names all the same. */
const odd = ["a/b#+%", "語".repeat(170), "x".repeat(256), "__proto__", " "];

let folder: string;
let service: ScriptedService;
let gateway: RunningGateway;
let mqtt: MqttEar;
let plc: Plc;
let sequence = 0n;
/** Streams that open later, for the odd robots, would begin with an older state of the good one. */
let doStreamsTell = true;

function battery(robotId: string, chargePercent: number): Uint8Array {
  sequence += 1n;
  const metadata = { timestamp: { seconds: 1_700_000_000n + sequence }, sequenceNumber: sequence };
  const fields = { robotId, metadata, batteryState: { chargePercent, state: 1, chargeMethod: 1 } };
  return toBinary(SubscribeBatteryStatusResponseSchema, create(SubscribeBatteryStatusResponseSchema, fields));
}

function missions(robotId: string, ...missionIds: string[]): Uint8Array {
  sequence += 1n;
  const metadata = { timestamp: { seconds: 1_700_000_000n + sequence }, sequenceNumber: sequence };
  const missionStates = { missions: missionIds.map((missionId) => ({ missionId, state: 2 })) };
  return toBinary(
    SubscribeMissionStatusResponseSchema,
    create(SubscribeMissionStatusResponseSchema, { robotId, metadata, missionStates }),
  );
}

function conveyors(...indexes: number[]): Uint8Array {
  const states = indexes.map((index) => ({ index, operationState: 2 }));
  return toBinary(
    SubscribeConveyorStatusResponseSchema,
    create(SubscribeConveyorStatusResponseSchema, { states }),
  );
}

async function start(): Promise<void> {
  gateway = await startGateway(folder, service, { fleet: { families: { good: "cart" } } });
  mqtt = await listenMqtt(gateway.mqttUrl, "e2e", "fleetgate/e2e");
  plc = await openPlc(gateway.opcuaUrl);
}

async function stop(): Promise<void> {
  await plc.close();
  await mqtt.close();
  await gateway.stop();
}

/** A figure of the session to the fleet. */
async function figure(name: string): Promise<number | undefined> {
  const health = (await (await fetch(`${gateway.webUrl}/healthz`)).json()) as {
    components: Record<string, { figures: Record<string, number> }>;
  };
  return health.components.fleet?.figures[name];
}

const hears = (topic: string, part: string) => mqtt.on(topic, (message) => message.includes(part));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-identifiers-"));
  doStreamsTell = true;
  service = await startScriptedService({
    streams: {
      [BATTERY]: () => (doStreamsTell ? [battery("good", 50)] : []),
      [MISSION]: () => (doStreamsTell ? [missions("good")] : []),
      SubscribeConveyorStatus: () => (doStreamsTell ? [conveyors(1)] : []),
    },
  });
});
afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test("names that cannot be are dropped, counted and logged once a kind; nobody else is troubled", async () => {
  await start();
  await plc.shows("Robots.good.Battery.ChargePercent", 50);
  // Its streams are open.
  await hears("robots/good/mission", '"missions":[]');
  await hears("robots/good/conveyors/1", '"index":1');
  doStreamsTell = false;
  for (const name of wrong) {
    service.push(BATTERY, battery(name, 1));
    service.push(MISSION, missions(name, "m1"));
    if (name !== "") service.push(MISSION, missions("good", "m1", name));
  }
  for (const index of [-1, -2_147_483_648]) service.push("SubscribeConveyorStatus", conveyors(1, index));
  service.push("SubscribeConveyorStatus", conveyors(2, 2));
  for (const name of odd) service.push(BATTERY, battery(name, 77));
  service.push(BATTERY, battery("good", 51));
  service.push(MISSION, missions("good", "", "m2"));
  service.push("SubscribeConveyorStatus", conveyors(3));

  await hears("robots/good/battery", '"charge_percent":51');
  await hears("robots/good/mission", '"mission_id":"m2"');
  await hears("robots/good/conveyors/3", '"index":3');
  await plc.shows("Robots.good.Battery.ChargePercent", 51);
  await plc.shows(`Robots.${encodeURIComponent("語".repeat(170))}.Battery.ChargePercent`, 77);
  await hears(`robots/${"x".repeat(256)}/battery`, '"charge_percent":77');
  expect(mqtt.received.entries.some(({ text }) => text.includes('"charge_percent":1,'))).toBe(false);
  expect(mqtt.received.entries.some(({ text }) => text.includes('"mission_id":"m1"'))).toBe(false);
  expect(mqtt.received.entries.some(({ topic }) => /conveyors\/(-|2)/.test(topic))).toBe(false);
  // The three messages with 70,000 characters are left out before anybody looks into them.
  expect(await figure("messages_malformed")).toBe(3);
  expect(await figure("identifiers_refused")).toBe(wrong.length * 2 + (wrong.length - 1) + 3 - 3);
  const said = gateway.log.entries.filter((line) => line.includes("an identifier"));
  const kinds = said.map((line) => (JSON.parse(line) as { kind: string }).kind);
  expect(kinds.sort()).toEqual(["conveyor_index", "mission_id", "robot_id"]);
  for (const line of said) expect(line.length).toBeLessThan(600);
  // Its tickets have a key of 1,500 bytes and more.
  const slot = `Robots.${encodeURIComponent("語".repeat(170))}.MissionSlot`;
  expect(await plc.nextId(`${slot}.NextId`)).toBeGreaterThan(0);
  await stop();
});

test("what somebody has written into the register of robots does not end the next start", async () => {
  await start();
  await plc.shows("Robots.good.Battery.ChargePercent", 50);
  await stop();
  const dataDir = join(folder, "gateway");
  const kept = JSON.parse((await exportTables(join(dataDir, "tables"))) ?? "");
  expect(Object.keys(kept.robots)).toEqual(["good"]);
  const foreign = wrong.map((robotId) => ({ robotId, family: "cart", conveyorIndexes: [1] }));
  const indexes = { robotId: "good", family: "cart", conveyorIndexes: [1, -1, 1.5, "x", null, 2 ** 40] };
  const none = [{ robotId: 7, family: {}, conveyorIndexes: [] }, null, 7];
  const robots = [...foreign, indexes, ...none];
  const records = [...robots.map((robot) => [`${robots.indexOf(robot)}`, robot]), ["good", indexes]];
  const byId = foreign.map((robot) => [robot.robotId, robot]);
  const texts = [records, byId].map((each) => JSON.stringify({ robots: Object.fromEntries(each) }));
  for (const text of [...texts, "no JSON", "{}", ""]) {
    writeFileSync(join(dataDir, "tables.json"), text);
    await start();
    await plc.shows("Robots.good.Battery.ChargePercent", 50);
    await stop();
  }
  // Six starts of the gateway.
}, 180_000);
