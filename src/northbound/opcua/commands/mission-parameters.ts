import { type MissionParameters, missionParametersInUse } from "./mission-request.ts";
import {
  addNumberParameter,
  addTextListParameter,
  addTextParameter,
  type Parameter,
  type ParameterPlace,
} from "./parameter.ts";

/** How many destinations a mission sent through a slot may have. */
const LONGEST_ROUTE = 16;

/** The tags of a slot that say which mission. */
export interface MissionParameterTags {
  readonly all: readonly Parameter[];
  read(): MissionParameters;
  /** Those that count for the operation that is chosen, `Operation` itself among them. */
  inUse(): readonly Parameter[];
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
  const read = (): MissionParameters => ({
    operation: operation.value(),
    destination: destination.value(),
    destinationNos: destinationNo.value() === 0 ? [] : [destinationNo.value()],
    destinations: destinations.value(),
    targetMissionId: targetMissionId.value(),
  });
  const byName = { destination, destinationNos: destinationNo, destinations, targetMissionId };
  return {
    all: [operation, destination, destinationNo, destinations, targetMissionId],
    read,
    inUse: () => [operation, ...missionParametersInUse(read()).map((name) => byName[name])],
  };
}
