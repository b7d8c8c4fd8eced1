import { fromJson } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { every } from "../../src/platform/clock.ts";
import { MissionSchema } from "../../src/wire/fleet/v1/mission_pb.js";
import { type IdleHarness, openIdleHarness } from "./e2e-harness.ts";
import { int32, openPlc, text } from "./plc.ts";

/*
 * Plays the table of docs/load-station.md, How a lease ends: each row against the simulator's own state, with
 * the limit of the row. test/daemon/conveyor-restart.test.ts plays those in which the gateway ends or
 * reloads.
 */

const ROBOT = "cart-01";
const HEARTBEAT_MS = 1_500;
const MAX_RUN_MS = 6_000;
/** A driver that connects anew and writes what it knows: more often than a heartbeat must change. */
const REPEATED_MS = 1_000;
/** The gateway looks once a second. */
const LOOK_MS = 1_000;
/** A command, and what a busy machine adds to it. */
const COMMAND_MS = 1_500;

let harness: IdleHarness;
let stopBeating: () => void = () => {};
let beats = 0;

beforeAll(async () => {
  const dock = { destinations: ["Station A"], heartbeatMs: HEARTBEAT_MS, maxRunMs: MAX_RUN_MS, load: "CW" };
  const press = { destinations: ["Station B"], heartbeatMs: HEARTBEAT_MS };
  harness = await openIdleHarness(4, { timeFactor: 4 }, { stations: { dock, press } });
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});
afterEach(async () => {
  stopBeating();
  await vi.waitFor(() => expect(motor()).toBe("stop"), 20_000);
  await vi.waitFor(() => expect(alarm()).toBe(false), 20_000);
  if ((await harness.plc.value("Stations.dock.Slot.Leased")) === true) await slot("dock", `51;${ROBOT}`);
});
afterAll(() => harness.close());

const control = () => harness.simulator().control;
function motor(): string | undefined {
  const robot = control()
    .robots()
    .find(({ robotId }) => robotId === ROBOT);
  return robot?.conveyors.find(({ index }) => index === 1)?.motor;
}

/** Whether the alarm is active: it stands until it is acknowledged. */
function alarm(): boolean {
  const shown = JSON.parse(harness.mqtt.texts(`robots/${ROBOT}/alarms`).at(-1) ?? "{}");
  const alarms: ReadonlyArray<Record<string, unknown>> = shown.alarms ?? [];
  return alarms.some(({ code, active }) => code === "CONVEYOR_NOT_STOPPED" && active === true);
}

/** Writes a command through a station's slot. @returns its ErrorId */
async function slot(station: string, command: string, plc = harness.plc): Promise<unknown> {
  const path = `Stations.${station}.Slot`;
  const ticket = await plc.nextId(`${path}.NextId`);
  await plc.write([`${path}.CommandText`, text(`${ticket};${command}`)]);
  await plc.shows(`${path}.DoneId`, ticket);
  return plc.value(`${path}.ErrorId`);
}

function beat(): void {
  const write = () => {
    beats += 1;
    void harness.plc.write(["Stations.dock.Slot.Heartbeat", int32(beats)]);
  };
  write();
  const beating = new AbortController();
  every(harness.clock, HEARTBEAT_MS / 10, beating.signal, write);
  stopBeating = () => beating.abort();
}

/** Brings the robot to the dock, leases it there, and starts its conveyor. */
async function rolling(): Promise<void> {
  await drive("Station A");
  await harness.plc.shows("Stations.dock.RobotHere", true);
  beat();
  expect(await slot("dock", `50;${ROBOT}`)).toBe(0);
  expect(await slot("dock", `40;${ROBOT};1;4`)).toBe(0);
  expect(motor()).toBe("cw");
}

/** Somebody at the touchscreen sends the robot. */
async function drive(destinationId: string): Promise<void> {
  const robot = control()
    .robots()
    .find(({ robotId }) => robotId === ROBOT);
  for (const { missionId, status } of robot?.missions ?? []) {
    if (status === "running" || status === "paused") control().cancelMission(ROBOT, missionId);
  }
  const goal = { destinationId };
  const mission = fromJson(MissionSchema, { baseMission: { navigateMission: { goal } } });
  control().startMission(ROBOT, "touchscreen", mission);
}

/** Waits until the conveyor stands. @returns how long that took, in milliseconds of the gateway's clock */
async function untilItStands(limitMs: number): Promise<number> {
  const fromMs = harness.clock.monotonicMs();
  await vi.waitFor(() => expect(motor()).toBe("stop"), { timeout: limitMs + 10_000, interval: 5 });
  return harness.clock.monotonicMs() - fromMs;
}

const isLeased = () => harness.plc.value("Stations.dock.Slot.Leased");

