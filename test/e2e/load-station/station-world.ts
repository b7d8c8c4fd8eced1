import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import type { Control } from "../../../src/simulator/control.ts";
import { readScenario, type Scenario } from "../../../src/simulator/scenario/scenario.ts";
import { MissionSchema } from "../../../src/wire/fleet/v1/mission_pb.js";
import { ROBOT, ROBOT_NUMBER } from "./station-plant.ts";

const FOREVER_MS = 3_600_000;
const STATION_NUMBER = 1;
/** The destination to which the block sends its robots on. */
export const NEXT_NUMBER = 2;

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
    opcua: {
      robots: { [ROBOT]: { number: ROBOT_NUMBER } },
      destinations: { [STATION_NUMBER]: "Station A", [NEXT_NUMBER]: "Station B" },
    },
  };
}

function cancelCurrent(control: Control): void {
  const robot = control.robots().find(({ robotId }) => robotId === ROBOT);
  for (const { missionId, status } of robot?.missions ?? []) {
    if (status === "running" || status === "paused") control.cancelMission(ROBOT, missionId);
  }
}

function start(control: Control, cartMission: JsonObject): string {
  cancelCurrent(control);
  return control.startMission(ROBOT, "touchscreen", fromJson(MissionSchema, { cartMission }));
}

const navigate = (destinationId: string) => ({ navigateMission: { goal: { destinationId } } });

/**
 * The robot comes to the station. Its mission ends there, and it stands.
 * @returns the id of its mission
 */
export function sendToStation(control: Control): string {
  return start(control, navigate("Station A"));
}

/** Somebody sends the robot away from the station. */
export function sendAway(control: Control): void {
  start(control, navigate("Station B"));
}

/** The robot comes to the station, and leaves it by itself after some seconds. */
export function sendThroughStation(control: Control): void {
  const goals = ["Station A", "Station B"].map((destinationId) => ({ destinationId }));
  start(control, { traverseMission: { goals } });
}

/** What happened to the robot in a visit that may happen once only, or never. */
export interface Told {
  /** Starts of its conveyor, and commands to go on. */
  readonly conveyor: number;
  readonly goOn: number;
  /** How often it was sent on although somebody else had sent it away. */
  readonly elsewhere: number;
  /** The commands, with the seconds since the first one. */
  readonly commands: string;
}

const isOurs = ({ by }: { readonly by: string }) => by.startsWith("call:");

/** What the service has received since then, in the visit of this mission. */
export function toldSince(control: Control, seq: number, missionId: string): Told {
  const record = control.record(seq).filter(({ robotId }) => robotId === ROBOT);
  const received = record.flatMap(({ atMs, fact }) => (fact.what === "received" ? [{ atMs, ...fact }] : []));
  const isStart = ({ operation, request }: (typeof received)[number]) =>
    operation === "ControlConveyor" && /"(COMMAND_CONVEYOR_MOTOR_)?CC?W"/.test(JSON.stringify(request));
  const begun = record.flatMap(({ fact }) => (fact.what === "mission" && fact.from === "none" ? [fact] : []));
  const away = begun.findIndex((mission) => !isOurs(mission) && mission.missionId !== missionId);
  const beginMs = received[0]?.atMs ?? 0;
  return {
    conveyor: received.filter(isStart).length,
    goOn: received.filter(({ operation }) => operation === "CreateMission").length,
    elsewhere: away < 0 ? 0 : begun.slice(away).filter(isOurs).length,
    commands: received
      .map(
        (one) =>
          `${((one.atMs - beginMs) / 1_000).toFixed(1)} ${one.operation}${isStart(one) ? " (start)" : ""}`,
      )
      .join(", "),
  };
}
