import { fromJson } from "@bufbuild/protobuf";
import type { Control } from "../../../src/simulator/control.ts";
import { readScenario, type Scenario } from "../../../src/simulator/scenario/scenario.ts";
import { MissionSchema } from "../../../src/wire/fleet/v1/mission_pb.js";
import { ROBOT, ROBOT_NUMBER } from "./station-plant.ts";

const FOREVER_MS = 3_600_000;

/** How long the service waits for a robot that does not confirm. */
export const CONFIRM_WAIT_MS = 1_000;

/** One cart, the station and a place beside it. Loads move when the plant says so, not by themselves. */
export function stationScenario(): Scenario {
  return readScenario({
    confirmMs: 0,
    confirmWaitMs: CONFIRM_WAIT_MS,
    rules: {
      standingPercentPerHour: 0,
      drivingPercentPerHour: 0,
      traverseStopMs: FOREVER_MS,
      transferMs: FOREVER_MS,
    },
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "acme-one" }] }],
    locations: [{ id: "plant-1", distributor: "acme" }],
    maps: [
      {
        id: 1,
        name: "Plant 1",
        distributor: "acme",
        vertices: [
          { id: 1, code: "H", x: 0, y: 1, kind: "home" },
          { id: 2, code: "A", alias: "Station A", x: 0, y: 0, kind: "station" },
          { id: 3, code: "B", alias: "Station B", x: 1, y: 0, kind: "station" },
        ],
      },
    ],
    robots: [
      {
        id: ROBOT,
        amrId: 1,
        family: "cart",
        location: "plant-1",
        map: 1,
        home: "H",
        model: "single",
        speedMetersPerSecond: 4,
      },
    ],
  });
}

/** The sections of the gateway's configuration that the station needs. */
export function stationSections(heartbeatMs: number) {
  return {
    stations: {
      dock: { destinations: ["Station A"], heartbeatMs, permit: "required", load: "CW" },
    },
    robots: { [ROBOT]: { number: ROBOT_NUMBER } },
  };
}

const goals = (...names: readonly string[]) => names.map((destinationId) => ({ destinationId }));

function cancelCurrent(control: Control): void {
  const robot = control.robots().find(({ robotId }) => robotId === ROBOT);
  for (const { missionId, status } of robot?.missions ?? []) {
    if (status === "running" || status === "paused") control.cancelMission(ROBOT, missionId);
  }
}

function start(control: Control, ...names: readonly string[]): void {
  cancelCurrent(control);
  const mission = fromJson(MissionSchema, { cartMission: { traverseMission: { goals: goals(...names) } } });
  control.startMission(ROBOT, "touchscreen", mission);
}

/** The robot comes to the station, waits there to be told to go on, and then drives away. */
export function sendToStation(control: Control): void {
  start(control, "Station A", "Station B");
}

/** Somebody sends the robot away from the station. */
export function sendAway(control: Control): void {
  start(control, "Station B");
}

/** What the service was told to do since then: that which may happen once only. */
export function startsSince(control: Control, seq: number): { conveyor: number; goOn: number } {
  const received = control
    .record(seq)
    .filter(({ robotId }) => robotId === ROBOT)
    .flatMap(({ fact }) => (fact.what === "received" ? [fact] : []));
  const conveyor = received.filter(
    ({ operation, request }) =>
      operation === "ControlConveyor" && /"(COMMAND_CONVEYOR_MOTOR_)?CC?W"/.test(JSON.stringify(request)),
  );
  return {
    conveyor: conveyor.length,
    goOn: received.filter(({ operation }) => operation === "SkipGoal").length,
  };
}
