import {
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TaskService } from "../../../src/wire/fleet/http/v1/task_pb.js";
import { route } from "../../../src/wire/fleet/options/v1/route_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { arbitraryMessage, type Vocabulary } from "../../support/arbitrary-message.ts";
import type { FleetClient } from "../../support/fleet-client.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

const RUNS = 40;
let simulator: RunningSimulator;
let client: FleetClient;
let vocabulary: Vocabulary;

beforeAll(async () => {
  simulator = await startSimulator({
    confirmWaitMs: 1,
    timeFactor: 100,
    resolve: async () => ["93.184.216.34"],
  });
  client = await simulator.client();
  const { robots } = (await simulator.rest("GET", "/amr/onlineAmr")).json() as {
    robots: ReadonlyArray<{ id: string; name: string; pos: string }>;
  };
  vocabulary = {
    texts: [
      ...robots.flatMap(({ name, pos }) => [name, pos]),
      ...simulator.endpoints.locations,
      ..."Station A;Station B;mission;battery;https://hooks.example/x;state.missions.0.mission_id".split(";"),
      ..."state.current_mission.state;STATE_RUNNING;TASK_TYPE_LOAD;TASK_TYPE_SYSTEM_CONFIRM".split(";"),
    ],
    numbers: [...robots.map(({ id }) => Number(id)), 0, 1, 2, 3, -1],
  };
});
afterAll(() => simulator.stop());

const ourFault: readonly number[] = [status.INTERNAL, status.UNKNOWN];
const codeOf = (error: unknown) => (error as { code?: number }).code ?? status.UNKNOWN;

const unary = FleetService.methods.filter((method) => method.methodKind === "unary");
const streams = FleetService.methods.filter((method) => method.methodKind === "server_streaming");
const routed = [...unary, ...TaskService.methods].filter((method) => hasOption(method, route));

let answeredOk = 0;

/**
 * SkipGoal of a robot that is offline is INTERNAL (docs/internals/service.md, ERR-26); here every robot is
 * online.
 */
async function callCode(method: DescMethod, bytes: Uint8Array): Promise<number> {
  const code = await client
    .callBytes(`/${method.parent.typeName}/${method.name}`, bytes)
    .then(() => 0, codeOf);
  if (code === status.OK) answeredOk += 1;
  return code;
}

test.each(unary.map((method) => [method.name, method] as const))(
  "%s never fails by a bug of ours: messages",
  async (_, method) => {
    await fc.assert(
      fc.asyncProperty(arbitraryMessage(method.input as DescMessage, vocabulary), async (message) => {
        expect(ourFault).not.toContain(await callCode(method, toBinary(method.input, message)));
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(unary.map((method) => [method.name, method] as const))(
  "%s never fails by a bug of ours: any bytes",
  async (_, method) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
        expect(ourFault).not.toContain(await callCode(method, bytes));
      }),
      { numRuns: RUNS },
    );
  },
);

test.each(streams.map((method) => [method.name, method] as const))(
  "%s never fails by a bug of ours",
  async (_, method) => {
    await fc.assert(
      fc.asyncProperty(arbitraryMessage(method.input as DescMessage, vocabulary), async (message) => {
        const stream = client.stream(
          method as (typeof FleetService.method)["subscribeMissionStatus"],
          message as never,
        );
        const outcome = await stream.next().then(() => 0, codeOf);
        stream.cancel();
        expect(ourFault).not.toContain(outcome);
      }),
      { numRuns: RUNS },
    );
  },
);

/** The JSON of a message, sometimes with a piece of it replaced by anything. */
function arbitraryJson(schema: DescMessage): fc.Arbitrary<unknown> {
  const ours = arbitraryMessage(schema, vocabulary).map((message) => {
    try {
      return toJson(schema, message) as unknown;
    } catch {
      // An Any of an unknown type and a NaN have no JSON.
      return {};
    }
  });
  const keys = fc.constantFrom(
    ...schema.fields.flatMap(({ name, jsonName }) => [name, jsonName]),
    "__proto__",
    "x",
  );
  const spoiled = fc
    .tuple(ours, keys, fc.jsonValue({ maxDepth: 3 }))
    .map(([json, key, value]) =>
      JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`, (_, each) => each ?? json),
    );
  return fc.oneof(ours, spoiled, fc.jsonValue());
}

test.each(routed.map((method) => [method.name, method] as const))(
  "REST %s never answers 500",
  async (_, method) => {
    const { verb, path } = getOption(method, route);
    await fc.assert(
      fc.asyncProperty(
        arbitraryJson(method.input),
        fc.constantFrom(...vocabulary.numbers),
        async (body, id) => {
          const url = path.replace(/\{\w+\}/, String(id));
          const answer = await simulator.rest(verb, url, verb === "GET" ? undefined : JSON.stringify(body));
          expect(answer.status, answer.text).not.toBe(500);
          expect(answer.headers["grpc-status"]).toBeDefined();
          expect(answer.headers["content-type"]).toMatch(/^application\/json/);
        },
      ),
      { numRuns: RUNS, examples: [[{ task_chain_id: [{ toString: {} }] }, 101]] },
    );
  },
);

test("some of those requests were good ones: the checks were passed, not only met", () => {
  expect(answeredOk).toBeGreaterThan(10);
});
