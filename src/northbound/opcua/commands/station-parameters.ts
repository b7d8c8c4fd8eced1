import { missing } from "./draft.ts";
import { isLoadCommand } from "./load-request.ts";
import { addMissionParameters } from "./mission-parameters.ts";
import { addNumberParameter, addTextParameter, type Parameter, type ParameterPlace } from "./parameter.ts";
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
  /** The parameters that `order` looks at. */
  inUse(sessionId: string): readonly Parameter[];
  /** Forgets what serves one ticket only. */
  served(sessionId: string): void;
  /** The robot that the nodes show; null when they show none. */
  shownRobot(): NamedRobot | null;
}

export function addStationParameters(place: ParameterPlace, findRobot: FindRobot): StationParameters {
  const robotName = addTextParameter(place, "Robot");
  const robotNo = addNumberParameter(place, "RobotNo", (value) => value >= 0);
  const mission = addMissionParameters(place, isStationOperation);
  const conveyorIndex = addNumberParameter(place, "ConveyorIndex", (value) => value >= 0);
  const motorCommand = addNumberParameter(place, "MotorCommand", isLoadCommand);

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
