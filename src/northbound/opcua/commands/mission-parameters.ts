import { LONGEST_ROUTE, POSE_LENGTH } from "../model/slot.ts";
import { missing } from "./draft.ts";
import { missionParametersInUse } from "./mission-request.ts";
import { addParameter, type Parameter, type ParameterPlace, type ValueParameter } from "./parameter.ts";
import { anyNumber, anyText, numberListKind, type ParameterKind, textListKind } from "./parameter-kind.ts";
import type { MissionParameters } from "./slot-operation.ts";

/** The tags of a slot that say which mission. */
export interface MissionParameterTags {
  readonly all: readonly Parameter[];
  readonly operation: ValueParameter<number>;
  /** What a session has written; the problem when it has not said which operation. */
  read(sessionId: string): MissionParameters | { readonly problem: string };
  /** Those that count for the operation that the session has chosen, `Operation` itself among them. */
  inUse(sessionId: string): readonly Parameter[];
  /** What serves one ticket only is forgotten: `TargetMissionId` and `TargetTaskChainId`. */
  served(sessionId: string): void;
}

const route = textListKind(LONGEST_ROUTE);
const poses = numberListKind(POSE_LENGTH);

/** Adds them; `operations` is what `Operation` may be. */
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
