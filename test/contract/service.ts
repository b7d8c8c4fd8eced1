import {
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  getOption,
  type JsonObject,
  type JsonValue,
  type MessageShape,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { TaskService } from "../../src/wire/fleet/http/v1/task_pb.js";
import { route } from "../../src/wire/fleet/options/v1/route_pb.js";
import { FleetService, type SubscribeMissionStatusResponse } from "../../src/wire/fleet/v1/service_pb.js";
import type { FleetClient } from "../support/fleet-client.ts";
import type { HttpsAnswer } from "../support/https.ts";
import { createManualClock, type ManualClock } from "../support/manual-clock.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { contractScenario, createRobotPool, type RobotKind, type TestRobot } from "./contract-harness.ts";

/** What an operation answered, whichever way it was asked. */
export interface Answer {
  /** The gRPC code's name, `OK` where it succeeded. */
  readonly code: string;
  readonly message: string;
  /** The response in the JSON of its transport; empty for a refusal. */
  readonly body: JsonObject;
}

export type Transport = "grpc" | "rest";
type Who = "acme" | "globex";

/** What a test of a row is given: the service, and one way to ask it. */
export interface Service {
  readonly transport: Transport;
  readonly simulator: RunningSimulator;
  readonly clock: ManualClock;
  /** An operation with its request in proto3 JSON. */
  ask(operation: string, request: JsonObject, who?: Who): Promise<Answer>;
  /** The same, for a command that is answered only when time has passed: the clock runs until it is. */
  askWhile(operation: string, request: JsonObject): Promise<Answer>;
  /** The body of an answer that has to be OK. */
  done(operation: string, request: JsonObject, who?: Who): Promise<JsonObject>;
  /** The code of an answer. */
  code(operation: string, request: JsonObject, who?: Who): Promise<string>;
  /** A robot that no other test touches. */
  fresh(kind: RobotKind | "aisle"): TestRobot;
  /** The mission stream's latest message of a robot. */
  latest(robotId: string): Promise<SubscribeMissionStatusResponse>;
  /** A gRPC client with a distributor's token. */
  client(who?: Who): FleetClient;
}

type Body = (service: Service) => Promise<void>;

/** The tests of one file, all on one service that lives by a clock of their own. */
export interface ContractTests {
  /** One row, tried over gRPC and over REST. */
  onBoth(name: string, body: Body): void;
  /** One row that has no REST: streams. */
  overGrpc(name: string, body: Body): void;
  /** One row of the operations that have HTTP verbs and paths, and nothing else. */
  overHttp(name: string, body: Body): void;
}

const operations = new Map(
  [...FleetService.methods, ...TaskService.methods].map((each) => [each.name, each]),
);

/** HTTP status of each code, by name: the simulator's table, written down a second time on purpose. */
const httpStatuses = new Map([
  ["OK", 200],
  ["INVALID_ARGUMENT", 400],
  ["FAILED_PRECONDITION", 400],
  ["UNAUTHENTICATED", 401],
  ["PERMISSION_DENIED", 403],
  ["NOT_FOUND", 404],
  ["RESOURCE_EXHAUSTED", 429],
  ["INTERNAL", 500],
  ["UNIMPLEMENTED", 501],
  ["UNAVAILABLE", 503],
  ["DEADLINE_EXCEEDED", 504],
]);

/** Starts a service for the tests of this file. */
export function contractTests(overrides: Partial<SimulatorOptions> = {}): ContractTests {
  const fresh = createRobotPool();
  let started: Started | undefined;
  const running = () => {
    if (started === undefined) throw new Error("the service is not started");
    return started;
  };
  beforeAll(async () => {
    started = await start(overrides);
  });
  afterAll(async () => {
    await started?.simulator.stop();
  });
  const over = (transport: Transport) => (name: string, body: Body) => {
    test(`${name} (${transport})`, async () => {
      const { simulator } = running();
      await body(serviceOver(transport, running(), fresh));
      simulator.control.clearFaults();
    });
  };
  const [overGrpc, overRest] = [over("grpc"), over("rest")];
  return {
    overGrpc,
    overHttp: overRest,
    onBoth(name, body) {
      overGrpc(name, body);
      overRest(name, body);
    },
  };
}

interface Started {
  readonly simulator: RunningSimulator;
  readonly clock: ManualClock;
  readonly clients: Readonly<Record<Who, FleetClient>>;
  readonly tokens: Readonly<Record<Who, string>>;
}

async function start(overrides: Partial<SimulatorOptions>): Promise<Started> {
  const clock = createManualClock();
  const simulator = await startSimulator({
    scenario: { kind: "given", scenario: contractScenario() },
    clock,
    random: () => 0.5,
    // Tests let hours pass.
    tokenLifeMs: 1_000 * 3_600_000,
    ...overrides,
  });
  const tokens = {
    acme: await simulator.token(),
    globex: await simulator.token(simulator.endpoints.otherCredentials),
  };
  const clients = {
    acme: await simulator.client({ token: tokens.acme }),
    globex: await simulator.client({ token: tokens.globex }),
  };
  return { simulator, clock, clients, tokens };
}

function serviceOver(
  transport: Transport,
  { simulator, clock, clients, tokens }: Started,
  fresh: Service["fresh"],
): Service {
  const ask: Service["ask"] = (operation, request, who = "acme") => {
    const method = operations.get(operation);
    if (method === undefined) throw new Error(`there is no operation ${operation}`);
    return transport === "grpc"
      ? askGrpc(clients[who], method as DescMethodUnary, request)
      : askRest(simulator, tokens[who], method as DescMethodUnary, request);
  };
  return {
    transport,
    simulator,
    clock,
    ask,
    async askWhile(operation, request) {
      const before = simulator.control.record(0).at(-1)?.seq ?? 0;
      const has = (what: "received" | "answered") =>
        simulator.control.record(before).some(({ fact }) => fact.what === what);
      const answer = ask(operation, request);
      // Time passes between the moment the service has the command and its answer, neither sooner nor longer.
      while (!has("received")) await clock.settle(0);
      while (!has("answered")) await clock.settle(100);
      return answer;
    },
    async done(operation, request, who) {
      const { code, message, body } = await ask(operation, request, who);
      expect(`${code} ${message}`).toBe("OK ");
      return body;
    },
    code: async (operation, request, who) => (await ask(operation, request, who)).code,
    fresh,
    async latest(robotId) {
      const value = { ids: [robotId] };
      const selector = { targetId: { case: "robotIds" as const, value } };
      const stream = clients.acme.stream(FleetService.method.subscribeMissionStatus, { selector });
      const message = await stream.next();
      stream.cancel();
      return message;
    },
    client: (who = "acme") => clients[who],
  };
}

async function askGrpc<I extends DescMessage, O extends DescMessage>(
  client: FleetClient,
  method: DescMethodUnary<I, O>,
  request: JsonObject,
): Promise<Answer> {
  try {
    const bytes = toBinary(method.input, fromJson(method.input, request) as MessageShape<I>);
    const answer = await client.callBytes(`/${method.parent.typeName}/${method.name}`, bytes);
    return {
      code: "OK",
      message: "",
      body: toJson(method.output, fromBinary(method.output, answer), {
        alwaysEmitImplicit: true,
      }) as JsonObject,
    };
  } catch (error) {
    return { ...refusalOf(error), body: {} };
  }
}

/** The code and message of what grpc-js rejected with; anything else is thrown on. */
export function refusalOf(error: unknown): { readonly code: string; readonly message: string } {
  const { code, details } = error as { code?: unknown; details?: unknown };
  if (typeof code !== "number" || typeof details !== "string") throw error;
  return { code: status[code] ?? String(code), message: details };
}

async function askRest(
  simulator: RunningSimulator,
  token: string,
  method: DescMethodUnary,
  request: JsonObject,
): Promise<Answer> {
  const { verb, path, inQuery } = getOption(method, route);
  const fields = { ...request };
  const url = path.replace(/\{(\w+)\}/, (_, name: string) => {
    const value = fields[name];
    delete fields[name];
    return String(value);
  });
  const query = inQuery ? `?${new URLSearchParams(queryOf(fields))}` : "";
  const hasBody = verb !== "GET";
  return restAnswer(await simulator.rest(verb, `${url}${query}`, hasBody ? fields : undefined, token));
}

function queryOf(fields: JsonObject): [string, string][] {
  return Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((each: JsonValue): [string, string] => [name, String(each)]),
  );
}

/**
 * What a REST answer says. Its status, two headers and body are checked first (docs/internals/service.md,
 * ERR-59).
 */
export function restAnswer(answer: HttpsAnswer): Answer {
  const code = status[Number(answer.headers["grpc-status"])] ?? "none";
  const message = decodeURIComponent(String(answer.headers["grpc-message"] ?? ""));
  expect({ code, status: answer.status }).toEqual({ code, status: httpStatuses.get(code) });
  const body = answer.json() as JsonObject;
  if (code === "OK") return { code, message, body };
  expect(body).toEqual({ code, message });
  expect(message).not.toBe("");
  return { code, message, body: {} };
}
