import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { startSimulator } from "../support/simulator.ts";
import { startGateway } from "./e2e-harness.ts";
import { openPlc } from "./plc.ts";

const ROBOT = "cart-01";
const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("after a restart a PLC reads alarms that stood before, also while the service is away", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-e2e-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7 });
  const { endpoints } = simulator;
  cleanups.push(() => simulator.stop());
  const first = await startGateway(folder, endpoints);
  const before = await openPlc(first.opcuaUrl);
  await before.shows(`Robots.${ROBOT}.Valid`, true);
  await before.write(["Robots.serve-01.Alarms.OutOfService", { dataType: "Boolean", value: true }]);
  simulator.control.happen({ kind: "battery", robotId: ROBOT, percent: 8 });
  await before.shows(`Robots.${ROBOT}.Alarms.Count`, 2);
  await before.close();
  await first.stop();
  await simulator.stop();
  cleanups.pop();

  const second = await startGateway(folder, endpoints);
  cleanups.push(second.stop);
  const plc = await openPlc(second.opcuaUrl);
  cleanups.push(plc.close);
  expect(await plc.value("Gateway.Alarms.HighestSeverity")).toBe(600);
  expect(await plc.value(`Robots.${ROBOT}.Alarms.Count`)).toBe(2);
  expect(await plc.value(`Robots.${ROBOT}.Alarms.HighestSeverity`)).toBe(600);
  expect(await plc.value("Robots.serve-01.Alarms.OutOfService")).toBe(true);
});
