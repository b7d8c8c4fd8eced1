import { expect } from "vitest";
import type { Command } from "../../src/domain/command.ts";
import {
  belt,
  type CommandsHarness,
  createHarness,
  type HarnessOptions,
  mission,
  missions,
  OK,
  plc,
} from "./commands-harness.ts";

export const stations = [
  { name: "Dock", destinations: ["D1", "D2"], heartbeatMs: 5_000, maxRunMs: 20_000 },
  { name: "Press", destinations: ["P1"], heartbeatMs: 5_000, maxRunMsOf: new Map([[1, 3_000]]) },
] as const;
export const rights = [
  { source: { protocol: "opcua", name: "*" }, role: "engineer" },
  { source: { protocol: "mqtt", name: "*" }, role: "engineer" },
] as const;
export const scada = { protocol: "mqtt", name: "scada" } as const;
const atDock = mission("m", "D1", { state: "STATE_SUCCEEDED" });
export const refused = {
  kind: "refused",
  code: "FAILED_PRECONDITION",
  message: "the motor has an error",
} as const;

export async function rigAtDock(more: HarnessOptions = {}): Promise<CommandsHarness> {
  const harness = await createHarness({ stations, options: { rights }, ...more });
  await harness.see(missions("AMR01", harness.clock.nowMs(), atDock));
  return harness;
}

/** Leases the robot to the dock, and starts belt 1 through the dock's slot. */
export async function rolling(harness: CommandsHarness): Promise<void> {
  expect(await harness.dispatcher.stations.ask("Dock", plc, "AMR01")).toBeNull();
  await roll(harness);
  await harness.call(0).answer(OK);
  await shows(harness, "ROLLING");
}

export const roll = (harness: CommandsHarness, more: Partial<Command> = { station: "Dock" }) =>
  harness.send("RollBelts", { robot: "AMR01", belts: [1] }, more);
/** The robot shows its belt, in a message that is newer than the last. */
export async function shows(harness: CommandsHarness, state: "ROLLING" | "STOP"): Promise<void> {
  await harness.clock.settle(1_000);
  await harness.see(belt("AMR01", harness.clock.nowMs(), 1, `OPERATION_STATE_${state}`));
}

export const stopsOf = (harness: CommandsHarness) =>
  harness.calls.filter(({ operation }) => operation === "StopBelts").map(({ requestJson }) => requestJson);
export const STOP = '{"robot":"AMR01","belts":[1]}';
export const standing = (harness: CommandsHarness) =>
  harness.alarms().filter(({ code, isActive }) => code === "CONVEYOR_NOT_STOPPED" && isActive);

/** Lets seconds pass, with a heartbeat in each. */
export async function beating(harness: CommandsHarness, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    harness.dispatcher.stations.heartbeat("Dock", plc);
    await harness.clock.settle(1_000);
  }
}
