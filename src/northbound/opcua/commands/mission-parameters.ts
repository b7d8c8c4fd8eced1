import { LONGEST_ROUTE, POSE_LENGTH } from "../model/slot.ts";
import { missing } from "./draft.ts";
import { missionParametersInUse } from "./mission-request.ts";
import {
  addNumberListParameter,
  addNumberParameter,
  addTextListParameter,
  addTextParameter,
  type NumberParameter,
  type Parameter,
  type ParameterPlace,
} from "./parameter.ts";
import type { MissionParameters } from "./slot-operation.ts";

/** The tags of a slot that say which mission. */
export interface MissionParameterTags {
  readonly all: readonly Parameter[];
  readonly operation: NumberParameter;
  /** What a session has written; the problem when it has not said which operation. */
  read(sessionId: string): MissionParameters | { readonly problem: string };
  /** Those that count for the operation that the session has chosen, `Operation` itself among them. */
  inUse(sessionId: string): readonly Parameter[];
  /** What serves one ticket only is forgotten: `TargetMissionId` and `TargetTaskChainId`. */
  served(sessionId: string): void;
}

/** Adds them; `isOperation` says which values `Operation` may have. */
export function addMissionParameters(
  place: ParameterPlace,
  isOperation: (value: number) => boolean,
): MissionParameterTags {
  const operation = addNumberParameter(place, "Operation", isOperation);
  const destination = addTextParameter(place, "Destination");
  const destinationNo = addNumberParameter(place, "DestinationNo", (value) => value >= 0);
  const destinations = addTextListParameter(place, "Destinations", LONGEST_ROUTE);
  const targetMissionId = addTextParameter(place, "TargetMissionId");
  const targetTaskChainId = addNumberParameter(place, "TargetTaskChainId", (value) => value >= 0);
  const pose = addNumberListParameter(place, "Pose", POSE_LENGTH);
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
