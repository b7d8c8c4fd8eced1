import { z } from "zod";
import { commandRequest } from "../../.build/northbound/web/api/command.js";

const scalars = {
  string: { type: "string" },
  bool: { type: "boolean" },
  bytes: { type: "string", contentEncoding: "base64" },
  float: { type: ["number", "string"] },
  double: { type: ["number", "string"] },
  int32: { type: "integer" },
  uint32: { type: "integer", minimum: 0 },
  int64: { type: ["string", "integer"] },
  uint64: { type: ["string", "integer"] },
  map: { type: "object", additionalProperties: { type: "string" } },
};

/** The schema of the body of a command, and one for the request of each operation. */
export function commandSchemas(catalogue) {
  const operations = [...catalogue.values()];
  return {
    CommandRequest: { oneOf: operations.map(bodySchema) },
    ...Object.fromEntries(
      operations.map((operation) => [`${operation.name}Request`, requestSchema(operation)]),
    ),
  };
}

/** The body of a command of one operation: the fields of every command, and its own request. */
function bodySchema({ name, fields }) {
  const { properties, required = [] } = z.toJSONSchema(commandRequest);
  return {
    title: name,
    type: "object",
    properties: {
      ...properties,
      operation: { const: name },
      request: { $ref: `#/components/schemas/${name}Request` },
    },
    required: [...required, ...(fields.some(({ isRequired }) => isRequired) ? ["request"] : [])],
    additionalProperties: false,
  };
}

function requestSchema({ summary, role, fields, examples }) {
  return {
    ...objectSchema(fields),
    description: `${summary} Needs the role ${role}. Names may be written in snake_case too.`,
    examples: examples.map(({ request }) => request),
  };
}

function objectSchema(fields) {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ jsonName }) => jsonName);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function fieldSchema(field) {
  const one = valueSchema(field);
  const schema = field.isList ? { type: "array", items: one } : one;
  if (field.oneOf === null) return schema;
  return { ...schema, description: `At most one field of the group ${field.oneOf} may be set.` };
}

function valueSchema({ type, values, fields }) {
  if (values.length > 0) return { enum: values };
  // A message without fields in the catalogue may be any JSON.
  return scalars[type] ?? (fields.length === 0 ? {} : objectSchema(fields));
}
