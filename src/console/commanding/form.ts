import type { Operation, RequestField } from "../../northbound/web/api/command.ts";
import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Fleet } from "../fleet/fleet.ts";
import { chainIdOf } from "./offers.ts";

/** The value of a field in a form: typed text, a box, the parts of a message, the items of a list. */
export type FormValue = string | boolean | FormObject | readonly FormValue[];
/** A message, by camelCase name. A chosen field of a group has a value; the others are absent. */
export interface FormObject {
  readonly [name: string]: FormValue;
}

/** One field, or a group of which at most one may be set. */
export type FieldGroup =
  | { readonly kind: "field"; readonly field: RequestField }
  | { readonly kind: "choice"; readonly name: string; readonly fields: readonly RequestField[] };

/** The fields in their order, groups at the position of their first field. */
export function groupsOf(fields: readonly RequestField[]): readonly FieldGroup[] {
  const seen = new Set<string>();
  return fields.flatMap((field): readonly FieldGroup[] => {
    const { one_of: name } = field;
    if (name === null) return [{ kind: "field", field }];
    if (seen.has(name)) return [];
    seen.add(name);
    return [{ kind: "choice", name, fields: fields.filter((each) => each.one_of === name) }];
  });
}

/** The chosen field of a group. */
export function chosenOf(fields: readonly RequestField[], value: FormObject): RequestField | null {
  return fields.find(({ json_name: name }) => value[name] !== undefined) ?? null;
}

/** The value with another chosen field of a group, or with none. */
export function withChoice(
  fields: readonly RequestField[],
  value: FormObject,
  name: string | null,
): FormObject {
  const rest = Object.entries(value).filter(([key]) => !fields.some((field) => field.json_name === key));
  const field = fields.find(({ json_name: own }) => own === name);
  const chosen = field === undefined ? [] : [[field.json_name, emptyOf(field)] as const];
  return Object.fromEntries([...rest, ...chosen]);
}

/** The value of a field before anything was typed. */
export function emptyOf(field: RequestField): FormValue {
  if (field.list) return [];
  if (field.type === "bool") return false;
  return isMessage(field) ? {} : "";
}

/** Whether a field has fields of its own. A message without fields is either given or not. */
export function isMessage({ type, values, fields }: RequestField): boolean {
  return fields.length > 0 || (values.length === 0 && /^[A-Z]/.test(type) && type !== "Struct");
}

/** Without types that no form can know, and messages without content. */
export function isShown(field: RequestField): boolean {
  const isEmpty = isMessage(field) && field.fields.length === 0 && field.one_of === null;
  return field.type !== "Any" && !isEmpty;
}

/** The request of a form: empty values are left out. */
export function requestOf(
  fields: readonly RequestField[],
  value: FormObject,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const found = value[field.json_name];
      const written = found === undefined ? undefined : fieldJson(field, found);
      return written === undefined ? [] : [[field.json_name, written]];
    }),
  );
}

function fieldJson(field: RequestField, value: FormValue): unknown {
  if (!field.list) return oneJson(field, value, field.one_of !== null);
  const items = Array.isArray(value) ? value : [];
  const written = items.map((item) => oneJson(field, item, true));
  return written.length === 0 ? undefined : written;
}

/** @param isGiven whether the field is present although it is empty */
function oneJson(field: RequestField, value: FormValue, isGiven: boolean): unknown {
  if (typeof value === "boolean") return value || isGiven ? value : undefined;
  if (typeof value === "string") return textJson(field, value.trim(), isGiven);
  const written = requestOf(field.fields, isObject(value) ? value : {});
  return isGiven || field.required || Object.keys(written).length > 0 ? written : undefined;
}

const integer = /^-?\d{1,10}$/;
const decimal = /^-?\d{1,15}(\.\d{1,15})?$/;

/** A number that cannot be read stays text: the gateway's answer then names its field. */
function textJson({ type, values }: RequestField, text: string, isGiven: boolean): unknown {
  if (text === "") return isGiven && type === "string" ? "" : undefined;
  if (values.length > 0 || type === "string") return text;
  if (type === "float" || type === "double") return decimal.test(text) ? Number(text) : text;
  if (type === "int32" || type === "uint32") return integer.test(text) ? Number(text) : text;
  return type === "map" || type === "Struct" ? parsed(text) : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A form filled with a request, such as an example of an operation. */
export function formOf(fields: readonly RequestField[], request: unknown): FormObject {
  if (!isObject(request)) return {};
  return Object.fromEntries(
    fields.flatMap((field) => {
      const found: unknown = request[field.json_name] ?? request[field.name];
      return found === undefined ? [] : [[field.json_name, formValueOf(field, found)]];
    }),
  );
}

function formValueOf(field: RequestField, value: unknown): FormValue {
  if (field.list && Array.isArray(value)) return value.map((item) => formItemOf(field, item));
  return formItemOf(field, value);
}

function formItemOf(field: RequestField, value: unknown): FormValue {
  if (typeof value === "boolean") return value;
  if (isMessage(field)) return formOf(field.fields, value);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** The problem that the gateway reports, and the path of the field that it names; an empty path: none. */
export interface FormProblem {
  readonly path: string;
  readonly text: string;
}

/** Reads `request.goals.0.destinationId: should be a text`. */
export function problemOf(message: string): FormProblem {
  const [, path, text] = /^request\.([\w.]+): (.+)$/s.exec(message) ?? [];
  return path === undefined || text === undefined ? { path: "", text: message } : { path, text };
}

function isObject(value: unknown): value is FormObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

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
