import { type StatusCode, StatusCodes } from "node-opcua";
import type { Stations } from "../../../contracts/stations.ts";
import type { Source } from "../../../domain/command.ts";
import { ending, type Outcome, refusal } from "../../../domain/outcome.ts";
import { unknownRobot } from "../../../domain/refusals.ts";
import type { RobotId } from "../../../domain/robot.ts";
import type { Folder, NodeBuilder } from "../node-builder.ts";
import type { Account } from "../security.ts";
import type { TagTimes } from "../tag.ts";
import { conveyorRequest, isConveyorStop, isMotorCommand } from "./conveyor-slot.ts";
import type { Draft } from "./draft.ts";
import { addMissionParameters } from "./mission-parameters.ts";
import {
  isMissionOperation,
  isMissionStop,
  type MissionRobot,
  missionRequest,
  mostDestinations,
  numberedMission,
} from "./mission-request.ts";
import { addNumberParameter, addTextParameter, type Parameter, parameterPlace } from "./parameter.ts";
import { roleRefusal } from "./role-refusal.ts";
import { createSlot, type Slot } from "./slot.ts";
import type { SlotParts } from "./slot-parts.ts";
import { addSlotTags } from "./slot-tags.ts";
import { strayNumber } from "./stray-number.ts";

/** What `Operation` may be besides those of a mission slot. */
const CONVEYOR = 40;
const ASK = 50;
const RELEASE = 51;
const OVERRIDE = 52;
const ownOperations: ReadonlySet<number> = new Set([CONVEYOR, ASK, RELEASE, OVERRIDE]);

/** What a station's slot needs besides what every slot does. */
export interface StationParts {
  readonly stations: Stations;
  /** The robot of this name or number; undefined when none has nodes. An empty name is none. */
  readonly findRobot: (name: string, number: number) => MissionRobot | undefined;
  readonly slots: SlotParts;
}

/** The slot of a station: one for whichever robot it names. */
export interface StationSlot extends Slot {
  /** Shows who holds the robot that is named now. */
  showHolder(): void;
}

/** The robot that a station names: undefined when none has nodes, `two` when its name and number differ. */
type Named = MissionRobot | undefined | "two";

/** What a command of a station is about. */
interface StationOrder {
  readonly operation: number;
  readonly robot: Named;
  /** As it was written; empty in an array. */
  readonly robotName: string;
  readonly conveyorIndex: number;
  readonly motorCommand: number;
  readonly mission: Parameters<typeof missionRequest>[0];
}

/** A name is told as at every other door; a number, and nothing at all, there is only here. */
function noRobot(name: string): Outcome {
  if (name !== "") return unknownRobot(name);
  return refusal("UNKNOWN_ROBOT", "Robot is empty, and RobotNo is the number of no robot that has nodes");
}

