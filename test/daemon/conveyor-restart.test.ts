import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import mqtt from "mqtt";
import { afterEach, expect, test, vi } from "vitest";
import { parse, stringify } from "yaml";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { startDaemon, writeConfiguration } from "./daemon.ts";

/*
 * The rows of docs/load-station.md, How a lease ends, in which the gateway itself ends or reloads its
 * configuration; test/e2e/conveyor-alone.test.ts plays the others.
 */

const ROBOT = "cart-01";
/** A start of the gateway, its session to the service, and a command, on a busy machine. */
const START_MS = 30_000;
/** A reload and a command, on a busy machine. */
const RELOAD_MS = 3_000;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("what a station has started is stopped by the next start of a killed gateway, by an orderly end, and by a reload that takes the station from its client", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-conveyor-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const simulator = await startSimulator({ timeFactor: 4 });
  cleanups.push(() => simulator.stop());
  const broker = await startPlantBroker();
  cleanups.push(() => broker.close());
  const ear = await listenMqtt(broker.url, "hmi", "fleetgate/conveyor");
  cleanups.push(() => ear.close());
  const client = await mqtt.connectAsync(broker.url, { reconnectPeriod: 0 });
  cleanups.push(() => client.endAsync(true));
  const config = await writeConfiguration(folder, "conveyor", simulator.endpoints, [ROBOT], broker.url);
  const stations = { dock: { destinations: ["Station A"], heartbeatMs: 600_000 } };
  const file = { ...parse(await readFile(config, "utf8")), stations };
  await writeFile(config, stringify(file), { mode: 0o600 });
  const start = () => {
    const daemon = startDaemon(config);
    cleanups.push(() => daemon.kill());
    return daemon;
  };
  const good = (from: number) => ear.on(`robots/${ROBOT}/availability`, (text) => text === "good", from);
  const motor = () => {
    const robot = simulator.control.robots().find(({ robotId }) => robotId === ROBOT);
    return robot?.conveyors.find(({ index }) => index === 1)?.motor;
  };
  let starts = 0;
  const roll = async () => {
    starts += 1;
    const request = { robotId: ROBOT, commands: [{ index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" }] };
    expect(await ear.send("ControlConveyor", `roll-${starts}`, request)).toMatchObject({
      outcome: "succeeded",
    });
    expect(motor()).toBe("cw");
  };

  const first = start();
  await good(0);
  const goal = { destinationId: "Station A" };
  const mission = { baseMission: { navigateMission: { goal } } };
  await ear.send("CreateMission", "go", { robotId: ROBOT, mission });
  await ear.on(`robots/${ROBOT}/mission`, (state) => state.includes('"STATE_SUCCEEDED"'));
  const asked = JSON.stringify({ id: "ask", station: "dock", robot_id: ROBOT });
  await client.publishAsync("fleetgate/conveyor/clients/hmi/command/LeaseRobot", asked, { qos: 1 });
  expect(JSON.parse(await ear.replyText("ask"))).toMatchObject({ response: { leased: [ROBOT] } });
  await roll();
  await first.kill();
  expect(motor()).toBe("cw");

  const from = ear.received.entries.length;
  const stops = async (limitMs: number, what: string) => {
    const fromMs = performance.now();
    await vi.waitFor(() => expect(motor()).toBe("stop"), { timeout: limitMs, interval: 20 });
    process.stderr.write(`stopped ${Math.round(performance.now() - fromMs)} ms after ${what}\n`);
  };
  const second = start();
  await stops(START_MS, "the start");
  await good(from);
  const beat = JSON.stringify({ id: "beat", station: "dock", counter: 1 });
  await client.publishAsync("fleetgate/conveyor/clients/hmi/command/Heartbeat", beat, { qos: 1 });
  expect(JSON.parse(await ear.replyText("beat"))).toMatchObject({ response: { leased: [ROBOT] } });

  await roll();
  expect(await second.stop()).toBe(0);
  expect(motor()).toBe("stop");

  const since = ear.received.entries.length;
  const third = start();
  await good(since);
  await roll();
  const others = { dock: { ...stations.dock, clients: ["other"] } };
  await writeFile(config, stringify({ ...file, stations: others }), { mode: 0o600 });
  process.kill(third.pid, "SIGHUP");
  await stops(RELOAD_MS, "the reload");
}, 120_000);
