import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  fromJson,
  getOption,
  hasOption,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import type { FastifyInstance } from "fastify";
import { messageOf } from "../../platform/error-text.ts";
import type { Json } from "../../platform/json.ts";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { route } from "../../wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import type { Exchange } from "../auth/api-key.ts";
import type { Tokens } from "../auth/token.ts";
import { Refusal, statusHeaders } from "../refusal.ts";
import type { FleetOperations } from "../service/contract.ts";
import { parseBody, type RequestParts, refuse, requestJson } from "./server.ts";

export interface OperationRouteOptions {
  readonly tokens: Tokens;
  readonly operations: FleetOperations;
}

/** A route of each operation whose descriptor names one: verb, path and where its fields travel. */
export function addOperationRoutes(app: FastifyInstance, options: OperationRouteOptions): void {
  addService(app, FleetService.methods, options);
  addService(app, TaskService.methods, options);
}

/**
 * The body of an answer: every field of its messages, also with its default. Optional fields, messages and
 * members of a oneof are left out while they are unset.
 */
export function answerJson<D extends DescMessage>(schema: D, message: MessageShape<D>): Json {
  return toJson(schema, message, { alwaysEmitImplicit: true });
}

function addService(
  app: FastifyInstance,
  methods: readonly DescMethod[],
  { tokens, operations }: OperationRouteOptions,
): void {
  for (const method of methods) {
    if (!hasOption(method, route)) continue;
    const { verb, path, inQuery } = getOption(method, route);
    // Only unary operations have routes; the library's type of a method does not say so.
    const unary = method as DescMethodUnary;
    app.route({
      method: verb,
      url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      async handler(request, reply) {
        const caller = await tokens.verify(request.headers.authorization);
        const message = decode(unary.input, {
          body: request.body,
          // Fastify types these as unknown; its router and query parser produce exactly these types.
          params: request.params as RequestParts["params"],
          query: request.query as RequestParts["query"],
          isQueryMeant: inQuery,
        });
        const answer = await operations.call(unary, caller, message);
        return reply.headers(statusHeaders("OK", "")).send(answerJson(unary.output, answer));
      },
    });
  }
}

function decode<D extends DescMessage>(schema: D, parts: RequestParts): MessageShape<D> {
  const json: Json = requestJson(parts);
  try {
    return fromJson(schema, json as Parameters<typeof fromJson>[1]);
  } catch (error) {
    const reason = messageOf(error);
    throw new Refusal("INVALID_ARGUMENT", `the request is no ${schema.name}: ${reason}`);
  }
}

/**
 * POST /authorizeApiAccess: an API key document in, a JWT as the bare body out (docs/internals/service.md,
 * END-24).
 */
export function addExchangeRoute(app: FastifyInstance, exchange: Exchange): void {
  app.post("/authorizeApiAccess", async (request, reply) => {
    const answer = await exchange.ask(readBody(request.body), request.ip);
    if ("token" in answer) return reply.type("text/plain").send(answer.token);
    return refuse(reply, new Refusal(answer.code, answer.message), answer.status);
  });
}

/** The parsed body. No JSON counts like any other body that is no API key document. */
function readBody(body: unknown): unknown {
  try {
    return parseBody(body);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
