import { describe, expect, it } from "vitest";
import type { CommandFault } from "../../../src/simulator/scenario/schema.ts";
import { TaskService } from "../../../src/wire/fleet/http/v1/task_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { acme, cartTo, createService, type ServiceHarness } from "./service-harness.ts";

const { method } = FleetService;
const start = (harness: ServiceHarness) =>
  harness.codeOf(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
const missionCount = (harness: ServiceHarness) => harness.world.robots.get("cart")?.missions.length;

/** Whether a promise has settled, and how, after what was due has run. */
function watch(promise: Promise<string>): { readonly code: string | undefined } {
  const seen: { code: string | undefined } = { code: undefined };
  void promise.then((code) => {
    seen.code = code;
  });
  return seen;
}

describe("a robot's confirmation", () => {
  it("takes its time; the effect is there before it", async () => {
    const harness = createService({ confirmMs: 20 });
    const answer = watch(start(harness));
    await harness.clock.settle(19);
    expect(missionCount(harness)).toBe(1);
    expect(answer.code).toBeUndefined();
    await harness.clock.settle(1);
    expect(answer.code).toBe("OK");
  });

  it("does not come from a robot that is offline: DEADLINE_EXCEEDED after 10 s, without effect", async () => {
    const harness = createService();
    harness.happen({ robotId: "cart", kind: "offline" });
    const answer = watch(start(harness));
    await harness.clock.settle(9_999);
    expect(answer.code).toBeUndefined();
    harness.happen({ robotId: "cart", kind: "online" });
    await harness.clock.settle(1);
    expect(answer.code).toBe("DEADLINE_EXCEEDED");
    expect(missionCount(harness)).toBe(0);
  });

  it("is not needed for what the service does by itself", async () => {
    const harness = createService({ confirmMs: 20 });
    const tasks = [{ taskType: "TASK_TYPE_SYSTEM_CONFIRM" }];
    expect(await harness.codeOf(TaskService.method.addTaskChain, { taskChain: { amrId: 1 }, tasks })).toBe(
      "OK",
    );
    expect(await harness.codeOf(method.listWebhooks, {})).toBe("OK");
  });

  it("a SkipGoal that cannot be delivered is INTERNAL", async () => {
    const harness = createService();
    harness.happen({ robotId: "cart", kind: "offline" });
    const answer = watch(harness.codeOf(method.skipGoal, { robotId: "cart" }));
    await harness.clock.settle(10_000);
    expect(answer.code).toBe("INTERNAL");
  });

  it("is waited for in real time, whatever the world's time factor", async () => {
    const harness = createService({ timeFactor: 50, confirmMs: 20 });
    const answer = watch(start(harness));
    await harness.clock.settle(20);
    expect(answer.code).toBe("OK");
    await harness.clock.settle(200);
    expect(harness.world.robots.get("cart")?.missions[0]?.status).toBe("succeeded");
  });
});

describe("command faults", () => {
  it.each<[CommandFault["effect"], string, number, number, number]>([
    // Missions right after the call, when it is answered, and well after that.
    ["delay-taken", "DEADLINE_EXCEEDED", 1, 1, 1],
    ["delay-not-taken", "DEADLINE_EXCEEDED", 0, 0, 0],
    ["delay-taken-late", "DEADLINE_EXCEEDED", 0, 0, 1],
    ["internal-before", "INTERNAL", 0, 0, 0],
    ["internal-after", "INTERNAL", 1, 1, 1],
  ])("%s: %s", async (effect, code, atOnce, whenAnswered, later) => {
    const harness = createService();
    harness.faults.add({ kind: "command", operation: "CreateMission", count: 1, effect });
    const answer = watch(start(harness));
    await harness.clock.settle(0);
    expect(missionCount(harness)).toBe(atOnce);
    await harness.clock.settle(9_999);
    expect(answer.code).toBe(code === "INTERNAL" ? code : undefined);
    await harness.clock.settle(1);
    expect(answer.code).toBe(code);
    expect(missionCount(harness)).toBe(whenAnswered);
    await harness.clock.settle(5_000);
    expect(missionCount(harness)).toBe(later);
    expect(harness.faults.list()).toEqual([]);
  });

  it("a late command that the robot cannot take by then changes nothing", async () => {
    const harness = createService();
    harness.faults.add({ kind: "command", count: 1, effect: "delay-taken-late" });
    const answer = watch(start(harness));
    await harness.clock.settle(10_000);
    expect(answer.code).toBe("DEADLINE_EXCEEDED");
    await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station B") });
    const before = harness.world.robots.get("cart")?.missions[0]?.id;
    await harness.clock.settle(5_000);
    expect(harness.world.robots.get("cart")?.missions.map(({ id }) => id)).toEqual([before]);
  });

  it("befall the operation and the robot they name, as often as they say", async () => {
    const harness = createService();
    harness.faults.add({
      kind: "command",
      operation: "ControlConveyor",
      robotId: "cart",
      count: 2,
      effect: "internal-before",
    });
    const roll = (robotId: string) =>
      harness.codeOf(method.controlConveyor, { robotId, commands: [{ index: 1, command: 2 }] });
    expect(await start(harness)).toBe("OK");
    expect(await roll("cart")).toBe("INTERNAL");
    expect(harness.faults.list()).toEqual([
      { kind: "command", operation: "ControlConveyor", robotId: "cart", count: 1, effect: "internal-before" },
    ]);
    expect(await roll("cart")).toBe("INTERNAL");
    expect(await roll("cart")).toBe("OK");
    harness.faults.add({ kind: "command", count: 5, effect: "internal-before" });
    harness.faults.clear();
    expect(await roll("cart")).toBe("OK");
  });

  it("do not hide what is refused anyway", async () => {
    const harness = createService();
    harness.faults.add({ kind: "command", count: 1, effect: "delay-taken" });
    expect(await harness.codeOf(method.createMission, { robotId: "cart" })).toBe("INVALID_ARGUMENT");
    expect(harness.faults.list()).toHaveLength(1);
  });

  it.each([
    [
      "GetConveyorIndex",
      (harness: ServiceHarness) => harness.codeOf(method.getConveyorIndex, { robotId: "cart" }),
    ],
    [
      "AddTaskChain",
      (harness: ServiceHarness) =>
        harness.codeOf(TaskService.method.addTaskChain, {
          taskChain: { amrId: 1 },
          tasks: [{ taskType: "TASK_TYPE_SYSTEM_CONFIRM" }],
        }),
    ],
    ["GetOnlineRobots", (harness: ServiceHarness) => harness.codeOf(TaskService.method.getOnlineRobots, {})],
    [
      "CreateWebhook",
      (harness: ServiceHarness) => harness.codeOf(method.createWebhook, { url: "https://example.com" }),
    ],
    ["ListWebhooks", (harness: ServiceHarness) => harness.codeOf(method.listWebhooks, {})],
    ["DeleteWebhook", (harness: ServiceHarness) => harness.codeOf(method.deleteWebhook, { id: "x" })],
  ])("reach %s too", async (operation, codeOf) => {
    const harness = createService();
    harness.faults.add({ kind: "command", operation, count: 1, effect: "internal-before" });
    expect(await codeOf(harness)).toBe("INTERNAL");
    expect(await codeOf(harness)).toBe(operation === "DeleteWebhook" ? "NOT_FOUND" : "OK");
  });
});

describe("the record of commands", () => {
  it("holds what was received, by whom, what came of it and what was answered", async () => {
    const harness = createService();
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: cartTo("Station A"),
    });
    await harness.codeOf(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    const request = {
      robotId: "cart",
      mission: { cartMission: { navigateMission: { goal: { destinationId: "Station A" } } } },
    };
    const facts = harness.world.record.since(0).map(({ robotId, fact }) => ({ robotId, ...fact }));
    const common = { robotId: "cart", operation: "CreateMission" };
    expect(facts).toEqual([
      { what: "received", callId: 1, caller: "acme/acme-key", request, ...common },
      {
        what: "mission",
        robotId: "cart",
        missionId,
        from: "none",
        to: "default",
        owner: "api",
        by: "call:1",
      },
      {
        what: "mission",
        robotId: "cart",
        missionId,
        from: "default",
        to: "running",
        owner: "api",
        by: "call:1",
      },
      { what: "answered", callId: 1, code: "OK", ...common },
      { what: "received", callId: 2, caller: "acme/acme-key", request, ...common },
      { what: "answered", callId: 2, code: "FAILED_PRECONDITION", ...common },
    ]);
  });

  it("names the robot of task-chain commands, and leaves reads out", async () => {
    const harness = createService();
    await harness.call(TaskService.method.addTaskChain, {
      taskChain: { amrId: 1 },
      tasks: [{ taskType: "TASK_TYPE_SYSTEM_CONFIRM" }],
    });
    await harness.call(TaskService.method.finishTaskChain, { taskChainId: 1 });
    await harness.call(TaskService.method.getOnlineRobots, {});
    const received = harness.world.record
      .since(0)
      .flatMap(({ robotId, fact }) => (fact.what === "received" ? [`${robotId} ${fact.operation}`] : []));
    expect(received).toEqual(["cart AddTaskChain", "cart FinishTaskChain"]);
  });

  it("records a request that is too long by its length", async () => {
    const harness = createService();
    await harness.codeOf(method.createMission, { robotId: "x".repeat(20_000) });
    const [received] = harness.world.record.since(0);
    expect(received?.fact).toMatchObject({ request: { omitted: "20014 characters of JSON" } });
  });
});

describe("an operation that nobody carries out", () => {
  it("is UNIMPLEMENTED", async () => {
    const harness = createService();
    const stranger = { ...method.skipGoal, name: "Stranger" };
    await expect(
      harness.operations.call(stranger, acme, { $typeName: "fleet.v1.SkipGoalRequest", robotId: "" }),
    ).rejects.toMatchObject({
      code: "UNIMPLEMENTED",
    });
  });
});
