import { equals } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { Refusal } from "../../../src/simulator/refusal.ts";
import type { RobotUpdate } from "../../../src/simulator/service/contract.ts";
import { BatteryState_ChargeMethod, BatteryState_State } from "../../../src/wire/fleet/v1/battery_pb.js";
import {
  CartType,
  Feedback_Status,
  ConveyorState_OperationState as Operation,
  ConveyorState_PayloadState as Payload,
} from "../../../src/wire/fleet/v1/cart/cart_pb.js";
import {
  BaseFeedback_Status,
  BaseType,
  MissionStateSchema,
  MissionState_State as State,
} from "../../../src/wire/fleet/v1/mission_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { baseTo, cartTo, createService, globex, goals, type ServiceHarness } from "./service-harness.ts";

const { method } = FleetService;
const robots = (...ids: string[]) => ({
  selector: { targetId: { case: "robotIds" as const, value: { ids } } },
});
const location = (value: string) => ({ selector: { targetId: { case: "locationId" as const, value } } });

function subscribeCode(open: () => unknown): string {
  try {
    open();
    return "OK";
  } catch (error) {
    if (error instanceof Refusal) return error.code;
    throw error;
  }
}

describe.each([
  [
    "SubscribeMissionStatus",
    (harness: ServiceHarness, request: object) => harness.subscribe(method.subscribeMissionStatus, request),
  ],
  [
    "SubscribeBatteryStatus",
    (harness: ServiceHarness, request: object) => harness.subscribe(method.subscribeBatteryStatus, request),
  ],
] as const)("%s", (_name, subscribe) => {
  const code = (harness: ServiceHarness, request: object) => subscribeCode(() => subscribe(harness, request));

  it("sends the latest state of each selected robot, once, before anything else", () => {
    const harness = createService();
    const ids = (request: object) => subscribe(harness, request).messages.map(({ robotId }) => robotId);
    expect(ids(robots("cart", "base", "cart"))).toEqual(["cart", "base"]);
    expect(ids(location("here"))).toEqual(["cart", "serve", "base"]);
    expect(ids(location("nobody-there"))).toEqual([]);
  });

  it("refuses a selector that is malformed, foreign or unknown", () => {
    const harness = createService();
    expect(code(harness, {})).toBe("INVALID_ARGUMENT");
    expect(code(harness, { selector: {} })).toBe("INVALID_ARGUMENT");
    expect(code(harness, robots())).toBe("INVALID_ARGUMENT");
    expect(code(harness, robots("cart", ""))).toBe("INVALID_ARGUMENT");
    expect(code(harness, location(""))).toBe("INVALID_ARGUMENT");
    expect(code(harness, robots("cart", "foreign"))).toBe("PERMISSION_DENIED");
    expect(code(harness, robots("nobody"))).toBe("PERMISSION_DENIED");
    expect(code(harness, location("abroad"))).toBe("PERMISSION_DENIED");
    expect(code(harness, location("nowhere"))).toBe("PERMISSION_DENIED");
  });

  it("answers what a robot reported last before it went offline, though nobody listened then", () => {
    const harness = createService();
    harness.happen({ robotId: "cart", kind: "sequence-reset" });
    harness.happen({ robotId: "cart", kind: "offline" });
    harness.happen({ robotId: "cart", kind: "battery", percent: 12 });
    harness.world.missions.charge(harness.world.robots.get("cart") as never, "touchscreen", "touchscreen");
    const { messages } = subscribe(harness, robots("cart"));
    expect(messages.map(({ metadata }) => metadata?.sequenceNumber)).toEqual([0n]);
  });

  it("delivers nothing after its end, and nothing of other robots", () => {
    const harness = createService();
    const { messages, end } = subscribe(harness, robots("cart"));
    harness.happen({ robotId: "base", kind: "sequence-reset" });
    harness.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(messages).toHaveLength(2);
    end();
    harness.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(messages).toHaveLength(2);
  });

  it("holds what was reported last while a robot is offline, and tells of its return", () => {
    const harness = createService();
    const { messages } = subscribe(harness, robots("cart"));
    harness.happen({ robotId: "cart", kind: "offline" });
    harness.happen({ robotId: "cart", kind: "battery", percent: 12 });
    harness.world.missions.charge(harness.world.robots.get("cart") as never, "touchscreen", "touchscreen");
    expect(messages).toHaveLength(1);
    const later = subscribe(harness, robots("cart"));
    expect(later.messages).toEqual(messages);
    harness.happen({ robotId: "cart", kind: "online" });
    expect(messages).toHaveLength(2);
    expect(messages[1]?.metadata?.sequenceNumber).toBe((messages[0]?.metadata?.sequenceNumber ?? 0n) + 1n);
  });
});

