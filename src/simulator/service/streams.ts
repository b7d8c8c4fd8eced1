import type { DescMethod } from "@bufbuild/protobuf";
import type {
  SubscribeBatteryStatusRequest,
  SubscribeConveyorStatusRequest,
  SubscribeMissionStatusRequest,
} from "../../wire/fleet/v1/service_pb.js";
import {
  FleetService,
  SubscribeBatteryStatusResponseSchema,
  SubscribeConveyorStatusResponseSchema,
  SubscribeMissionStatusResponseSchema,
} from "../../wire/fleet/v1/service_pb.js";
import type { Robot } from "../world/robot.ts";
import { toBatteryEvent, toBatteryMessage } from "./battery-message.ts";
import type { CallParts } from "./calls.ts";
import type { Caller, RobotUpdate, StreamMessage } from "./contract.ts";
import { checkCart } from "./conveyor-calls.ts";
import { toConveyorMessage } from "./conveyor-message.ts";
import { createFeed } from "./feed.ts";
import { toMetadata, toMissionEvent, toMissionMessage } from "./mission-message.ts";

type Deliver = (message: StreamMessage) => void;

/** The subscriptions of FleetService, and the events for webhooks. */
export interface Streams {
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
