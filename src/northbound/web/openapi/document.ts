import type { OperationManual } from "../../../contracts/operation-manual.ts";
import { type Endpoint, endpoints } from "./endpoints.ts";
import { type JsonSchema, modelSchemas, models, schemaRef, simulatorModels } from "./models.ts";
import { commandSchemas } from "./request-schemas.ts";
import { simulatorEndpoints } from "./simulator-endpoints.ts";

const parameters: Readonly<Record<string, string>> = {
  robot: "The robot's id, percent-encoded.",
  thumbprint: "SHA-1 of the certificate, hexadecimal, in lower case.",
  map: "The number of the map.",
  fault: "cut, silence, block, lost_answer or flat_battery.",
  id: "Of a command: its request id, yours to choose. Of an alarm: as the list shows it. Percent-encoded.",
};

const securitySchemes = {
  token: {
    type: "http",
    scheme: "bearer",
    description:
      "A token of web.tokens. None is needed without web.users and web.tokens, or on the control socket. Browsers send the cookie of POST /session instead.",
  },
};

/**
 * The OpenAPI 3.1 document of the HTTP API: its routes, its models, and the requests of every operation.
 *
 * @param hasSimulator whether it has the routes of the demo too
 */
export function openApiDocument(
  version: string,
  catalogue: OperationManual,
  hasSimulator = false,
): JsonSchema {
  const shown = hasSimulator ? { ...models, ...simulatorModels } : models;
  const paths: Record<string, Record<string, JsonSchema>> = {};
  for (const endpoint of hasSimulator ? [...endpoints, ...simulatorEndpoints] : endpoints) {
    const path = `/api/v1${endpoint.path}`;
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operationOf(endpoint) };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Fleetgate",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description:
        "The robots of a fleet, their commands and alarms, on the gateway's web listener and its control socket. docs/commands.md says what the outcomes mean.",
    },
    servers: [{ url: "http://127.0.0.1:8080", description: "The default of web.listen." }],
    paths,
    security: [{ token: [] }, {}],
    components: { securitySchemes, schemas: { ...modelSchemas(shown), ...commandSchemas(catalogue) } },
  };
}

function operationOf(endpoint: Endpoint): JsonSchema {
  const { summary, onWeb, onSocket, isPublic, body, answers } = endpoint;
  const problem = {
    description: "A problem (RFC 9457).",
    content: jsonOf("Problem", "application/problem+json"),
  };
  return {
    summary,
    ...(onWeb ? {} : { description: "On the control socket only." }),
    ...(onSocket === false ? { description: "On the web listener only." } : {}),
    ...(isPublic === true ? { security: [] } : {}),
    parameters: parametersOf(endpoint),
    ...(body === undefined ? {} : { requestBody: { required: true, content: jsonOf(body) } }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answers).map(([status, answer]) => [
          status,
          { description: answer.says, ...contentOf(endpoint, answer.body) },
        ]),
      ),
      default: problem,
    },
  };
}

function contentOf({ path }: Endpoint, body: string | null): JsonSchema {
  if (body === "Empty") return {};
  if (body !== null) return { content: jsonOf(body) };
  if (path.endsWith("/drawing")) return { content: { "image/png": {} } };
  const type = path === "/stream" ? "text/event-stream" : "application/x-ndjson";
  return { content: { [type]: { schema: { type: "string" } } } };
}

function jsonOf(name: string, type = "application/json"): JsonSchema {
  return { [type]: { schema: schemaRef(name) } };
}

function parametersOf({ path, isList, query = {}, headers = {} }: Endpoint): readonly JsonSchema[] {
  const text = { type: "string" };
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    description: parameters[name] ?? "",
    schema: text,
  }));
  const limit = { type: "integer", minimum: 1, maximum: 1_000, default: 1_000 };
  const paging = [
    { name: "limit", in: "query", description: "Items of one page.", schema: limit },
    { name: "cursor", in: "query", description: "The text of next in the page before.", schema: text },
  ];
  const named = (where: string, names: Readonly<Record<string, string>>) =>
    Object.entries(names).map(([name, description]) => ({ name, in: where, description, schema: text }));
  return [
    ...inPath,
    ...(isList === true ? paging : []),
    ...named("query", query),
    ...named("header", headers),
  ];
}
