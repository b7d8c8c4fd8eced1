import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  toJson,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { Clock } from "../../platform/clock.ts";
import type { Json } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { TaskService } from "../../wire/fleet/http/v1/task_pb.js";
import {
  type CreateWebhookRequest,
  type CreateWebhookResponseSchema,
  type DeleteWebhookRequest,
  type DeleteWebhookResponseSchema,
  FleetService,
  type ListWebhooksRequest,
  type ListWebhooksResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { CommandFaults } from "../faults/registry.ts";
import { Refusal } from "../refusal.ts";
import type { World, WorldDriver } from "../world/world.ts";
import {
  type CallHandler,
  type CallParts,
  type ConfirmationOptions,
  createConfirmation,
  handler,
} from "./calls.ts";
import { chainCalls } from "./chain-calls.ts";
import type { Caller, FleetOperations, RobotUpdate } from "./contract.ts";
import { createOwnership, type Ownership } from "./ownership.ts";
import { conveyorCalls, missionCalls } from "./robot-calls.ts";
import { toOnlineInfo, toVertexInfo } from "./robot-messages.ts";
import { createStreams } from "./streams.ts";

/** A request longer than this in JSON is recorded by its length. */
const LONGEST_RECORDED = 16_384;

/** The webhook operations, implemented elsewhere. They reject only with a Refusal. */
export interface WebhookCalls {
  create(
    caller: Caller,
    request: CreateWebhookRequest,
  ): Promise<MessageInitShape<typeof CreateWebhookResponseSchema>>;
  list(
    caller: Caller,
    request: ListWebhooksRequest,
  ): Promise<MessageInitShape<typeof ListWebhooksResponseSchema>>;
  delete(
    caller: Caller,
    request: DeleteWebhookRequest,
  ): Promise<MessageInitShape<typeof DeleteWebhookResponseSchema>>;
}

/** The dependencies of the operations. */
interface OperationsParts {
  readonly world: World;
  readonly driver: WorldDriver;
  readonly clock: Clock;
  readonly faults: Pick<CommandFaults, "take">;
  readonly webhooks: WebhookCalls;
  readonly log: Log;
  readonly options: ConfirmationOptions;
}

/** The fleet service without its transports, and what webhooks need of it. */
export interface Operations extends FleetOperations {
  /** The ownership rules. */
  readonly ownership: Ownership;
  /**
   * Calls `listener` with each mission and battery change of each robot that is online. The returned function
   * ends it.
   */
  onEvent(listener: (event: RobotUpdate) => void): () => void;
}

/** Whether an operation changes nothing. The world's record leaves such out. */
export function isRead(method: DescMethod): boolean {
  return method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
}

/** Every operation of FleetService and TaskService on a world. */
export function createOperations(parts: OperationsParts): Operations {
  const { world, driver, clock, faults, webhooks, log, options } = parts;
  const ownership = createOwnership(world);
  const confirmation = createConfirmation(clock, driver, faults, log, options);
  const callParts: CallParts = { world, driver, ownership, confirmation };
  const streams = createStreams(callParts);
  const handlers = new Map<DescMethod, CallHandler>(
    [
      ...missionCalls(callParts),
      ...conveyorCalls(callParts),
      ...chainCalls(callParts),
      ...robotCalls(callParts),
      ...webhookCalls(callParts, webhooks),
    ].map((each) => [each.method, each]),
  );
  let nextCallId = 1;

  const record = async <T>(
    method: DescMethodUnary<DescMessage, DescMessage>,
    caller: Caller,
    request: MessageShape<DescMessage>,
    handle: (by: string) => Promise<T>,
  ): Promise<T> => {
    const callId = nextCallId++;
    if (isRead(method)) return handle(`call:${callId}`);
    const operation = method.name;
    const robotId = robotConcerned(world, request);
    driver.sync();
    world.record.add(robotId, {
      what: "received",
      callId,
      operation,
      caller: `${caller.distributor}/${caller.apiKey}`,
      request: describeRequest(method.input, request),
    });
    const answered = (code: Refusal["code"]) => {
      driver.sync();
      world.record.add(robotId, { what: "answered", callId, operation, code });
    };
    try {
      const result = await handle(`call:${callId}`);
      answered("OK");
      return result;
    } catch (error) {
      answered(error instanceof Refusal ? error.code : "INTERNAL");
      throw error;
    }
  };

  return {
    ownership,
    onEvent: streams.onEvent,
    async call<I extends DescMessage, O extends DescMessage>(
      method: DescMethodUnary<I, O>,
      caller: Caller,
      request: MessageShape<I>,
    ): Promise<MessageShape<O>> {
      const found = handlers.get(method);
      if (found === undefined) throw new Refusal("UNIMPLEMENTED", `${method.name} is not known`);
      const init = await record(method, caller, request, (by) =>
        found.handle({ operation: method.name, caller, by }, request),
      );
      return create(method.output, init as MessageInitShape<O>);
    },
    subscribe(method, caller, request, deliver) {
      driver.sync();
      const end = streams.subscribe(method, caller, request, deliver);
      if (end === undefined) throw new Refusal("UNIMPLEMENTED", `${method.name} is not known`);
      return end;
    },
  };
}

function webhookCalls({ confirmation }: CallParts, webhooks: WebhookCalls): readonly CallHandler[] {
  const { method } = FleetService;
  return [
    handler(method.createWebhook, ({ operation, caller }, request) =>
      confirmation.perform(operation, undefined, () => webhooks.create(caller, request)),
    ),
    handler(method.listWebhooks, ({ operation, caller }, request) =>
      confirmation.perform(operation, undefined, () => webhooks.list(caller, request)),
    ),
    handler(method.deleteWebhook, ({ operation, caller }, request) =>
      confirmation.perform(operation, undefined, () => webhooks.delete(caller, request)),
    ),
  ];
}

/** A request for the record: proto3 JSON, or the reason why it has none. */
function describeRequest<D extends DescMessage>(schema: D, request: MessageShape<D>): Json {
  try {
    const json = toJson(schema, request);
    const { length } = JSON.stringify(json);
    return length <= LONGEST_RECORDED ? (json as Json) : { omitted: `${length} characters of JSON` };
  } catch (error) {
    // An Any of an unknown type or a Struct with NaN has no JSON; the operation refuses it by its own rules.
    return { omitted: String(error) };
  }
}

/** The robot that a request concerns, if it names one that exists. */
function robotConcerned(world: World, request: object): string {
  if ("robotId" in request && typeof request.robotId === "string") {
    return world.robots.has(request.robotId) ? request.robotId : "";
  }
  if ("amrId" in request && typeof request.amrId === "number") {
    return world.robotsByAmrId.get(request.amrId)?.id ?? "";
  }
  if ("taskChainId" in request && typeof request.taskChainId === "number") {
    return world.chains.get(request.taskChainId)?.robot?.id ?? "";
  }
  const chain = "taskChain" in request ? request.taskChain : undefined;
  return typeof chain === "object" && chain !== null ? robotConcerned(world, chain) : "";
}

/** The robot and map operations of TaskService. */
function robotCalls({ world, ownership, confirmation }: CallParts): readonly CallHandler[] {
  const { method } = TaskService;
  return [
    handler(method.getOnlineRobots, async ({ operation, caller }) =>
      confirmation.answer(operation, "", () => ({
        robots: ownership
          .robotsOf(caller)
          .filter((robot) => robot.online)
          .map((robot) => toOnlineInfo(robot, world.nowMs())),
      })),
    ),
    handler(method.pauseRobot, async ({ operation, caller, by }, { amrId, stopNow }) => {
      const robot = ownership.robotByAmrId(caller, amrId);
      return confirmation.perform(operation, robot, () => {
        world.chains.pause(robot, stopNow, by);
        return {};
      });
    }),
    handler(method.resumeRobot, async ({ operation, caller, by }, { amrId }) => {
      const robot = ownership.robotByAmrId(caller, amrId);
      return confirmation.perform(operation, robot, () => {
        world.chains.resume(robot, by);
        return {};
      });
    }),
    handler(method.getMap, async ({ operation, caller }, { mapId }) => {
      const map = ownership.map(caller, mapId);
      return confirmation.answer(operation, "", () => ({
        vertexes: map.vertices.map((vertex) => toVertexInfo(vertex, map.id)),
      }));
    }),
  ];
}