/** Adds `Slot` under the station's folder. */
export function addStationSlot(
  builder: NodeBuilder,
  station: Folder,
  stationName: string,
  { stations, findRobot, slots: parts }: StationParts,
): StationSlot {
  const folder = builder.folder(station, "Slot");
  const place = parameterPlace(builder, folder, parts.offersConfirm);
  const robotName = addTextParameter(place, "Robot");
  const robotNo = addNumberParameter(place, "RobotNo", (value) => value >= 0);
  const mission = addMissionParameters(place, isStationOperation);
  const conveyorIndex = addNumberParameter(place, "ConveyorIndex", (value) => value >= 0);
  const motorCommand = addNumberParameter(place, "MotorCommand", isMotorCommand);
  const heartbeat = addHeartbeat(builder, folder, (account) => stations.beat(stationName, sourceOf(account)));
  const tags = addSlotTags(builder, folder, parts);
  const held = builder.tag(folder, "Held", "Boolean");
  const holderStation = builder.tag(folder, "HolderStation", "String");
  const holderUser = builder.tag(folder, "HolderUser", "String");

  function draftOf(order: StationOrder): Draft {
    const { operation, robot } = order;
    if (robot === "two") return { problem: "Robot and RobotNo do not name the same robot: which is meant?" };
    if (robot === undefined) return { perform: () => noRobot(order.robotName) };
    if (operation === CONVEYOR)
      return conveyorRequest(robot.robotId, order.conveyorIndex, order.motorCommand);
    if (ownOperations.has(operation))
      return { perform: (account) => lease(operation, account, robot.robotId) };
    return missionRequest(order.mission, robot, parts.destinations);
  }

  /** A number that was left there by somebody else must not be outdone in silence: it may be what is meant. */
  function namedRobot(): Named {
    const [name, number] = [robotName.value(), robotNo.value()];
    const robot = findRobot(name, number);
    const isTwo = name !== "" && number !== 0 && robot?.robotId !== findRobot("", number)?.robotId;
    return isTwo ? "two" : robot;
  }

  function inUse(): readonly Parameter[] {
    const counts = robotName.value() === "" || robotNo.value() !== 0;
    const robot = counts ? [robotName, robotNo] : [robotName];
    const own = mission.read().operation === CONVEYOR ? [conveyorIndex, motorCommand] : [];
    return [...robot, ...mission.inUse(), ...own];
  }

  function lease(operation: number, account: Account, robotId: RobotId): Outcome {
    const source = sourceOf(account);
    const refused = changeLease(operation, account, source, robotId);
    showHolder();
    return refused ?? ending("succeeded", "OK", "", true);
  }

  function changeLease(
    operation: number,
    account: Account,
    source: Source,
    robotId: RobotId,
  ): Outcome | null {
    if (operation === ASK) return stations.ask(stationName, source, robotId);
    if (operation === RELEASE) return stations.release(stationName, source, robotId);
    if (account.role === "engineer") return stations.override(source, robotId);
    return roleRefusal(account, "an override", "engineer");
  }

  function showHolder(): void {
    const robot = namedRobot();
    const holder = robot === undefined || robot === "two" ? null : stations.holder(robot.robotId);
    const now = new Date(parts.clock.nowMs());
    const times: TagTimes = { source: now, server: now };
    held.set(holder?.station === stationName, StatusCodes.Good, times);
    holderStation.set(holder?.station ?? "", StatusCodes.Good, times);
    holderUser.set(holder?.owner.name ?? "", StatusCodes.Good, times);
  }

  const slot = createSlot(
    {
      path: folder.path,
      parameters: [robotName, robotNo, ...mission.all, conveyorIndex, motorCommand, heartbeat],
      tags,
      draft: () =>
        draftOf({
          operation: mission.read().operation,
          robot: namedRobot(),
          robotName: robotName.value(),
          conveyorIndex: conveyorIndex.value(),
          motorCommand: motorCommand.value(),
          mission: mission.read(),
        }),
      reads: inUse,
      draftOf: (numbers) => {
        const [operation = 0, number = 0, index = 0, motor = 0, ...destinations] = numbers;
        const isStop = operation === CONVEYOR ? isConveyorStop(motor) : isMissionStop(operation);
        const stray = isStop ? null : strayNumber(numbers, placesOf(operation));
        return (
          stray ??
          draftOf({
            operation,
            robot: findRobot("", number),
            robotName: "",
            conveyorIndex: index,
            motorCommand: motor,
            mission: numberedMission(operation, destinations),
          })
        );
      },
      follow() {},
    },
    parts,
  );
  showHolder();
  return { ...slot, showHolder };
}

/** The places of `Command` that an operation uses. */
function placesOf(operation: number): (place: number) => boolean {
  return (place) => {
    if (place <= 2) return true;
    if (place <= 4) return operation === CONVEYOR;
    return !ownOperations.has(operation) && place <= 4 + mostDestinations(operation);
  };
}

function isStationOperation(value: number): boolean {
  return isMissionOperation(value) || ownOperations.has(value);
}

function sourceOf(account: Account): Source {
  return { door: "opcua", name: account.name };
}

/** A number that the PLC changes as long as it lives. The same one again is no sign of life: a driver repeats it for ever. */
function addHeartbeat(builder: NodeBuilder, folder: Folder, beat: (account: Account) => void): Parameter {
  const place = { builder, folder, latched: null };
  const number = addNumberParameter(place, "Heartbeat", () => true);
  return {
    path: number.path,
    echo() {},
    isFree: true,
    write(variant, range, account): StatusCode {
      const before = number.value();
      const status = number.write(variant, range, account);
      if (status === StatusCodes.Good && number.value() !== before) beat(account);
      return status;
    },
  };
}
