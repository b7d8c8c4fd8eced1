import type { RobotSelector } from "../../wire/fleet/v1/common_pb.js";
import { invalid, Refusal } from "../refusal.ts";
import type { Chain } from "../world/chain.ts";
import type { FleetMap } from "../world/map.ts";
import type { Robot } from "../world/robot.ts";
import type { World } from "../world/world.ts";
import type { Caller } from "./contract.ts";

/** All names of robots and locations in a scenario match this, and longer ones. */
const ID = /^[\x21-\x7e]{1,256}$/;
const LONGEST_SELECTOR = 100_000;

/**
 * Checks who owns what a request names (docs/internals/service.md, ERR-48 to ERR-50): an unknown
 * name is NOT_FOUND, another distributor's PERMISSION_DENIED, and in a selector both
 * are PERMISSION_DENIED. Every function throws a Refusal.
 */
export interface Ownership {
  robot(caller: Caller, robotId: string): Robot;
  robotByAmrId(caller: Caller, amrId: number): Robot;
  map(caller: Caller, mapId: number): FleetMap;
  chain(caller: Caller, chainId: number): Chain;
  /** The robots of a stream's selector, each once. */
  selected(caller: Caller, selector: RobotSelector | undefined): readonly Robot[];
  /** Checks the robots of a selector: a list that is not empty, all the caller's. */
  checkRobots(caller: Caller, robotIds: readonly string[]): readonly Robot[];
  /** Checks the locations of a selector: a list that is not empty, all the caller's. */
  checkLocations(caller: Caller, locationIds: readonly string[]): void;
  /** The location of a robot; undefined: there is no such robot. */
  locationOf(robotId: string): string | undefined;
  /** Every robot of a distributor. */
  robotsOf(caller: Caller): readonly Robot[];
}

/** The ownership rules of a world. */
export function createOwnership(world: World): Ownership {
  const robots = [...world.robots.values()];

  const checkRobots: Ownership["checkRobots"] = (caller, robotIds) => {
    checkList("robot_ids", robotIds);
    return [...new Set(robotIds)].map((robotId) => {
      const robot = world.robots.get(robotId);
      if (robot?.distributor === caller.distributor) return robot;
      throw new Refusal("PERMISSION_DENIED", `robot ${robotId} is not one of ${caller.distributor}`);
    });
  };

  const checkLocations: Ownership["checkLocations"] = (caller, locationIds) => {
    checkList("location_ids", locationIds);
    const foreign = locationIds.find((id) => world.locations.get(id) !== caller.distributor);
    if (foreign === undefined) return;
    throw new Refusal("PERMISSION_DENIED", `location ${foreign} is not one of ${caller.distributor}`);
  };

  return {
    robot(caller, robotId) {
      checkId("robot_id", robotId);
      return owned(caller, world.robots.get(robotId), `robot ${robotId}`);
    },
    robotByAmrId(caller, amrId) {
      checkNumber("amr_id", amrId);
      return owned(caller, world.robotsByAmrId.get(amrId), `robot ${amrId}`);
    },
    map(caller, mapId) {
      checkNumber("map_id", mapId);
      return owned(caller, world.maps.get(mapId), `map ${mapId}`);
    },
    chain(caller, chainId) {
      checkNumber("task_chain_id", chainId);
      return owned(caller, world.chains.get(chainId), `task chain ${chainId}`);
    },
    selected(caller, selector) {
      const target = selector?.targetId;
      if (target?.case === "robotIds") return checkRobots(caller, target.value.ids);
      if (target?.case !== "locationId") {
        throw invalid("selector: one of robot_ids and location_id is required");
      }
      checkLocations(caller, [target.value]);
      return robots.filter((robot) => robot.location === target.value);
    },
    checkRobots,
    checkLocations,
    locationOf: (robotId) => world.robots.get(robotId)?.location,
    robotsOf: (caller) => robots.filter((robot) => robot.distributor === caller.distributor),
  };
}

function owned<T extends { readonly distributor: string }>(
  caller: Caller,
  thing: T | undefined,
  name: string,
): T {
  if (thing === undefined) throw new Refusal("NOT_FOUND", `${name} does not exist`);
  if (thing.distributor !== caller.distributor) {
    throw new Refusal("PERMISSION_DENIED", `${name} is not one of ${caller.distributor}`);
  }
  return thing;
}

function checkList(field: string, ids: readonly string[]): void {
  if (ids.length === 0) throw invalid(`${field}: at least one id is required`);
  if (ids.length > LONGEST_SELECTOR) {
    throw invalid(`${field}: more than ${LONGEST_SELECTOR} ids`);
  }
  for (const id of ids) checkId(field, id);
}

function checkId(field: string, id: string): void {
  if (id === "") throw invalid(`${field} is empty`);
  if (ID.test(id)) return;
  const shown = JSON.stringify(id.slice(0, 64));
  throw invalid(`${field}: ${shown} is not 1 to 256 printable ASCII characters`);
}

function checkNumber(field: string, value: number): void {
  if (value < 1) throw invalid(`${field}: ${value} is not a positive number`);
}
