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
import { z } from "zod";
import { messageOf } from "../../platform/error-text.ts";
import type { Json } from "../../platform/json.ts";
import { isLoopback } from "../../platform/url-host.ts";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import { route } from "../../wire/fleet/options/v1/route_pb.js";
import { MissionSchema } from "../../wire/fleet/v1/mission_pb.js";
import { FleetService } from "../../wire/fleet/v1/service_pb.js";
import type { Exchange } from "../auth/api-key.ts";
import type { Tokens } from "../auth/token.ts";
import type { Control } from "../control.ts";
import { invalid, Refusal, readRequest, statusHeaders } from "../refusal.ts";
import { faultSchema, incidentSchema } from "../scenario/schema.ts";
import type { FleetOperations } from "../service/contract.ts";
import { parseBody, type RequestParts, refuse, requestJson } from "./server.ts";

interface OperationRouteOptions {
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
  return readRequest(schema.name, () => fromJson(schema, json as Parameters<typeof fromJson>[1]));
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

const missionWish = z.strictObject({
  robotId: z.string(),
  owner: z.string().min(1).max(128).default("touchscreen"),
  /** The proto3 JSON of a Mission. */
  mission: z.json(),
});
const missionEnd = z.strictObject({ robotId: z.string(), missionId: z.string() });
const liveliness = z.strictObject({ lively: z.enum(["none", "missions", "patrols"]) });
const recordQuery = z.strictObject({
  since: z.coerce.number().int().min(0).default(0),
  /** Entries of one answer; ask for the next ones with the `seq` of the last. */
  limit: z.coerce.number().int().min(1).max(10_000).default(10_000),
  robotId: z.string().optional(),
});

/** The control endpoint under /simulator: no token, and for this machine only. */
export function addControlRoutes(app: FastifyInstance, control: Control): void {
  app.register(async (scope) => {
    scope.addHook("onRequest", async (request) => {
      const { remoteAddress = "", localAddress } = request.socket;
      // With --host nothing may listen on loopback: a program here then comes from the address that it calls.
      if (!isLoopback(remoteAddress) && remoteAddress !== localAddress) {
        throw new Refusal("PERMISSION_DENIED", "the control endpoint answers to this machine only");
      }
      // A page in a browser on this machine may be anybody's.
      if (request.headers.origin !== undefined) {
        throw new Refusal("PERMISSION_DENIED", "the control endpoint does not answer to web pages");
      }
    });
    scope.get("/simulator/faults", async () => ({ faults: control.faults() }));
    scope.post("/simulator/faults", async (request) => {
      control.apply(read(faultSchema, parseBody(request.body)));
      return { faults: control.faults() };
    });
    scope.delete("/simulator/faults", async () => {
      control.clearFaults();
      return { faults: control.faults() };
    });
    scope.post("/simulator/incidents", async (request) => {
      control.happen(read(incidentSchema, parseBody(request.body)));
      return {};
    });
    scope.post("/simulator/missions", async (request) => {
      const { robotId, owner, mission } = read(missionWish, parseBody(request.body));
      return { missionId: control.startMission(robotId, owner, readMission(mission)) };
    });
    scope.post("/simulator/missions/cancel", async (request) => {
      const { robotId, missionId } = read(missionEnd, parseBody(request.body));
      control.cancelMission(robotId, missionId);
      return {};
    });
    scope.post("/simulator/lively", async (request) => {
      control.setLively(read(liveliness, parseBody(request.body)).lively);
      return {};
    });
    scope.get("/simulator/robots", async () => ({ robots: control.robots() }));
    scope.get("/simulator/record", async (request) => {
      const { since, limit, robotId } = read(recordQuery, request.query);
      const entries = control.record(since);
      const wanted = robotId === undefined ? entries : entries.filter((entry) => entry.robotId === robotId);
      return { entries: wanted.slice(0, limit) };
    });
  });
}

function readMission(json: z.output<typeof missionWish>["mission"]) {
  try {
    return fromJson(MissionSchema, json);
  } catch (error) {
    throw invalid(`mission: ${messageOf(error)}`);
  }
}

function read<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw invalid(z.prettifyError(parsed.error));
}
