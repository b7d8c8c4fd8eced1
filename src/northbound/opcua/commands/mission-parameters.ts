import { missing } from "./draft.ts";
import { type MissionParameters, missionParametersInUse } from "./mission-request.ts";
import {
  addNumberParameter,
  addTextListParameter,
  addTextParameter,
  type NumberParameter,
  type Parameter,
  type ParameterPlace,
} from "./parameter.ts";

/** How many destinations a mission sent through a slot may have. */
const LONGEST_ROUTE = 16;

/** The tags of a slot that say which mission. */
export interface MissionParameterTags {
  readonly all: readonly Parameter[];
  readonly operation: NumberParameter;
  /** What a session has written; the problem when it has not said which operation. */
  read(sessionId: string): MissionParameters | { readonly problem: string };
  /** Those that count for the operation that the session has chosen, `Operation` itself among them. */
  inUse(sessionId: string): readonly Parameter[];
  /** What serves one ticket only is forgotten: `TargetMissionId`. */
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
  const byName = { destination, destinationNos: destinationNo, destinations, targetMissionId };
  return {
    all: [operation, destination, destinationNo, destinations, targetMissionId],
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
      };
    },
    inUse(sessionId) {
      const names = missionParametersInUse(operation.value(sessionId) ?? 0);
      return [operation, ...names.map((name) => byName[name])];
    },
    served: (sessionId) => targetMissionId.forget(sessionId),
  };
}
