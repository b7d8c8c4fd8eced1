import { displayName } from "../world/map.ts";
import type { ScenarioFile } from "./schema.ts";

/**
 * Problems that a schema cannot find: names that do not exist, names used twice, owners that do not match.
 * One line for each, with its path; empty: there are none.
 */
export function findProblems(file: ScenarioFile): string[] {
  return [
    ...duplicates(file),
    ...owners(file),
    ...mapProblems(file),
    ...robotProblems(file),
    ...robotsOfIncidents(file),
  ];
}

function duplicates(file: ScenarioFile): string[] {
  return [
    ...twice("distributors", file.distributors, ({ id }) => id),
    ...twice(
      "distributors.apiKeys",
      file.distributors.flatMap(({ apiKeys }) => apiKeys),
      ({ apiKey }) => apiKey,
    ),
    ...twice("locations", file.locations, ({ id }) => id),
    ...twice("maps", file.maps, ({ id }) => String(id)),
    ...twice("robots", file.robots, ({ id }) => id),
    ...twice("robots (amrId)", file.robots, ({ amrId }) => String(amrId)),
  ];
}

function twice<T>(path: string, list: readonly T[], nameOf: (item: T) => string): string[] {
  const seen = new Set<string>();
  return list.flatMap((item) => {
    const name = nameOf(item);
    if (seen.has(name)) return [`${path}: ${name} is there twice`];
    seen.add(name);
    return [];
  });
}

function owners(file: ScenarioFile): string[] {
  const known = new Set(file.distributors.map(({ id }) => id));
  const check = (path: string, distributor: string) =>
    known.has(distributor) ? [] : [`${path}.distributor: there is no distributor ${distributor}`];
  return [
    ...file.locations.flatMap(({ distributor }, at) => check(`locations.${at}`, distributor)),
    ...file.maps.flatMap(({ distributor }, at) => check(`maps.${at}`, distributor)),
  ];
}

function mapProblems(file: ScenarioFile): string[] {
  return file.maps.flatMap((map, at) => {
    const path = `maps.${at}`;
    const codes = new Set(map.vertices.map(({ code }) => code));
    return [
      ...twice(`${path}.vertices (id)`, map.vertices, ({ id }) => String(id)),
      ...twice(`${path}.vertices (code)`, map.vertices, ({ code }) => code),
      ...twice(`${path}.vertices (display name)`, map.vertices, displayName),
      ...map.edges.flatMap((edge, edgeAt) =>
        edge
          .filter((code) => !codes.has(code))
          .map((code) => `${path}.edges.${edgeAt}: there is no vertex ${code}`),
      ),
    ];
  });
}

function robotProblems(file: ScenarioFile): string[] {
  const maps = new Map(file.maps.map((map) => [map.id, map]));
  const locations = new Map(file.locations.map((location) => [location.id, location.distributor]));
  return file.robots.flatMap((robot, at) => {
    const path = `robots.${at} (${robot.id})`;
    const problems: string[] = [];
    const map = maps.get(robot.map);
    const distributor = locations.get(robot.location);
    if (distributor === undefined) problems.push(`${path}.location: there is no location ${robot.location}`);
    if (map === undefined) return [...problems, `${path}.map: there is no map ${robot.map}`];
    if (distributor !== undefined && distributor !== map.distributor) {
      problems.push(`${path}.map: map ${map.id} belongs to ${map.distributor}, the robot to ${distributor}`);
    }
    if (!map.vertices.some(({ code }) => code === robot.home)) {
      problems.push(`${path}.home: map ${map.id} has no vertex ${robot.home}`);
    }
    const dock = map.vertices.find(({ code }) => code === robot.dock);
    if (robot.dock !== undefined && dock?.kind !== "charger") {
      problems.push(`${path}.dock: map ${map.id} has no charger ${robot.dock}`);
    }
    return problems;
  });
}

function robotsOfIncidents(file: ScenarioFile): string[] {
  const known = new Set(file.robots.map(({ id }) => id));
  const check = (path: string, robotId: string | undefined) =>
    robotId === undefined || known.has(robotId) ? [] : [`${path}.robotId: there is no robot ${robotId}`];
  return [
    ...file.incidents.flatMap(({ incident }, at) => check(`incidents.${at}.incident`, incident.robotId)),
    ...file.faults.flatMap(({ fault }, at) =>
      "robotId" in fault ? check(`faults.${at}.fault`, fault.robotId) : [],
    ),
  ];
}
