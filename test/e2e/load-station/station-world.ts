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

function start(control: Control, ...names: readonly string[]): string {
  cancelCurrent(control);
  const mission = fromJson(MissionSchema, { cartMission: { traverseMission: { goals: goals(...names) } } });
  return control.startMission(ROBOT, "touchscreen", mission);
}

/**
 * The robot comes to the station, waits there to be told to go on, and then drives away.
 * @returns the id of its mission; its goal 0 is the station
 */
export function sendToStation(control: Control): string {
  return start(control, "Station A", "Station B");
}

/** Somebody sends the robot away from the station. */
export function sendAway(control: Control): void {
  start(control, "Station B");
}

/** What happened to the robot in a visit that may happen once only, or never. */
export interface Told {
  /** Starts of its conveyor, and commands to go on. */
  readonly conveyor: number;
  readonly goOn: number;
  /** How often it was told to leave another goal than the station. */
  readonly elsewhere: number;
  /** The commands, with the seconds since the first one. */
  readonly commands: string;
}

/** What the service has received since then, in the visit of this mission. */
export function toldSince(control: Control, seq: number, missionId: string): Told {
  const record = control.record(seq).filter(({ robotId }) => robotId === ROBOT);
  const received = record.flatMap(({ atMs, fact }) => (fact.what === "received" ? [{ atMs, ...fact }] : []));
  const isStart = ({ operation, request }: (typeof received)[number]) =>
    operation === "ControlConveyor" && /"(COMMAND_CONVEYOR_MOTOR_)?CC?W"/.test(JSON.stringify(request));
  const left = record.flatMap(({ fact }) =>
    fact.what === "goal" && fact.by.startsWith("call:") ? [fact] : [],
  );
  const beginMs = received[0]?.atMs ?? 0;
  return {
    conveyor: received.filter(isStart).length,
    goOn: received.filter(({ operation }) => operation === "SkipGoal").length,
    elsewhere: left.filter((goal) => goal.missionId !== missionId || goal.goalIndex !== 0).length,
    commands: received
      .map(
        (one) =>
          `${((one.atMs - beginMs) / 1_000).toFixed(1)} ${one.operation}${isStart(one) ? " (start)" : ""}`,
      )
      .join(", "),
  };
}