describe("mission messages", () => {
  it("before the first mission: an empty list, index -1, no current mission", () => {
    const { messages } = createService().subscribe(method.subscribeMissionStatus, robots("cart"));
    expect(messages[0]?.missionStates).toMatchObject({ missions: [], currentMissionIndex: -1 });
    expect(messages[0]?.missionState).toBeUndefined();
  });

  it("follow a cart's mission with its type, feedback, goals, owner, number and time", async () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: cartTo("Station A"),
    });
    expect(messages[1]?.missionStates?.missions).toMatchObject([
      {
        missionId,
        state: State.RUNNING,
        goals: goals("Station A"),
        currentGoalIndex: 0,
        missionFeedback: {
          feedback: { case: "cartFeedback", value: { status: Feedback_Status.NAVIGATING } },
        },
        missionType: { type: { case: "cartType", value: CartType.NAVIGATE } },
        owner: "api",
      },
    ]);
    harness.clock.advance(10_000);
    const last = messages.at(-1);
    expect(last?.missionStates?.missions[0]?.state).toBe(State.SUCCEEDED);
    expect(last?.missionStates?.currentMissionIndex).toBe(0);
    expect(messages.map(({ metadata }) => metadata?.sequenceNumber)).toEqual([0n, 1n, 2n]);
    const times = messages.map(
      ({ metadata }) => metadata?.timestamp && timestampMs(metadata.timestamp) - Date.UTC(2026, 0, 1),
    );
    expect(times).toEqual([0, 0, 10_000]);
  });

  it("fill the legacy field with the current mission", async () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    await harness.call(method.appendMission, { robotId: "cart", mission: cartTo("Station B") });
    harness.clock.advance(10_000);
    for (const { missionState, missionStates } of messages.slice(1)) {
      const current = missionStates?.missions[missionStates.currentMissionIndex];
      if (missionState === undefined || current === undefined) throw new Error("no current mission");
      expect(equals(MissionStateSchema, missionState, current)).toBe(true);
    }
  });

  it("show each mission's end before the next one's start", async () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    await harness.call(method.appendMission, { robotId: "cart", mission: cartTo("Station B") });
    harness.clock.advance(10_000);
    const seen = messages.map(({ missionStates }) => [
      missionStates?.currentMissionIndex,
      ...(missionStates?.missions.map(({ state }) => state) ?? []),
    ]);
    expect(seen).toEqual([
      [-1],
      [0, State.RUNNING],
      [0, State.RUNNING, State.DEFAULT],
      [0, State.SUCCEEDED, State.DEFAULT],
      [1, State.SUCCEEDED, State.RUNNING],
    ]);
  });

  it("carry the wall time by the robot's own clock, however fast the world goes", () => {
    const harness = createService({ timeFactor: 60, cartClockAheadMs: 5_000 });
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart", "base"));
    harness.clock.advance(1_000);
    for (const robotId of ["cart", "base"]) harness.happen({ robotId, kind: "sequence-reset" });
    const times = messages.map(({ metadata }) => metadata?.timestamp && timestampMs(metadata.timestamp));
    const startMs = Date.UTC(2026, 0, 1);
    expect(times).toEqual([startMs + 5_000, startMs, startMs + 6_000, startMs + 1_000]);
  });

  it("of a base mission carry base type and feedback, of a charge mission neither nor goals", async () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: baseTo("Station A"),
    });
    expect(messages.at(-1)?.missionState).toMatchObject({
      missionType: { type: { case: "baseType", value: BaseType.NAVIGATE } },
      missionFeedback: {
        feedback: { case: "baseFeedback", value: { status: BaseFeedback_Status.NAVIGATING } },
      },
    });
    await harness.call(method.updateMission, { robotId: "cart", missionCommand: { missionId, command: 1 } });
    await harness.call(method.chargeRobot, { robotId: "cart" });
    const charge = messages.at(-1)?.missionState;
    expect(charge).toMatchObject({ state: State.RUNNING, goals: [], owner: "api" });
    expect(charge?.missionType).toBeUndefined();
    expect(charge?.missionFeedback).toBeUndefined();
  });

  it("show missions of others with their owner", () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    harness.world.missions.charge(harness.world.robots.get("cart") as never, "touchscreen", "touchscreen");
    expect(messages.at(-1)?.missionState?.owner).toBe("touchscreen");
  });

  it("are encoded once for all their subscribers", () => {
    const harness = createService();
    const bytes: Uint8Array[] = [];
    const request = harness.operations.subscribe.bind(harness.operations);
    for (let count = 0; count < 3; count += 1) {
      const selector = { targetId: { case: "locationId" as const, value: "here" } };
      request(
        method.subscribeMissionStatus,
        { distributor: "acme", apiKey: "k" },
        {
          $typeName: "fleet.v1.SubscribeMissionStatusRequest",
          selector: { $typeName: "fleet.v1.RobotSelector", ...selector },
        },
        (message) => bytes.push(message.bytes()),
      );
    }
    harness.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(new Set(bytes.slice(-3)).size).toBe(1);
  });
});

