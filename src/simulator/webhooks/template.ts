import type { DescMessage } from "@bufbuild/protobuf";
import { isJsonObject, type Json, type JsonObject } from "../../platform/json.ts";
import { Refusal } from "../refusal.ts";
import type { RobotUpdate } from "../service/contract.ts";
import { type FieldPath, findAt, resolvePath } from "./filter.ts";
import { leafJson } from "./scalar.ts";

/** Makes the body of a delivery. */
export type BodyTemplate = (event: RobotUpdate) => Json;

/** Makes the text for a placeholder. */
type Substitute = (event: RobotUpdate) => string;

const LONGEST_TEMPLATE = 65_536;

/** Reads a request template (docs/internals/service.md, WHK-19 to WHK-25). Throws INVALID_ARGUMENT. */
export function readTemplate(schema: DescMessage, template: JsonObject): BodyTemplate {
  const { length } = JSON.stringify(template);
  if (length > LONGEST_TEMPLATE) throw invalid(`${length} characters of JSON; at most ${LONGEST_TEMPLATE}`);
  return compile(schema, template);
}

function compile(schema: DescMessage, template: Json): BodyTemplate {
  if (typeof template === "string") return compileText(schema, template);
  if (Array.isArray(template)) {
    const elements = template.map((element: Json) => compile(schema, element));
    return (event) => elements.map((element) => element(event));
  }
  if (isJsonObject(template)) {
    const members = Object.entries(template).map(
      ([key, value]) => [compileText(schema, key), compile(schema, value)] as const,
    );
    return (event) => Object.fromEntries(members.map(([key, member]) => [key(event), member(event)]));
  }
  return () => template;
}

/** A text with its placeholders; the rest is kept. */
function compileText(schema: DescMessage, text: string): Substitute {
  // Pieces with an odd index were between braces.
  const pieces = text.split(/\{\{([^{}]*)\}\}/).map((piece, position): string | Substitute => {
    if (position % 2 === 1) return compilePlaceholder(schema, piece.trim());
    if (piece.includes("{{"))
      throw invalid(`${JSON.stringify(text.slice(0, 64))}: a placeholder is not closed`);
    return piece;
  });
  return (event) => pieces.map((piece) => (typeof piece === "string" ? piece : piece(event))).join("");
}

function compilePlaceholder(schema: DescMessage, name: string): Substitute {
  if (name === "robot_id") return ({ robotId }) => robotId;
  const path = resolvePath(schema, name);
  if (typeof path === "string") throw invalid(`{{${name.slice(0, 128)}}}: ${path}`);
  return ({ state }) => renderText(path, state);
}

/** An absent path renders as the empty string, and so does an unset member of a oneof. */
function renderText(path: FieldPath, state: object): string {
  const found = findAt(path, state);
  return found?.isSet === true ? String(leafJson(path.leaf, found.value)) : "";
}

function invalid(message: string): Refusal {
  return new Refusal("INVALID_ARGUMENT", `options.request_template: ${message}`);
}
