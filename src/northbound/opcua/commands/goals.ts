import type { Json } from "../../../platform/json.ts";
import type { Argument, MissionParameters } from "./slot-operation.ts";

/** The goals of a mission. */
export interface Goals {
  /** In proto3 JSON. */
  readonly list: readonly Json[];
  /** In words. */
  readonly texts: readonly string[];
}

interface Problem {
  readonly problem: string;
}

const MILLI = 1_000;

/** The goals that the parameters name. */
export function goalsOf(
  argument: Argument,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Goals | Problem {
  if (argument === "pose") return poseGoal(parameters.pose);
  const names = destinationsOf(argument === "goal", parameters, named);
  if ("problem" in names) return names;
  return { list: names.list.map((destinationId): Json => ({ destinationId })), texts: names.list };
}

function poseGoal(pose: readonly number[] | null): Goals | Problem {
  if (pose === null) return { problem: "Pose is missing: x and y in mm, heading in mrad" };
  const [xMeters = 0, yMeters = 0, headingRadians = 0] = pose.map((value) => value / MILLI);
  return {
    list: [{ pose: { xMeters, yMeters, headingRadians } }],
    texts: [`pose ${xMeters} ${yMeters} ${headingRadians}`],
  };
}

/** Destinations by name. */
type Destinations = { readonly list: readonly string[] } | Problem;

function destinationsOf(
  isOne: boolean,
  parameters: MissionParameters,
  named: ReadonlyMap<number, string>,
): Destinations {
  const { destination, destinationNos, destinations } = parameters;
  const used = destinations.slice(0, destinations.findLastIndex((name) => name !== "") + 1);
  const given = [
    ...(destination === "" ? [] : ["Destination"]),
    ...(destinationNos.length === 0 ? [] : ["DestinationNo"]),
    ...(used.length === 0 ? [] : ["Destinations"]),
  ];
  if (given.length > 1) {
    return { problem: `${given.join(" and ")} are both set: empty all but the one that is meant` };
  }
  if (destinationNos.length > 0) return numberedDestinations(destinationNos, named);
  if (destination !== "") return { list: [destination] };
  if (isOne || used.length === 0) {
    const other = isOne ? "" : ", and Destinations";
    return { problem: `Destination is missing, and DestinationNo${other} too: one of them says where to` };
  }
  const gap = used.indexOf("");
  if (gap !== -1) return { problem: `Destinations[${gap}] is empty, and a later one is not` };
  return { list: used };
}

function numberedDestinations(numbers: readonly number[], named: ReadonlyMap<number, string>): Destinations {
  const list: string[] = [];
  for (const number of numbers) {
    const destinationId = named.get(number);
    if (destinationId === undefined) return { problem: `opcua.destinations has no number ${number}` };
    list.push(destinationId);
  }
  return { list };
}
