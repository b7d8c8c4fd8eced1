import { createCatalogue } from "../../.build/fleet/operations.js";
import { endpoints } from "./endpoints.mjs";
import { modelSchemas } from "./models.mjs";
import { commandSchemas } from "./request-schemas.mjs";

const parameters = {
  robot: "The robot's id, percent-encoded.",
  thumbprint: "SHA-1 of the certificate, hexadecimal, in lower case.",
  map: "The number of the map.",
  fault: "cut, silence, block, lost_answer or flat_battery.",
  id: "Of a command: its request id, yours to choose. Of an alarm: as the list shows it. Percent-encoded.",
};

const listeners = {
  web: { description: "On the web listener only." },
  socket: { description: "On the control socket only." },
  demo: { description: "In the demo only." },
};

const token = {
  type: "http",
  scheme: "bearer",
  description:
    "A token of web.tokens. None is needed without web.users and web.tokens, or on the control socket. Browsers send the cookie of POST /session instead.",
};

const problem = {
  description: "A problem (RFC 9457).",
  content: contentOf("Problem", "application/problem+json"),
};

/** The OpenAPI 3.1 document of the HTTP API: its routes, its models, and the requests of every operation. */
export function openApiDocument(version) {
  const paths = {};
  for (const endpoint of endpoints) {
    const path = `/api/v1${endpoint.path}`;
    paths[path] = { ...paths[path], [endpoint.method]: operationOf(endpoint) };
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
    components: {
      securitySchemes: { token },
      schemas: { ...modelSchemas(), ...commandSchemas(createCatalogue()) },
    },
  };
}

function operationOf({ path, summary, only, isPublic, isList, query, headers, body, answers }) {
  const responses = Object.entries(answers).map(([status, [description, answer]]) => [
    status,
    answer === null ? { description } : { description, content: contentOf(answer) },
  ]);
  return {
    summary,
    ...listeners[only],
    ...(isPublic ? { security: [] } : {}),
    parameters: parametersOf(path, isList, query, headers),
    ...(body === undefined ? {} : { requestBody: { required: true, content: contentOf(body) } }),
    responses: { ...Object.fromEntries(responses), default: problem },
  };
}

/** JSON of a schema, or a type of content without one. */
function contentOf(answer, type = "application/json") {
  if (typeof answer === "string") return { [type]: { schema: { $ref: `#/components/schemas/${answer}` } } };
  return { [answer.type]: answer.type.startsWith("image/") ? {} : { schema: { type: "string" } } };
}

function parametersOf(path, isList, query = {}, headers = {}) {
  const schema = { type: "string" };
  const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    description: parameters[name],
    schema,
  }));
  const limit = { type: "integer", minimum: 1, maximum: 1_000, default: 1_000 };
  const paging = [
    { name: "limit", in: "query", description: "Items of one page.", schema: limit },
    { name: "cursor", in: "query", description: "The text of next in the page before.", schema },
  ];
  const named = (where, names) =>
    Object.entries(names).map(([name, description]) => ({ name, in: where, description, schema }));
  return [...inPath, ...(isList ? paging : []), ...named("query", query), ...named("header", headers)];
}
