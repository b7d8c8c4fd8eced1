import {
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  fromJson,
  type JsonValue,
} from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/simulator/refusal.ts";
import { TaskService } from "../../../src/wire/fleet/http/v1/task_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { acme, createService, type ServiceHarness } from "./service-harness.ts";

/**
 * Every code of docs/internals/service.md, Errors, without those that only a fault brings about.
 */
const documented = new Set([
  "OK",
  "INVALID_ARGUMENT",
  "FAILED_PRECONDITION",
  "NOT_FOUND",
  "PERMISSION_DENIED",
]);

type Unary = DescMethodUnary<DescMessage, DescMessage>;
type Streaming = DescMethodServerStreaming<DescMessage, DescMessage>;

const methods = [...FleetService.methods, ...TaskService.methods];
const unary = methods.filter((method) => method.methodKind === "unary") as Unary[];
const streaming = methods.filter((method) => method.methodKind === "server_streaming") as Streaming[];

async function outcome(attempt: () => unknown): Promise<string> {
  try {
    await attempt();
    return "OK";
  } catch (error) {
    return error instanceof Refusal ? error.code : `no Refusal: ${String(error)}`;
  }
}

/** Calls with what can be read as the operation's request; what cannot never gets past a transport. */
async function send(
  harness: ServiceHarness,
  method: Unary | Streaming,
  read: () => ReturnType<typeof fromBinary>,
): Promise<string> {
  let request: ReturnType<typeof fromBinary>;
  try {
    request = read();
  } catch {
    return "INVALID_ARGUMENT";
  }
  return method.methodKind === "unary"
    ? outcome(() => harness.operations.call(method, acme, request))
    : outcome(() => harness.operations.subscribe(method, acme, request, (message) => message.bytes()));
}

const anyWord = fc.string({ unit: "binary", maxLength: 12 });

/** Words that the world knows, by the field that they would be right in. */
const likelyWords = new Map<string, fc.Arbitrary<string>>([
  ["robot_id", fc.constantFrom("cart", "serve", "base", "foreign", "nobody", "")],
  ["ids", fc.constantFrom("cart", "serve", "base", "foreign", "here")],
  ["location_id", fc.constantFrom("here", "abroad", "nowhere")],
  ["destination_id", fc.constantFrom("Station A", "Station B", "Charger", "Nowhere", "")],
  ["task_type", fc.constantFrom("TASK_TYPE_LOAD", "TASK_TYPE_UNLOAD", "TASK_TYPE_SYSTEM_CONFIRM")],
  ["end_point_code", fc.constantFrom("S-A", "S-B", "X", "")],
]);

const wordFor = (field: string) =>
  fc.oneof({ weight: 4, arbitrary: likelyWords.get(field) ?? anyWord }, anyWord);
const number = fc.oneof(
  fc.integer({ min: -2, max: 10 }),
  fc.integer(),
  fc.constantFrom("NaN", "-Infinity", 1e30),
);

/** JSON that fits a message's fields, filled with what is likely and what is not. */
function jsonOf(desc: DescMessage, depth: number): fc.Arbitrary<JsonValue> {
  if (depth > 6) return fc.constant({});
  const fields = desc.fields.map((field): [string, fc.Arbitrary<JsonValue>] => {
    const one = (): fc.Arbitrary<JsonValue> => {
      if (field.message !== undefined) {
        return field.message.typeName.startsWith("google.")
          ? fc.constant({})
          : jsonOf(field.message, depth + 1);
      }
      if (field.enum !== undefined) return fc.integer({ min: -1, max: 5 });
      return "scalar" in field && field.scalar === 9
        ? wordFor(field.name)
        : "scalar" in field && field.scalar === 8
          ? fc.boolean()
          : number;
    };
    return [field.jsonName, field.fieldKind === "list" ? fc.array(one(), { maxLength: 3 }) : one()];
  });
  // A oneof takes one of its members: one key is drawn of all, and some of the rest that stand alone.
  const alone = fields.filter(
    ([name]) => desc.fields.find((field) => field.jsonName === name)?.oneof === undefined,
  );
  const members = fields.filter((field) => !alone.includes(field));
  const base = fc.record(Object.fromEntries(alone), { requiredKeys: [] }) as fc.Arbitrary<
    Record<string, JsonValue>
  >;
  if (members.length === 0) return base;
  const member = fc.oneof(
    ...members.map(([name, value]) => value.map((json) => ({ [name]: json }))),
    fc.constant({}),
  );
  return fc.tuple(base, member).map(([a, b]) => ({ ...a, ...b }));
}

describe.each([...unary, ...streaming].map((method) => [method.name, method] as const))(
  "%s",
  (_name, method) => {
    it("answers any message with a documented code", async () => {
      const seen = new Set<string>();
      await fc.assert(
        fc.asyncProperty(
          fc.array(jsonOf(method.input, 0), { minLength: 1, maxLength: 5 }),
          async (requests) => {
            const harness = createService();
            await harness.operations.call(
              TaskService.method.addTaskChain,
              acme,
              fromJson(TaskService.method.addTaskChain.input, {
                taskChain: { amrId: 1 },
                tasks: [{ taskType: "TASK_TYPE_SYSTEM_CONFIRM" }],
              }),
            );
            for (const json of requests) {
              const code = await send(harness, method, () => fromJson(method.input, json));
              seen.add(code);
              expect(documented).toContain(code);
              harness.clock.advance(1_000);
            }
          },
        ),
        { numRuns: 60 },
      );
      expect(seen.size).toBeGreaterThan(0);
    });

    it("answers any bytes with a documented code", async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), async (bytes) => {
          const code = await send(createService(), method, () => fromBinary(method.input, bytes));
          expect(documented).toContain(code);
        }),
        { numRuns: 60 },
      );
    });
  },
);

it("the messages thrown at the operations are good enough for every documented code to be seen", async () => {
  const seen = new Map<string, Set<string>>();
  for (const method of unary) {
    const codes = new Set<string>();
    seen.set(method.name, codes);
    const harness = createService();
    for (const json of fc.sample(jsonOf(method.input, 0), { numRuns: 2_000, seed: 1 })) {
      codes.add(await send(harness, method, () => fromJson(method.input, json)));
      harness.clock.advance(30_000);
    }
  }
  const all = new Set([...seen.values()].flatMap((codes) => [...codes]));
  expect(all).toEqual(documented);
  for (const name of ["CreateMission", "AddTaskChain", "ControlConveyor"])
    expect([name, ...(seen.get(name) ?? [])]).toContain("OK");
});
