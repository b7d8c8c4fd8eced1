import { LONGEST_ROUTE, POSE_LENGTH } from "../model/slot.ts";
import { missionParametersInUse } from "./mission-request.ts";
import { addParameter, type Parameter, type ParameterPlace, type ValueParameter } from "./parameter.ts";
import { anyNumber, anyText, numberListKind, type ParameterKind, textListKind } from "./parameter-kind.ts";
import { missing } from "./slot-command.ts";
import type { MissionParameters } from "./slot-operation.ts";

/** The tags of a slot that describe a mission. */
export interface MissionParameterTags {
  readonly all: readonly Parameter[];
  readonly operation: ValueParameter<number>;
  /** The values of a session; a problem if it has not written the operation. */
  read(sessionId: string): MissionParameters | { readonly problem: string };
  /** The parameters that count for the session's operation, including `Operation` itself. */
  inUse(sessionId: string): readonly Parameter[];
  /** Drops the values that serve one ticket only: `TargetMissionId` and `TargetTaskChainId`. */
  served(sessionId: string): void;
}

const route = textListKind(LONGEST_ROUTE);
const poses = numberListKind(POSE_LENGTH);

/** Adds the tags; `operations` are the allowed values of `Operation`. */
export function addMissionParameters(
  place: ParameterPlace,
  operations: ParameterKind<number>,
): MissionParameterTags {
  const operation = addParameter(place, "Operation", operations);
  const destination = addParameter(place, "Destination", anyText);
  const destinationNo = addParameter(place, "DestinationNo", anyNumber);
  const destinations = addParameter(place, "Destinations", route);
  const targetMissionId = addParameter(place, "TargetMissionId", anyText);
  const targetTaskChainId = addParameter(place, "TargetTaskChainId", anyNumber);
  const pose = addParameter(place, "Pose", poses);
  const byName = {
    destination,
    destinationNos: destinationNo,
    destinations,
    targetMissionId,
    targetTaskChainId,
    pose,
  };
  return {
    all: [operation, destination, destinationNo, destinations, targetMissionId, targetTaskChainId, pose],
    operation,
    read(sessionId) {
      const chosen = operation.value(sessionId);
      if (chosen === undefined) return missing("Operation");
      const number = destinationNo.value(sessionId) ?? 0;
      return {
        operation: chosen,
        destination: destination.value(sessionId) ?? "",
        destinationNos: number === 0 ? [] : [number],
        destinations: destinations.value(sessionId) ?? [],
        targetMissionId: targetMissionId.value(sessionId) ?? "",
        targetTaskChainId: targetTaskChainId.value(sessionId) ?? 0,
        pose: pose.value(sessionId) ?? null,
      };
    },
    inUse(sessionId) {
      const names = missionParametersInUse(operation.value(sessionId) ?? 0);
      return [operation, ...names.map((name) => byName[name])];
    },
    served(sessionId) {
      targetMissionId.forget(sessionId);
      targetTaskChainId.forget(sessionId);
    },
  };
}
