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
import { type Draft, missing } from "./draft.ts";
import { addMissionParameters } from "./mission-parameters.ts";
import {
  isMissionOperation,
  isMissionStop,
  type MissionParameters,
  type MissionRobot,
  missionOfFields,
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
import type { Writer } from "./writer.ts";
import { wholeNumber } from "./written-ticket.ts";

/** What `Operation` may be besides those of a mission slot. */
const CONVEYOR = 40;
const ASK = 50;
const RELEASE = 51;
const OVERRIDE = 52;
const leaseTexts: ReadonlyMap<number, string> = new Map([
  [ASK, "take the lease"],
  [RELEASE, "release the lease"],
  [OVERRIDE, "end another's lease"],
]);
const ownOperations: ReadonlySet<number> = new Set([CONVEYOR, ...leaseTexts.keys()]);

/** What a station's slot needs besides what every slot does. */
export interface StationParts {
  readonly stations: Stations;
  /** The robot of this name or number; undefined when none has nodes. An empty name is none. */
  readonly findRobot: (name: string, number: number) => MissionRobot | undefined;
  readonly slots: SlotParts;
}

/** The slot of a station: one for whichever robot it names. */
export interface StationSlot extends Slot {
  /** Shows the lease of the robot that is named now. */
  showLease(): void;
}

/** The robot that a station names: undefined when none has nodes, `two` when its name and number differ. */
type Named = MissionRobot | undefined | "two";

/** What a command of a station is about. */
interface StationOrder {
  readonly robot: Named;
  /** As it was written; empty in an array. */
  readonly robotName: string;
  readonly conveyorIndex: number | undefined;
  readonly motorCommand: number | undefined;
  readonly mission: MissionParameters;
}

/** A name is told as every protocol tells it; a number, and nothing at all, there is only here. */
function noRobot(name: string): Outcome {
  if (name !== "") return unknownRobot(name);
  return refusal("UNKNOWN_ROBOT", "Robot is missing, and RobotNo is the number of no robot that has nodes");
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
  const leased = builder.tag(folder, "Leased", "Boolean");
  const leaseStation = builder.tag(folder, "LeaseStation", "String");
  const leaseUser = builder.tag(folder, "LeaseUser", "String");

  /** The robot of the last ticket: a client that writes whole commands leaves `Robot` empty. */
  let lastOrdered: MissionRobot | undefined;

  function draftOf(order: StationOrder): Draft {
    const { robot, mission: asked } = order;
    const { operation } = asked;
    if (robot === "two") return { problem: "Robot and RobotNo do not name the same robot: which is meant?" };
    if (robot === undefined) return { text: "no robot", perform: () => noRobot(order.robotName) };
    lastOrdered = robot;
    const leaseText = leaseTexts.get(operation);
    if (leaseText !== undefined) {
      const text = `${robot.robotId}: ${leaseText}`;
      return { text, perform: (account) => lease(operation, account, robot.robotId) };
    }
    const draft =
      operation === CONVEYOR
        ? conveyorRequest(robot.robotId, order.conveyorIndex, order.motorCommand)
        : missionRequest(asked, robot, parts.destinations);
    return "text" in draft ? { ...draft, text: `${robot.robotId}: ${draft.text}` } : draft;
  }

  /** The robot of both parameters: which is meant cannot be told when they differ. */
  function namedRobot(name: string, number: number): Named {
    const robot = findRobot(name, number);
    const isTwo = name !== "" && number !== 0 && robot?.robotId !== findRobot("", number)?.robotId;
    return isTwo ? "two" : robot;
  }

  function draftOfParameters(sessionId: string): Draft {
    const [name, number] = [robotName.value(sessionId) ?? "", robotNo.value(sessionId) ?? 0];
    if (name === "" && number === 0) return missing("Robot (or RobotNo)");
    const asked = mission.read(sessionId);
    if ("problem" in asked) return asked;
    return draftOf({
      robot: namedRobot(name, number),
      robotName: name,
      conveyorIndex: conveyorIndex.value(sessionId),
      motorCommand: motorCommand.value(sessionId),
      mission: asked,
    });
  }

  function inUse(sessionId: string): readonly Parameter[] {
    const operation = mission.operation.value(sessionId);
    const own = operation === CONVEYOR ? [conveyorIndex, motorCommand] : [];
    const isNamed = robotName.value(sessionId) !== undefined && robotNo.value(sessionId) === undefined;
    return [robotName, ...(isNamed ? [] : [robotNo]), ...mission.inUse(sessionId), ...own];
  }

  /** `Command`: see `placesOf`. */
  function numberedDraft(numbers: readonly number[]): Draft {
    const [operation = 0, number = 0, index = 0, motor = 0, ...destinations] = numbers;
    const isStop = operation === CONVEYOR ? isConveyorStop(motor) : isMissionStop(operation);
    const stray = isStop ? null : strayNumber(numbers, placesOf(operation));
    const asked = {
      robot: findRobot("", number),
      robotName: "",
      conveyorIndex: index,
      motorCommand: motor,
      mission: numberedMission(operation, destinations),
    };
    return stray ?? draftOf(asked);
  }

  /** `CommandText`: `ticket;operation;robot;destination`, or `ticket;40;robot;conveyor;motor command`. */
  function textDraft([first = "", name = "", ...rest]: readonly string[]): Draft {
    const operation = wholeNumber(first) ?? 0;
    const isOwn = ownOperations.has(operation);
    const [index, motor] = rest.map((field) => wholeNumber(field) ?? undefined);
    const isStop = operation === CONVEYOR && motor !== undefined && isConveyorStop(motor);
    if (isOwn && !isStop && rest.length !== (operation === CONVEYOR ? 2 : 0)) {
      return {
        problem: `CommandText has ${rest.length} fields behind the robot, which is not right for ${first}`,
      };
    }
    const asked = isOwn ? numberedMission(operation, []) : missionOfFields([first, ...rest]);
    if ("problem" in asked) return { problem: `${asked.problem}, with the robot before the destination` };
    return draftOf({
      robot: findRobot(name, 0),
      robotName: name,
      conveyorIndex: index,
      motorCommand: motor,
      mission: asked,
    });
  }

  function lease(operation: number, account: Account, robotId: RobotId): Outcome {
    const source = sourceOf(account);
    const refused = changeLease(operation, account, source, robotId);
    showLease();
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

  function showLease(): void {
    const [name, number] = [robotName.shown(), robotNo.shown()];
    const robot = name === "" && number === 0 ? lastOrdered : namedRobot(name, number);
    const shown = robot === undefined || robot === "two" ? null : stations.leaseOf(robot.robotId);
    const now = new Date(parts.clock.nowMs());
    const times: TagTimes = { source: now, server: now };
    leased.set(shown?.station === stationName, StatusCodes.Good, times);
    leaseStation.set(shown?.station ?? "", StatusCodes.Good, times);
    leaseUser.set(shown?.owner.name ?? "", StatusCodes.Good, times);
  }

  const slot = createSlot(
    {
      path: folder.path,
      parameters: [robotName, robotNo, ...mission.all, conveyorIndex, motorCommand, heartbeat],
      tags,
      refusedWriter: (account) => parts.rights.refusedStation(sourceOf(account), stationName),
      draft: draftOfParameters,
      reads: inUse,
      draftOfNumbers: numberedDraft,
      draftOfFields: textDraft,
      served: mission.served,
      follow() {},
    },
    parts,
  );
  showLease();
  return { ...slot, showLease };
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
  const number = addNumberParameter({ builder, folder, latched: null }, "Heartbeat", () => true);
  return {
    path: number.path,
    echo() {},
    forget: number.forget,
    isFree: true,
    write(variant, range, writer: Writer): StatusCode {
      const before = number.value(writer.sessionId);
      const status = number.write(variant, range, writer);
      if (status === StatusCodes.Good && number.value(writer.sessionId) !== before) beat(writer.account);
      return status;
    },
  };
}
