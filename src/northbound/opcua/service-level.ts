import { type AddressSpace, DataType, StatusCodes, type UAVariable, VariableIds } from "node-opcua";
import { Tag, timesAt } from "./node-opcua/tag.ts";

/**
 * The values of Server.ServiceLevel (OPC UA part 4, 6.6.2.4.2): a client of several servers takes the one
 * with the highest.
 */
const serviceLevels = {
  /** The fleet service is not reached: no values of robots come. */
  noData: 1,
  /** The values of at least one robot are not good. */
  degraded: 100,
  healthy: 255,
} as const;

/** Shows the present level. */
export type ShowServiceLevel = (nowMs: number, isFleetReached: boolean, robotsNotGood: number) => void;

/** Replaces node-opcua's variable, which is always 255. */
export function openServiceLevel(addressSpace: AddressSpace): ShowServiceLevel {
  const variable = addressSpace.findNode(`ns=0;i=${VariableIds.Server_ServiceLevel}`) as UAVariable;
  variable.bindVariable({}, true);
  // It changes by events, like our own variables: a client may have it without a sampling clock.
  variable.minimumSamplingInterval = 0;
  const tag = new Tag(variable, DataType.Byte, false);
  return (nowMs, isFleetReached, robotsNotGood) => {
    const { noData, degraded, healthy } = serviceLevels;
    const reached = robotsNotGood === 0 ? healthy : degraded;
    tag.set(isFleetReached ? reached : noData, StatusCodes.Good, timesAt(nowMs));
  };
}
