import { missing } from "./draft.ts";
import { isLoadCommand } from "./load-request.ts";
import { addMissionParameters } from "./mission-parameters.ts";
import { addParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
import { anyNumber, anyText, numberKind } from "./parameter-kind.ts";
import {
  type FindRobot,
  isStationOperation,
  type NamedRobot,
  namedRobot,
  type StationOrder,
  stationOperations,
} from "./station-order.ts";

/** The parameters of a station slot: those of a mission slot, the robot, and those of its conveyors. */
export interface StationParameters {
  readonly all: readonly Parameter[];
  /** The order that a session has written, or what is wrong with it. */
  order(sessionId: string): StationOrder | { readonly problem: string };
  /** The parameters that `order` reads. */
  inUse(sessionId: string): readonly Parameter[];
  /** Drops the values that serve one ticket only. */
  served(sessionId: string): void;
  /** The robot that the nodes show; null: none. */
  shownRobot(): NamedRobot | null;
}

const operations = numberKind(isStationOperation);
const motorCommands = numberKind(isLoadCommand);

export function addStationParameters(place: ParameterPlace, findRobot: FindRobot): StationParameters {
  const robotName = addParameter(place, "Robot", anyText);
  const robotNo = addParameter(place, "RobotNo", anyNumber);
  const mission = addMissionParameters(place, operations);
  const conveyorIndex = addParameter(place, "ConveyorIndex", anyNumber);
  const motorCommand = addParameter(place, "MotorCommand", motorCommands);

  return {
    all: [robotName, robotNo, ...mission.all, conveyorIndex, motorCommand],
    order(sessionId) {
      const [name, number] = [robotName.value(sessionId) ?? "", robotNo.value(sessionId) ?? 0];
      if (name === "" && number === 0) return missing("Robot (or RobotNo)");
      const asked = mission.read(sessionId);
      if ("problem" in asked) return asked;
      return {
        robot: namedRobot(findRobot, name, number),
        robotName: name,
        conveyorIndex: conveyorIndex.value(sessionId),
        motorCommand: motorCommand.value(sessionId),
        mission: asked,
      };
    },
    inUse(sessionId) {
      const isConveyor = mission.operation.value(sessionId) === stationOperations.conveyor;
      const isNamed = robotName.value(sessionId) !== undefined && robotNo.value(sessionId) === undefined;
      return [
        robotName,
        ...(isNamed ? [] : [robotNo]),
        ...mission.inUse(sessionId),
        ...(isConveyor ? [conveyorIndex, motorCommand] : []),
      ];
    },
    served: mission.served,
    shownRobot() {
      const [name, number] = [robotName.shown(), robotNo.shown()];
      return name === "" && number === 0 ? null : namedRobot(findRobot, name, number);
    },
  };
}
