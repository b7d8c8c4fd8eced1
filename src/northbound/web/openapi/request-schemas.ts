import { z } from "zod";
import type {
  DescribedOperation,
  OperationManual,
  RequestField,
} from "../../../contracts/operation-manual.ts";
import { commandRequest } from "../api/command.ts";
import { type JsonSchema, schemaRef } from "./models.ts";

const numbers: Readonly<Record<string, JsonSchema>> = {
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
export function commandSchemas(catalogue: OperationManual): Readonly<Record<string, JsonSchema>> {
  const operations = [...catalogue.values()];
  const requests = operations.map((operation) => [requestName(operation), requestSchema(operation)] as const);
  return {
    CommandRequest: { oneOf: operations.map(bodySchema) },
    ...Object.fromEntries(requests),
  };
}

function requestName({ name }: DescribedOperation): string {
  return `${name}Request`;
}

/** The body of a command of one operation: the fields of every command, and its own request. */
function bodySchema(operation: DescribedOperation): JsonSchema {
  const {
    $schema: _draft,
    additionalProperties: _none,
    properties,
    required,
  } = z.toJSONSchema(commandRequest);
  const isRequired = operation.fields.some((field) => field.isRequired);
  return {
    title: operation.name,
    type: "object",
    properties: {
      ...properties,
      operation: { const: operation.name },
      request: schemaRef(requestName(operation)),
    },
    required: [...(required ?? []), ...(isRequired ? ["request"] : [])],
    additionalProperties: false,
  };
}

function requestSchema({ summary, role, fields, examples }: DescribedOperation): JsonSchema {
  return {
    ...objectSchema(fields),
    description: `${summary} Needs the role ${role}. Names may be written in snake_case too.`,
    examples: examples.map(({ request }) => request),
  };
}

function objectSchema(fields: readonly RequestField[]): JsonSchema {
  const required = fields.filter(({ isRequired }) => isRequired).map(({ jsonName }) => jsonName);
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.jsonName, fieldSchema(field)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

function fieldSchema(field: RequestField): JsonSchema {
  const one = valueSchema(field);
  const schema = field.isList ? { type: "array", items: one } : one;
  if (field.oneOf === null) return schema;
  return { ...schema, description: `At most one field of the group ${field.oneOf} may be set.` };
}

function valueSchema({ type, values, fields }: RequestField): JsonSchema {
  if (values.length > 0) return { enum: values };
  // A message without fields in the catalogue may be any JSON.
  return numbers[type] ?? (fields.length === 0 ? {} : objectSchema(fields));
}
