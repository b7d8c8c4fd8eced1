import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";
import { int32, openPlc, type Plc, text } from "./plc.ts";

const ROBOT = "cart-01";
const HEARTBEAT_MS = 1_500;
const on = { dataType: "Boolean", value: true } as const;
const off = { dataType: "Boolean", value: false } as const;

let folder: string;
let simulator: RunningSimulator;
let gateway: RunningGateway;
let plc: Plc;
let beat = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-permit-"));
  simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7, timeFactor: 0.2 });
});
afterEach(async () => {
  await plc.close();
  await gateway.stop();
  await simulator.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(): Promise<void> {
  const dock = {
    destinations: ["Station A"],
    heartbeatMs: HEARTBEAT_MS,
    permit: "required",
    pauseOnLoss: true,
  };
  gateway = await startGateway(folder, simulator.endpoints, { stations: { dock } });
  plc = await openPlc(gateway.opcuaUrl);
  await plc.shows(`Robots.${ROBOT}.Valid`, true);
}
const station = (name: string) => `Stations.dock.${name}`;

async function permitRobots(): Promise<void> {
  for (let beats = 0; beats < 2; beats += 1) {
    beat += 1;
    await plc.write([station("Slot.Heartbeat"), int32(beat)], [station("Permit"), on]);
  }
}

/** Sends the robot to the station through its slot. */
async function sendRobot(): Promise<unknown> {
  const slot = `Robots.${ROBOT}.MissionSlot`;
  const ticket = await plc.nextId(`${slot}.NextId`);
  await plc.write([`${slot}.CommandText`, text(`${ticket};1;Station A`)]);
  await plc.shows(`${slot}.DoneId`, ticket);
  return plc.value(`${slot}.ErrorId`);
}

test("a restart of the gateway takes the permit, and pauses a robot on its way if the PLC then writes FALSE", async () => {
  await start();
  await permitRobots();
  await plc.shows(station("Permitted"), true);
  expect(await sendRobot()).toBe(0);
  await plc.shows(`Robots.${ROBOT}.Mission.StateText`, "STATE_RUNNING");
  await plc.close();
  await gateway.stop();

  await start();
  expect(await plc.value(station("Permit"))).toBe(false);
  expect(await plc.value(station("Permitted"))).toBe(false);
  expect(await sendRobot()).toBe(1024);
  expect(await plc.value(`Robots.${ROBOT}.Mission.StateText`)).toBe("STATE_RUNNING");
  await plc.write([station("Permit"), off]);
  await plc.shows(`Robots.${ROBOT}.Mission.StateText`, "STATE_PAUSED");
  await permitRobots();
  await plc.shows(station("Permitted"), true);
  expect(await plc.value(`Robots.${ROBOT}.Mission.StateText`), "nothing is resumed").toBe("STATE_PAUSED");
});
