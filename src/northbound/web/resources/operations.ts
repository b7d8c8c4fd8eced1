import type { FastifyInstance } from "fastify";
import type {
  DescribedOperation,
  OperationManual,
  RequestField,
} from "../../../contracts/operation-manual.ts";
import type { RequestField as FieldJson, Operation } from "../api/operation.ts";
import { sendProblem } from "../problem.ts";
import { type Query, sendPage, unknownParameter } from "./list-page.ts";

/** `GET /api/v1/operations`: all that a form for each operation needs. */
export function addOperationRoutes(server: FastifyInstance, catalogue: OperationManual): void {
  server.get<{ Querystring: Query }>("/api/v1/operations", async ({ query }, reply) => {
    const fault = unknownParameter(query, []);
    if (fault !== null) return sendProblem(reply, 400, fault);
    return sendPage(reply, query, {
      name: "operations",
      items: [...catalogue.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
      keyOf: ({ name }) => name,
      write: operationJson,
    });
  });
}

/** The JSON of an operation. */
export function operationJson({
  name,
  summary,
  role,
  fields,
  examples,
  robotField,
}: DescribedOperation): Operation {
  return { name, summary, role, fields: fields.map(fieldJson), examples, robot_field: robotField };
}

function fieldJson(field: RequestField): FieldJson {
  return {
    name: field.name,
    json_name: field.jsonName,
    type: field.type,
    list: field.isList,
    required: field.isRequired,
    one_of: field.oneOf,
    values: field.values,
    fields: field.fields.map(fieldJson),
  };
}
