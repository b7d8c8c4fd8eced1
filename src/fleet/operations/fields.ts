import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { DescribedOperation, RequestField } from "../../contracts/operation-manual.ts";

/**
 * The fields of a request, from its descriptor; `required` names those without which the request has no
 * meaning.
 */
export function requestFields(desc: DescMessage, required: readonly string[]): readonly RequestField[] {
  return desc.fields.map((field) => ({ ...describe(field), isRequired: required.includes(field.name) }));
}

function describe(field: DescField): RequestField {
  const message = field.fieldKind === "map" ? undefined : field.message;
  const isOpen = message?.typeName.startsWith("google.protobuf.") ?? false;
  return {
    name: field.name,
    jsonName: field.jsonName,
    type: typeOf(field),
    isList: field.fieldKind === "list",
    isRequired: false,
    oneOf: field.oneof?.name ?? null,
    values: field.fieldKind === "map" ? [] : (field.enum?.values.map(({ name }) => name) ?? []),
    fields: message === undefined || isOpen ? [] : message.fields.map(describe),
  };
}

function typeOf(field: DescField): string {
  if (field.fieldKind === "map") return "map";
  const named = field.message ?? field.enum;
  if (named !== undefined) return named.name;
  return field.scalar === undefined ? "unknown" : (ScalarType[field.scalar] ?? "unknown").toLowerCase();
}

/** Where a request names its robot: by robot_id or by amr_id, at the top level or one level below. */
export function robotFieldOf(fields: readonly RequestField[]): DescribedOperation["robotField"] {
  for (const { name, jsonName, fields: inner, isList } of fields) {
    if (name === "robot_id") return { path: [jsonName], by: "id" };
    if (name === "amr_id") return { path: [jsonName], by: "number" };
    const within = isList ? null : robotFieldOf(inner);
    if (within !== null) return { path: [jsonName, ...within.path], by: within.by };
  }
  return null;
}
