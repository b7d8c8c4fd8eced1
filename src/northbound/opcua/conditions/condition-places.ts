import { type AddressSpace, NodeId, NodeIdType, type UAObject } from "node-opcua";
import type { ActiveAlarms } from "../../../contracts/alarms.ts";
import { type AlarmSource, isAlarmCode } from "../../../domain/alarm.ts";
import type { RobotId } from "../../../domain/robot.ts";
import { FLEET_NAMESPACE_INDEX } from "../fleet-nodeset.ts";
import { nodeName, robotIdOf } from "../robot-register.ts";
import { type ConditionState, conditionName } from "./condition-state.ts";

/** Where a condition is in the address space. */
export interface ConditionPlace {
  /** No node has it: clients know it from the events, and call methods with it. */
  readonly conditionId: NodeId;
  /** The robot, the station or the gateway. */
  readonly source: UAObject;
  readonly sourceName: string;
  readonly isOutOfService: boolean;
}

export interface ConditionPlaces {
  of(condition: Pick<ConditionState, "name" | "source">): ConditionPlace;
  /** Whether it can be the ConditionId of an alarm. */
  isConditionId(nodeId: NodeId): boolean;
  isNode(nodeId: NodeId): boolean;
  /** The robot of the condition with this ConditionId; null: it is none of a robot. */
  robotOf(conditionId: NodeId): RobotId | null;
}

const GATEWAY = "Gateway";
/** The object, the folder of its alarms, and the ConditionName; of a robot without nodes its name too. */
const conditionPath = /^(Gateway|(?:Robots|Stations)\.[^.]+)\.Alarms\.([A-Z][A-Z_0-9-]*)(?:\.([^.]+))?$/;

/** Robots by their nodes. */
export interface RobotNodes {
  /** The name of a robot that has nodes. */
  readonly nameOf: (robotId: RobotId) => string | undefined;
  /** The robot of the nodes below a path. */
  readonly robotAt: (path: string) => RobotId | undefined;
}

export function createConditionPlaces(
  addressSpace: AddressSpace,
  { nameOf, robotAt }: RobotNodes,
  { shown }: ActiveAlarms,
): ConditionPlaces {
  const idOf = (path: string) => new NodeId(NodeIdType.STRING, path, FLEET_NAMESPACE_INDEX);
  const objectAt = (path: string) => addressSpace.findNode(idOf(path)) as UAObject | null;

  function pathOf(source: AlarmSource): string {
    if (source.kind === "station") return `Stations.${nodeName(source.station)}`;
    const name = source.kind === "robot" ? nameOf(source.robotId) : undefined;
    return name === undefined ? GATEWAY : `Robots.${name}`;
  }

  return {
    of({ name, source }) {
      const path = pathOf(source);
      const object = objectAt(path) ?? objectAt(GATEWAY);
      if (object === null) throw new Error("the address space has no Gateway");
      const isElsewhere = source.kind === "robot" && path === GATEWAY;
      const suffix = isElsewhere ? `.${nodeName(source.robotId)}` : "";
      return {
        conditionId: idOf(`${path}.Alarms.${name}${suffix}`),
        source: object,
        sourceName: isElsewhere ? source.robotId : (object.browseName.name ?? path),
        isOutOfService: shown(source).isOutOfService,
      };
    },
    isNode: (nodeId) => addressSpace.findNode(nodeId) !== null,
    robotOf({ value }) {
      const [, path = "", , robot] = conditionPath.exec(String(value)) ?? [];
      return robotAt(path) ?? (robot === undefined ? null : robotIdOf(robot));
    },
    isConditionId({ namespace, value }) {
      if (namespace !== FLEET_NAMESPACE_INDEX || typeof value !== "string") return false;
      const [, path, name] = conditionPath.exec(value) ?? [];
      if (path === undefined || name === undefined) return false;
      const isName = isAlarmCode(name) ? conditionName(name) === name : name === "BATTERY";
      return isName && objectAt(path) !== null;
    },
  };
}