describe("battery messages", () => {
  it("tell percent, state and method", () => {
    const harness = createService();
    const { messages } = harness.subscribe(method.subscribeBatteryStatus, robots("base"));
    harness.happen({ robotId: "base", kind: "battery", percent: 33.9 });
    harness.happen({ robotId: "base", kind: "wired", plugged: true });
    expect(messages.map(({ batteryState }) => batteryState)).toMatchObject([
      {
        chargePercent: 50,
        state: BatteryState_State.DISCHARGING,
        chargeMethod: BatteryState_ChargeMethod.NONE,
      },
      {
        chargePercent: 33,
        state: BatteryState_State.DISCHARGING,
        chargeMethod: BatteryState_ChargeMethod.NONE,
      },
      {
        chargePercent: 33,
        state: BatteryState_State.CHARGING,
        chargeMethod: BatteryState_ChargeMethod.WIRED,
      },
    ]);
  });
});

describe("SubscribeConveyorStatus", () => {
  const open = (harness: ServiceHarness, robotId: string) =>
    harness.subscribe(method.subscribeConveyorStatus, { robotId });

  it("sends all conveyors at once and again after each change", async () => {
    const harness = createService();
    const { messages } = open(harness, "cart");
    await harness.call(method.controlConveyor, { robotId: "cart", commands: [{ index: 2, command: 2 }] });
    harness.clock.advance(3_000);
    const states = messages.map((message) =>
      message.states.map(({ index, operationState, payloadState }) => [index, operationState, payloadState]),
    );
    expect(states).toEqual([
      [
        [1, Operation.STOP, Payload.EMPTY],
        [2, Operation.STOP, Payload.EMPTY],
      ],
      [
        [1, Operation.STOP, Payload.EMPTY],
        [2, Operation.ROLLING, Payload.EMPTY],
      ],
      [
        [1, Operation.STOP, Payload.EMPTY],
        [2, Operation.ROLLING, Payload.LOADED],
      ],
    ]);
  });

  it("refuses other families, foreign and unknown robots, and no robot", () => {
    const harness = createService();
    expect(subscribeCode(() => open(harness, "serve"))).toBe("INVALID_ARGUMENT");
    expect(subscribeCode(() => open(harness, ""))).toBe("INVALID_ARGUMENT");
    expect(subscribeCode(() => open(harness, "foreign"))).toBe("PERMISSION_DENIED");
    expect(subscribeCode(() => open(harness, "nobody"))).toBe("NOT_FOUND");
  });
});

describe("events for webhooks", () => {
  it("say what the stream says, with the current mission and goal spelled out", async () => {
    const harness = createService();
    const events: RobotUpdate[] = [];
    const end = harness.operations.onEvent((event) => events.push(event));
    const { messages } = harness.subscribe(method.subscribeMissionStatus, robots("cart"));
    await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    const [event] = events;
    if (event?.eventType !== "mission") throw new Error("no mission event");
    expect(event.robotId).toBe("cart");
    expect(event.state.metadata).toEqual(messages[1]?.metadata);
    expect(event.state.missions).toEqual(messages[1]?.missionStates?.missions);
    expect(event.state.currentMission).toEqual(event.state.missions[0]);
    expect(event.state.currentGoal).toMatchObject(goals("Station A")[0] as object);
    harness.happen({ robotId: "cart", kind: "battery", percent: 5 });
    const last = events.at(-1);
    expect(last).toMatchObject({ eventType: "battery", state: { batteryState: { chargePercent: 5 } } });
    end();
    harness.happen({ robotId: "cart", kind: "battery", percent: 6 });
    expect(events.at(-1)).toBe(last);
  });

  it("leave the current mission and goal unset when there is none", () => {
    const harness = createService();
    const events: RobotUpdate[] = [];
    harness.operations.onEvent((event) => events.push(event));
    harness.happen({ robotId: "cart", kind: "sequence-reset" });
    expect(events[0]).toMatchObject({
      eventType: "mission",
      state: { missions: [], currentMissionIndex: -1 },
    });
    expect(events[0]?.state).not.toHaveProperty("currentMission");
    expect(events[0]?.state).not.toHaveProperty("currentGoal");
  });
});

describe("ownership", () => {
  it("another distributor sees its own robots and none of ours", async () => {
    const harness = createService();
    expect(
      subscribeCode(() => harness.subscribe(method.subscribeMissionStatus, location("here"), globex)),
    ).toBe("PERMISSION_DENIED");
    expect(
      harness.subscribe(method.subscribeMissionStatus, location("abroad"), globex).messages,
    ).toHaveLength(1);
    expect(await harness.codeOf(method.getConveyorIndex, { robotId: "foreign" }, globex)).toBe("OK");
    expect(harness.operations.ownership.locationOf("cart")).toBe("here");
  });
});
