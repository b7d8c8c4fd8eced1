import { create, type DescMessage, type DescMethod, type MessageShape, toBinary } from "@bufbuild/protobuf";
import {
  type BatteryEventState,
  BatteryEventStateSchema,
  BatteryState_ChargeMethod,
  BatteryState_State,
} from "../../wire/fleet/v1/battery_pb.js";
import {
  ConveyorState_HealthState,
  ConveyorState_InstallationState,
  ConveyorState_OperationState,
  ConveyorState_PayloadState,
} from "../../wire/fleet/v1/cart/cart_pb.js";
import type { EventMetadata } from "../../wire/fleet/v1/common_pb.js";
import {
  FleetService,
  type SubscribeBatteryStatusRequest,
  type SubscribeBatteryStatusResponse,
  SubscribeBatteryStatusResponseSchema,
  type SubscribeConveyorStatusRequest,
  type SubscribeConveyorStatusResponse,
  SubscribeConveyorStatusResponseSchema,
  type SubscribeMissionStatusRequest,
  SubscribeMissionStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { Battery, Robot } from "../world/robot.ts";
import type { CallParts } from "./calls.ts";
import type { Caller, RobotUpdate, StreamMessage } from "./contract.ts";
import { checkCart } from "./robot-calls.ts";
import { toMetadata, toMissionEvent, toMissionMessage } from "./robot-messages.ts";

type Deliver = (message: StreamMessage) => void;

/** The subscriptions of FleetService, and the events for webhooks. */
interface Streams {
  /** undefined: the method is none of the three. Throws a Refusal. */
  subscribe(method: DescMethod, caller: Caller, request: unknown, deliver: Deliver): (() => void) | undefined;
  /**
   * Calls `listener` with each mission and battery change of each robot that is online. The returned function
   * ends it.
   */
  onEvent(listener: (event: RobotUpdate) => void): () => void;
}

/** The streams of a world's changes. */
export function createStreams({ world, driver, ownership, confirmation }: CallParts): Streams {
  const missions = createFeed(SubscribeMissionStatusResponseSchema, (robot) =>
    toMissionMessage(robot, toMetadata(robot, robot.missionStamp, driver.wallMs)),
  );
  const batteries = createFeed(SubscribeBatteryStatusResponseSchema, (robot) =>
    toBatteryMessage(robot, toMetadata(robot, robot.batteryStamp, driver.wallMs)),
  );
  const conveyors = createFeed(SubscribeConveyorStatusResponseSchema, toConveyorMessage);
  const changed = {
    mission: missions.changed,
    battery: batteries.changed,
    conveyors: conveyors.changed,
    presence(robot: Robot) {
      if (robot.online) return;
      // Requests about an offline robot get its last report.
      for (const feed of [missions, batteries, conveyors]) feed.keep(robot);
    },
  };
  world.onChange((change) => {
    if (change.kind !== "chain") changed[change.kind](change.robot);
  });

  const bySelector =
    (feed: typeof missions | typeof batteries) =>
    (operation: string, caller: Caller, request: unknown, deliver: Deliver) => {
      // Looked up by its own method, so the request has its input type.
      const { selector } = request as SubscribeMissionStatusRequest | SubscribeBatteryStatusRequest;
      const robots = ownership.selected(caller, selector);
      return confirmation.answer(operation, "", () => feed.subscribe(robots, deliver));
    };

  const openers = new Map([
    [FleetService.method.subscribeMissionStatus as DescMethod, bySelector(missions)],
    [FleetService.method.subscribeBatteryStatus as DescMethod, bySelector(batteries)],
    [
      FleetService.method.subscribeConveyorStatus as DescMethod,
      (operation: string, caller: Caller, request: unknown, deliver: Deliver) => {
        const { robotId } = request as SubscribeConveyorStatusRequest;
        const robot = ownership.robot(caller, robotId);
        checkCart(robot);
        return confirmation.answer(operation, robotId, () => conveyors.subscribe([robot], deliver));
      },
    ],
  ]);

  return {
    subscribe: (method, caller, request, deliver) =>
      openers.get(method)?.(method.name, caller, request, deliver),
    onEvent(listener) {
      const ends = [
        missions.listen((robotId, message) =>
          listener({ eventType: "mission", robotId, state: toMissionEvent(message) }),
        ),
        batteries.listen((robotId, message) =>
          listener({ eventType: "battery", robotId, state: toBatteryEvent(message) }),
        ),
      ];
      return () => {
        for (const end of ends) end();
      };
    },
  };
}

const states: Readonly<Record<Battery["state"], BatteryState_State>> = {
  charging: BatteryState_State.CHARGING,
  discharging: BatteryState_State.DISCHARGING,
  full: BatteryState_State.FULL,
};

const methods: Readonly<Record<Battery["method"], BatteryState_ChargeMethod>> = {
  none: BatteryState_ChargeMethod.NONE,
  wired: BatteryState_ChargeMethod.WIRED,
  contact: BatteryState_ChargeMethod.CONTACT,
};

/** A robot's battery message as it is now. */
function toBatteryMessage(robot: Robot, metadata: EventMetadata): SubscribeBatteryStatusResponse {
  const { shownPercent, state, method } = robot.battery;
  const batteryState = { chargePercent: shownPercent, state: states[state], chargeMethod: methods[method] };
  return create(SubscribeBatteryStatusResponseSchema, { metadata, robotId: robot.id, batteryState });
}

/** The webhook event of a battery message: the same content. */
function toBatteryEvent({ metadata, batteryState }: SubscribeBatteryStatusResponse): BatteryEventState {
  const event = create(BatteryEventStateSchema);
  if (metadata !== undefined) event.metadata = metadata;
  if (batteryState !== undefined) event.batteryState = batteryState;
  return event;
}

/** All conveyors of a cart as they are now. Of one that is not installed nothing else is known. */
function toConveyorMessage(robot: Robot): SubscribeConveyorStatusResponse {
  const states = robot.conveyors.map(({ index, installed, motor, loaded, healthy }) =>
    installed
      ? {
          index,
          operationState:
            motor === "stop" ? ConveyorState_OperationState.STOP : ConveyorState_OperationState.ROLLING,
          payloadState: loaded ? ConveyorState_PayloadState.LOADED : ConveyorState_PayloadState.EMPTY,
          healthState: healthy ? ConveyorState_HealthState.OK : ConveyorState_HealthState.ERROR,
          installationState: ConveyorState_InstallationState.INSTALLED,
        }
      : {
          index,
          operationState: ConveyorState_OperationState.STOP,
          payloadState: ConveyorState_PayloadState.UNKNOWN,
          healthState: ConveyorState_HealthState.UNKNOWN,
          installationState: ConveyorState_InstallationState.NOT_INSTALLED,
        },
  );
  return create(SubscribeConveyorStatusResponseSchema, { states });
}

/** The latest message of one kind of each robot, and its subscribers. */
interface Feed<M> {
  /**
   * Delivers the latest message of each robot before it returns, then every change. The returned function
   * ends it.
   */
  subscribe(robots: readonly Robot[], deliver: Deliver): () => void;
  /** The robot has changed. */
  changed(robot: Robot): void;
  /** Calls `listener` with each message of each robot. The returned function ends it. */
  listen(listener: (robotId: string, message: M) => void): () => void;
  /** The robot no longer reports: its last report stays the latest. */
  keep(robot: Robot): void;
}

/**
 * A feed whose messages `compose` makes from a robot's present state. A message is made only if there are
 * subscribers, and once for all of them.
 */
function createFeed<D extends DescMessage>(
  schema: D,
  compose: (robot: Robot) => MessageShape<D>,
): Feed<MessageShape<D>> {
  const latest = new Map<Robot, StreamMessage & { readonly message: MessageShape<D> }>();
  const subscribers = new Map<Robot, Set<Deliver>>();
  const listeners = new Set<(robotId: string, message: MessageShape<D>) => void>();

  const latestOf = (robot: Robot) => {
    const known = latest.get(robot);
    if (known !== undefined) return known;
    const made = streamMessage(schema, robot.id, compose(robot));
    latest.set(robot, made);
    return made;
  };

  return {
    subscribe(robots, deliver) {
      // One function for each subscription, so that one caller can have the same robot twice.
      const own: Deliver = (message) => deliver(message);
      for (const robot of robots) {
        own(latestOf(robot));
        const set = subscribers.get(robot);
        if (set === undefined) subscribers.set(robot, new Set([own]));
        else set.add(own);
      }
      return () => {
        for (const robot of robots) {
          const set = subscribers.get(robot);
          set?.delete(own);
          if (set?.size === 0) subscribers.delete(robot);
        }
      };
    },
    changed(robot) {
      latest.delete(robot);
      const wanted = subscribers.get(robot);
      if (wanted === undefined && listeners.size === 0) return;
      const message = latestOf(robot);
      for (const listener of listeners) listener(robot.id, message.message);
      if (wanted !== undefined) for (const deliver of wanted) deliver(message);
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    keep(robot) {
      latestOf(robot);
    },
  };
}

function streamMessage<D extends DescMessage>(schema: D, robotId: string, message: MessageShape<D>) {
  let encoded: Uint8Array | undefined;
  return {
    robotId,
    message,
    bytes() {
      encoded ??= toBinary(schema, message);
      return encoded;
    },
  };
}