test("the heartbeat no longer changes, though a fresh session repeats it every second", async () => {
  await rolling();
  stopBeating();
  const limitMs = HEARTBEAT_MS + LOOK_MS + COMMAND_MS;
  const repeating = new AbortController();
  const repeated = (async () => {
    while (!repeating.signal.aborted) {
      const fresh = await openPlc(harness.opcuaUrl);
      await fresh.write(["Stations.dock.Slot.Heartbeat", int32(beats)]);
      await fresh.close();
      await harness.clock.pass(REPEATED_MS);
    }
  })();
  expect(await untilItStands(limitMs)).toBeLessThan(limitMs);
  repeating.abort();
  await repeated;
  await expect.poll(isLeased).toBe(false);
});

test("the robot leaves by itself", async () => {
  await rolling();
  await drive("Station B");
  expect(await untilItStands(LOOK_MS + COMMAND_MS)).toBeLessThan(LOOK_MS + COMMAND_MS);
  await expect.poll(isLeased).toBe(false);
});

test("the robot is out of sight, and no command reaches it until it is back", async () => {
  await rolling();
  control().happen({ kind: "offline", robotId: ROBOT });
  await vi.waitFor(() => expect(alarm()).toBe(true), 60_000);
  // As many as the gateway lets hang at the service.
  const from = control().record(0).at(-1)?.seq ?? 0;
  const stops = () =>
    control()
      .record(from)
      .filter(({ fact }) => fact.what === "received" && fact.operation === "ControlConveyor");
  await vi.waitFor(() => expect(stops().length).toBeGreaterThanOrEqual(3), 20_000);
  expect(motor()).toBe("cw");
  control().happen({ kind: "online", robotId: ROBOT });
  expect(await untilItStands(LOOK_MS + COMMAND_MS)).toBeLessThan(LOOK_MS + COMMAND_MS);
}, 120_000);

test("the station releases the robot", async () => {
  await rolling();
  expect(await slot("dock", `51;${ROBOT}`)).toBe(0);
  expect(await untilItStands(COMMAND_MS)).toBeLessThan(COMMAND_MS);
});

test("an engineer ends the lease", async () => {
  await rolling();
  expect(await slot("press", `52;${ROBOT}`)).toBe(0);
  expect(await untilItStands(COMMAND_MS)).toBeLessThan(COMMAND_MS);
});

test("the robot is handed over to another station", async () => {
  await rolling();
  await drive("Station B");
  // As soon as the first lease has ended.
  await vi.waitFor(async () => expect(await slot("press", `50;${ROBOT}`)).toBe(0), { timeout: 20_000 });
  expect(await untilItStands(COMMAND_MS)).toBeLessThan(COMMAND_MS);
  expect(await slot("press", `51;${ROBOT}`)).toBe(0);
});

test("it has run for maxRunMs, whatever the heartbeat does", async () => {
  await rolling();
  const tookMs = await untilItStands(MAX_RUN_MS + LOOK_MS + COMMAND_MS);
  expect(tookMs).toBeGreaterThan(MAX_RUN_MS - COMMAND_MS);
  expect(tookMs).toBeLessThan(MAX_RUN_MS + LOOK_MS + COMMAND_MS);
  expect(await isLeased()).toBe(true);
});

test("the service is not reached", async () => {
  await rolling();
  control().apply({ kind: "cut" });
  stopBeating();
  await expect.poll(alarm).toBe(true);
  expect(motor()).toBe("cw");
  const linkUp = harness.plc.shows("Gateway.FleetLinkUp", true);
  control().clearFaults();
  await linkUp;
  expect(await untilItStands(COMMAND_MS)).toBeLessThan(COMMAND_MS);
  await harness.plc.shows(`Robots.${ROBOT}.Valid`, true);
});

test("the service refuses the stop until the error of the motor ends", async () => {
  await rolling();
  const health = { kind: "conveyor-health", robotId: ROBOT, index: 1 } as const;
  control().happen({ ...health, ok: false, keepsTurning: true });
  stopBeating();
  await expect.poll(alarm).toBe(true);
  const isRefused = (event: string) => event.includes("FAILED_PRECONDITION") && event.includes(".conveyor");
  await harness.mqtt.on(`robots/${ROBOT}/event/command`, isRefused);
  expect(motor()).toBe("cw");
  control().happen({ ...health, ok: true });
  expect(await untilItStands(LOOK_MS + COMMAND_MS)).toBeLessThan(LOOK_MS + COMMAND_MS);
});

test("without a lease nothing turns", async () => {
  await drive("Station A");
  await harness.plc.shows("Stations.dock.RobotHere", true);
  for (const command of ["4", "5", "2", "3"]) {
    expect(await slot("dock", `40;${ROBOT};1;${command}`)).toBe(1027);
  }
  expect(motor()).toBe("stop");
  expect(await slot("dock", `40;${ROBOT};1;1`)).toBe(0);
});
