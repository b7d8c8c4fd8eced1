import type { Operation, RequestField } from "../../northbound/web/api/operation.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FormObject, FormValue } from "./form.ts";
import { chainIdOf } from "./offers.ts";

/** The first values of the fields that name the robot, its mission or its chain. */
export function prefilled(fields: readonly RequestField[], value: FormObject, robot: Robot): FormObject {
  const filled = fields.flatMap((field): ReadonlyArray<readonly [string, FormValue]> => {
    const { json_name: name } = field;
    if (field.one_of !== null || field.list) return [];
    if (field.fields.length === 0) {
      const known = valueFor(field.name, robot);
      return known === null ? [] : [[name, known]];
    }
    const own = value[name];
    const inner = typeof own === "object" && !Array.isArray(own) ? (own as FormObject) : {};
    return [[name, prefilled(field.fields, inner, robot)]];
  });
  return { ...value, ...Object.fromEntries(filled) };
}

function valueFor(name: string, robot: Robot): string | null {
  switch (name) {
    case "robot_id":
      return robot.robot_id;
    case "amr_id":
      return robot.place === null ? null : `${robot.place.amr_id}`;
    case "mission_id":
      return robot.mission?.state?.current_mission?.mission_id ?? null;
    case "task_chain_id":
      return chainIdOf(robot.task_chain);
    default:
      return null;
  }
}

/** The robot that a request names by id, by number, or by its task chain; null: not known. */
export function robotNamed(
  fleet: Fleet,
  { robot_field: field }: Operation,
  request: Readonly<Record<string, unknown>>,
): Robot | null {
  const robots = [...fleet.robots.values()].map(({ robot }) => robot);
  const named = field === null ? request.taskChainId : at(request, field.path);
  if (named === undefined) return null;
  const isIt = ({ robot_id: id, place, task_chain: chain }: Robot) => {
    if (field === null) return chain?.state?.task_chain_state?.id === named;
    return field.by === "id" ? id === named : place?.amr_id === named && named !== 0;
  };
  return robots.find(isIt) ?? null;
}

function at(request: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  let found: unknown = request;
  for (const name of path)
    found = typeof found === "object" && found !== null ? Reflect.get(found, name) : undefined;
  return found;
}
