import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { silentLog } from "../../../src/platform/log.ts";
import { type CommandFaults, createCommandFaults } from "../../../src/simulator/faults/registry.ts";
import { Refusal } from "../../../src/simulator/refusal.ts";
import { readScenario } from "../../../src/simulator/scenario/scenario.ts";
import type { Caller } from "../../../src/simulator/service/contract.ts";
import { createOperations, type Operations } from "../../../src/simulator/service/operations.ts";
import { createWorld, createWorldDriver, type World } from "../../../src/simulator/world/world.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { worldScenario } from "../world/world-harness.ts";

export const acme: Caller = { distributor: "acme", apiKey: "acme-key" };
export const globex: Caller = { distributor: "globex", apiKey: "globex-key" };

/** The service without its transports, on a hall of acme's and a robot and a map of globex's. */
export interface ServiceHarness {
  readonly clock: ManualClock;
  readonly world: World;
  readonly operations: Operations;
  readonly faults: CommandFaults;
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    caller?: Caller,
  ): Promise<MessageShape<O>>;
  /** The code of the Refusal that the call ends with, `OK` when it ends with none. */
  codeOf<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
    caller?: Caller,
  ): Promise<string>;
  /** Opens a stream. The messages come as they would over a wire: decoded from their bytes. */
  subscribe<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
    caller?: Caller,
  ): { readonly messages: MessageShape<O>[]; end(): void };
  happen: World["happen"];
}

export interface HarnessOptions {
  /** How long robots take to confirm. */
  readonly confirmMs?: number;
  readonly timeFactor?: number;
  /** How far the cart's clock is ahead of the service's. */
  readonly cartClockAheadMs?: number;
}

export function createService({
  confirmMs = 0,
  timeFactor = 1,
  cartClockAheadMs = 0,
}: HarnessOptions = {}): ServiceHarness {
  const base = worldScenario();
  const scenario = readScenario({
    ...base,
    distributors: [...base.distributors, { id: "globex", apiKeys: [{ apiKey: "globex-key" }] }],
    locations: [
      ...base.locations,
      { id: "nobody-there", distributor: "acme" },
      { id: "abroad", distributor: "globex" },
    ],
    maps: [
      ...base.maps,
      {
        id: 2,
        name: "Abroad",
        distributor: "globex",
        vertices: [{ id: 1, code: "X", x: 0, y: 0, kind: "home" }],
      },
    ],
    robots: [
      ...base.robots.map((robot) =>
        robot.id === "cart" ? { ...robot, clockAheadMs: cartClockAheadMs } : robot,
      ),
      { id: "foreign", amrId: 9, family: "cart", location: "abroad", map: 2, home: "X" },
    ],
  });
  const clock = createManualClock();
  const world = createWorld(scenario.world, clock.nowMs(), 1_000);
  const driver = createWorldDriver(world, clock, timeFactor);
  driver.run(new AbortController().signal);
  const faults = createCommandFaults();
  const operations = createOperations({
    world,
    driver,
    clock,
    faults,
    log: silentLog,
    options: { confirmMs, confirmWaitMs: 10_000 },
    webhooks: {
      create: async (_caller, { url }) => ({ webhook: { id: "w-1", url } }),
      list: async () => ({ webhooks: [] }),
      delete: async () => {
        throw new Refusal("NOT_FOUND", "no such subscription");
      },
    },
  });

  const call: ServiceHarness["call"] = (method, request, caller = acme) =>
    operations.call(method, caller, create(method.input, request));
  return {
    clock,
    world,
    operations,
    faults,
    call,
    async codeOf(method, request, caller = acme) {
      try {
        await call(method, request, caller);
        return "OK";
      } catch (error) {
        if (error instanceof Refusal) return error.code;
        throw error;
      }
    },
    subscribe(method, request, caller = acme) {
      const messages: MessageShape<typeof method.output>[] = [];
      const end = operations.subscribe(method, caller, create(method.input, request), (message) =>
        messages.push(fromBinary(method.output, message.bytes())),
      );
      return { messages, end };
    },
    happen: world.happen,
  };
}

/** Goals by their display names. */
export function goals(...names: string[]) {
  return names.map((value) => ({ goal: { case: "destinationId" as const, value } }));
}

/** A cart's drive to one station. */
export function cartTo(name: string) {
  const [goal] = goals(name);
  return {
    mission: {
      case: "cartMission" as const,
      value: { mission: { case: "navigateMission" as const, value: { goal } } },
    },
  };
}

/** Any robot's drive to one station. */
export function baseTo(name: string) {
  const [goal] = goals(name);
  return {
    mission: {
      case: "baseMission" as const,
      value: { mission: { case: "navigateMission" as const, value: { goal } } },
    },
  };
}
