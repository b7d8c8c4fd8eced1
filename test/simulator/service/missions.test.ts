import type { MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import {
  MissionCommand_Command as Command,
  type MissionSchema,
} from "../../../src/wire/fleet/v1/mission_pb.js";
import { FleetService } from "../../../src/wire/fleet/v1/service_pb.js";
import { baseTo, cartTo, createService, globex, goals, type ServiceHarness } from "./service-harness.ts";

const { method } = FleetService;
type Request = { robotId: string; mission?: MissionInit };
type MissionInit = MessageInitShape<typeof MissionSchema>;

const cart = (mission: object): MissionInit => ({
  mission: { case: "cartMission", value: { mission } as never },
});
const serve = (mission: object): MissionInit => ({
  mission: { case: "serveMission", value: { mission } as never },
});
const pose = (xMeters: number, yMeters: number, headingRadians = 0) => ({
  goal: { case: "pose" as const, value: { xMeters, yMeters, headingRadians } },
});

describe.each([
  [
    "CreateMission",
    (harness: ServiceHarness, request: Request) => harness.codeOf(method.createMission, request),
  ],
  [
    "AppendMission",
    (harness: ServiceHarness, request: Request) => harness.codeOf(method.appendMission, request),
  ],
] as const)("%s", (name, codeOf) => {
  const malformed: Record<string, MissionInit | undefined> = {
    "no mission": undefined,
    "an unset mission": {},
    "an unset base mission": { mission: { case: "baseMission", value: {} } },
    "an unset cart mission": cart({ case: undefined }),
    "an unset serve mission": serve({ case: undefined }),
    "no goal": cart({ case: "navigateMission", value: {} }),
    "an unset goal": cart({ case: "navigateMission", value: { goal: {} } }),
    "no goals": cart({ case: "traverseMission", value: { goals: [] } }),
    "an empty goal": cartTo(""),
    "an unset goal among goals": cart({
      case: "traverseMission",
      value: { goals: [...goals("Station A"), {}] },
    }),
    "an unknown destination": cartTo("Nowhere"),
    "a code where the point has an alias": cartTo("S-A"),
    "a pose outside the map": cart({ case: "navigateMission", value: { goal: pose(-0.5, 0) } }),
    "a pose that is no number": cart({ case: "navigateMission", value: { goal: pose(Number.NaN, 0) } }),
    "a heading that is no number": cart({
      case: "navigateMission",
      value: { goal: pose(1, 1, Number.POSITIVE_INFINITY) },
    }),
    "another family's mission": serve({ case: "navigateMission", value: { goal: goals("Station A")[0] } }),
    "an extension": { ...cartTo("Station A"), extension: { typeUrl: "x/y", value: new Uint8Array() } },
  };

  it.each(Object.entries(malformed))("INVALID_ARGUMENT: %s", async (_name, mission) => {
    const harness = createService();
    if (name === "AppendMission")
      await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station B") });
    const { missions } = harness.world.robots.get("cart") ?? { missions: [] };
    const count = missions.length;
    expect(
      await codeOf(harness, mission === undefined ? { robotId: "cart" } : { robotId: "cart", mission }),
    ).toBe("INVALID_ARGUMENT");
    expect(harness.world.robots.get("cart")?.missions).toHaveLength(count);
  });

  it("checks shape, then owner, then family, then the goals", async () => {
    const harness = createService();
    const code = (robotId: string, mission: MissionInit) => codeOf(harness, { robotId, mission });
    expect(await code("", cartTo("Station A"))).toBe("INVALID_ARGUMENT");
    expect(await code("foreign", {})).toBe("INVALID_ARGUMENT");
    expect(await code("foreign", cartTo("Nowhere"))).toBe("PERMISSION_DENIED");
    expect(await code("nobody", cartTo("Station A"))).toBe("NOT_FOUND");
    expect(await code("serve", cartTo("Station A"))).toBe("INVALID_ARGUMENT");
  });
});

describe("CreateMission", () => {
  const kinds: Array<[string, string, MissionInit]> = [
    ["cart", "cart.traverse", cart({ case: "traverseMission", value: { goals: goals("Station A") } })],
    [
      "cart",
      "cart.traverse-patrol",
      cart({ case: "traversePatrolMission", value: { goals: goals("Station A") } }),
    ],
    ["cart", "cart.navigate", cartTo("Station A")],
    [
      "cart",
      "cart.navigate-auto",
      cart({ case: "navigateAutoMission", value: { goals: goals("Station A") } }),
    ],
    ["serve", "serve.serving", serve({ case: "deliveryMission", value: { goals: goals("Station A") } })],
    [
      "serve",
      "serve.serving-patrol",
      serve({ case: "deliveryPatrolMission", value: { goals: goals("Station A") } }),
    ],
    ["serve", "serve.bussing", serve({ case: "bussingMission", value: { goals: goals("Station A") } })],
    [
      "serve",
      "serve.bussing-patrol",
      serve({ case: "bussingPatrolMission", value: { goals: goals("Station A") } }),
    ],
    ["serve", "serve.navigate", serve({ case: "navigateMission", value: { goal: goals("Station A")[0] } })],
    [
      "serve",
      "serve.navigate-auto",
      serve({ case: "navigateAutoMission", value: { goals: goals("Station A") } }),
    ],
    ["base", "base.navigate", baseTo("Station A")],
    ["cart", "base.navigate", baseTo("Station A")],
    ["serve", "base.navigate", baseTo("Station A")],
  ];

  it.each(kinds)("a %s takes %s", async (robotId, kind, mission) => {
    const harness = createService();
    const { missionId } = await harness.call(method.createMission, { robotId, mission });
    expect(harness.world.robots.get(robotId)?.missions).toMatchObject([
      { id: missionId, kind, status: "running", owner: "api" },
    ]);
  });

  it("takes a pose on the map", async () => {
    const harness = createService();
    const mission = cart({ case: "navigateMission", value: { goal: pose(2, 10, 1) } });
    expect(await harness.codeOf(method.createMission, { robotId: "cart", mission })).toBe("OK");
    harness.clock.advance(3_000);
    expect(harness.world.robots.get("cart")?.body).toMatchObject({ place: { x: 2, y: 10 }, heading: 1 });
  });

  it("looks at the goals of trays too", async () => {
    const harness = createService();
    const withTray = (name: string) =>
      serve({
        case: "deliveryMission",
        value: {
          goals: goals("Station A"),
          params: { trayMappings: [{ trayName: "top", goal: goals(name)[0] }] },
        },
      });
    const code = (name: string) =>
      harness.codeOf(method.createMission, { robotId: "serve", mission: withTray(name) });
    expect(await code("Nowhere")).toBe("INVALID_ARGUMENT");
    expect(await code("Station B")).toBe("OK");
  });

  it("FAILED_PRECONDITION while a mission runs or is paused, and not once it is over", async () => {
    const harness = createService();
    const start = () =>
      harness.codeOf(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: cartTo("Station A"),
    });
    expect(await start()).toBe("FAILED_PRECONDITION");
    const pause = { robotId: "cart", missionCommand: { missionId, command: Command.PAUSE } };
    await harness.call(method.updateMission, pause);
    expect(await start()).toBe("FAILED_PRECONDITION");
    const cancel = { robotId: "cart", missionCommand: { missionId, command: Command.CANCEL } };
    await harness.call(method.updateMission, cancel);
    expect(await start()).toBe("OK");
  });

  it("of two at once for a robot one is taken and one refused", async () => {
    const harness = createService({ confirmMs: 20 });
    const start = () =>
      harness.codeOf(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    const both = Promise.all([start(), start()]);
    await harness.clock.settle(20);
    expect((await both).sort()).toEqual(["FAILED_PRECONDITION", "OK"]);
  });

  it("a navigate-auto without a free goal is OK, with a mission that failed", async () => {
    const harness = createService();
    await harness.call(method.createMission, { robotId: "base", mission: baseTo("Station A") });
    const mission = cart({ case: "navigateAutoMission", value: { goals: goals("Station A") } });
    const { missionId } = await harness.call(method.createMission, { robotId: "cart", mission });
    expect(harness.world.robots.get("cart")?.missions).toMatchObject([{ id: missionId, status: "failed" }]);
  });
});

describe("AppendMission", () => {
  it("FAILED_PRECONDITION without a mission in the queue, and after the last is over", async () => {
    const harness = createService();
    const append = () =>
      harness.codeOf(method.appendMission, { robotId: "cart", mission: cartTo("Station A") });
    expect(await append()).toBe("FAILED_PRECONDITION");
    await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    expect(await append()).toBe("OK");
    harness.clock.advance(60_000);
    expect(await append()).toBe("FAILED_PRECONDITION");
  });
});

describe("UpdateMission", () => {
  it("INVALID_ARGUMENT: no command, an unset or unknown one, no id", async () => {
    const harness = createService();
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: cartTo("Station A"),
    });
    const code = (missionCommand?: object) =>
      harness.codeOf(
        method.updateMission,
        missionCommand === undefined ? { robotId: "cart" } : { robotId: "cart", missionCommand },
      );
    expect(await code()).toBe("INVALID_ARGUMENT");
    expect(await code({ missionId })).toBe("INVALID_ARGUMENT");
    expect(await code({ missionId, command: 77 })).toBe("INVALID_ARGUMENT");
    expect(await code({ command: Command.CANCEL })).toBe("INVALID_ARGUMENT");
    expect(await code({ missionId: "another", command: Command.CANCEL })).toBe("INVALID_ARGUMENT");
    expect(await code({ missionId, command: Command.CANCEL })).toBe("OK");
  });

  it("answers for foreign and unknown robots, queued and finished missions", async () => {
    const harness = createService();
    const code = (robotId: string, missionId: string) =>
      harness.codeOf(method.updateMission, {
        robotId,
        missionCommand: { missionId, command: Command.FINISH },
      });
    expect(await code("foreign", "x")).toBe("PERMISSION_DENIED");
    expect(await code("nobody", "x")).toBe("NOT_FOUND");
    expect(await code("cart", "x")).toBe("FAILED_PRECONDITION");
    const first = await harness.call(method.createMission, { robotId: "cart", mission: cartTo("Station A") });
    const second = await harness.call(method.appendMission, {
      robotId: "cart",
      mission: cartTo("Station B"),
    });
    expect(await code("cart", second.missionId)).toBe("NOT_FOUND");
    expect(await code("cart", first.missionId)).toBe("OK");
    expect(await code("cart", first.missionId)).toBe("FAILED_PRECONDITION");
    expect(await code("cart", second.missionId)).toBe("OK");
  });
});

describe("CreateMissionWorkflow", () => {
  const serveWorkflow = (workflow: object) => ({
    workflow: { case: "serveWorkflow" as const, value: { workflow } as never },
  });
  const cartWorkflow = (workflow: object) => ({
    workflow: { case: "cartWorkflow" as const, value: { workflow } as never },
  });
  const both = { goals: goals("Station A", "Station B") };

  it.each([
    ["serve", serveWorkflow({ case: "delivery", value: both }), ["serve.serving", "serve.navigate"]],
    [
      "serve",
      serveWorkflow({ case: "deliveryPatrol", value: both }),
      ["serve.serving-patrol", "serve.navigate"],
    ],
    ["serve", serveWorkflow({ case: "bussing", value: both }), ["serve.bussing", "serve.navigate"]],
    [
      "serve",
      serveWorkflow({ case: "bussingPatrol", value: both }),
      ["serve.bussing-patrol", "serve.navigate"],
    ],
    [
      "serve",
      serveWorkflow({ case: "birthday", value: { goal: goals("Station A")[0] } }),
      ["serve.serving", "serve.navigate"],
    ],
    [
      "serve",
      serveWorkflow({ case: "hosting", value: both }),
      ["serve.navigate", "serve.navigate", "serve.navigate"],
    ],
    [
      "serve",
      serveWorkflow({ case: "hostingPatrol", value: both }),
      ["serve.hosting-patrol", "serve.navigate"],
    ],
    ["cart", cartWorkflow({ case: "traverse", value: both }), ["cart.traverse", "cart.navigate"]],
    [
      "cart",
      cartWorkflow({ case: "traversePatrol", value: both }),
      ["cart.traverse-patrol", "cart.navigate"],
    ],
  ])(
    "%s: %j makes its missions in order, the last a return home",
    async (robotId, missionWorkflow, kinds) => {
      const harness = createService();
      const { missionIds } = await harness.call(method.createMissionWorkflow, { robotId, missionWorkflow });
      const robot = harness.world.robots.get(robotId);
      expect(robot?.missions.map(({ id }) => id)).toEqual(missionIds);
      expect(robot?.missions.map(({ kind }) => kind)).toEqual(kinds);
      expect(robot?.missions.map(({ status }) => status)).toEqual([
        "running",
        ...kinds.slice(1).map(() => "default"),
      ]);
      expect(robot?.missions.at(-1)?.targets[0]?.vertex).toBe(robot?.home);
    },
  );

  it("refuses what is malformed, foreign, of another family, or comes too soon", async () => {
    const harness = createService();
    const code = (robotId: string, missionWorkflow?: object) =>
      harness.codeOf(
        method.createMissionWorkflow,
        missionWorkflow === undefined ? { robotId } : { robotId, missionWorkflow },
      );
    const traverse = cartWorkflow({ case: "traverse", value: both });
    expect(await code("cart")).toBe("INVALID_ARGUMENT");
    expect(await code("cart", {})).toBe("INVALID_ARGUMENT");
    expect(await code("cart", cartWorkflow({ case: undefined }))).toBe("INVALID_ARGUMENT");
    expect(await code("serve", serveWorkflow({ case: "birthday", value: {} }))).toBe("INVALID_ARGUMENT");
    expect(await code("cart", cartWorkflow({ case: "traverse", value: { goals: [] } }))).toBe(
      "INVALID_ARGUMENT",
    );
    expect(await code("", traverse)).toBe("INVALID_ARGUMENT");
    expect(await code("base", traverse)).toBe("INVALID_ARGUMENT");
    expect(await code("serve", traverse)).toBe("INVALID_ARGUMENT");
    expect(await code("foreign", traverse)).toBe("PERMISSION_DENIED");
    expect(await code("nobody", traverse)).toBe("NOT_FOUND");
    expect(await code("cart", traverse)).toBe("OK");
    expect(await code("cart", traverse)).toBe("FAILED_PRECONDITION");
  });
});

describe("SkipGoal and ChargeRobot", () => {
  it("SkipGoal answers the mission's id, and refuses without a running mission", async () => {
    const harness = createService();
    const code = (robotId: string) => harness.codeOf(method.skipGoal, { robotId });
    expect(await code("")).toBe("INVALID_ARGUMENT");
    expect(await code("foreign")).toBe("PERMISSION_DENIED");
    expect(await code("nobody")).toBe("NOT_FOUND");
    expect(await code("cart")).toBe("FAILED_PRECONDITION");
    const { missionId } = await harness.call(method.createMission, {
      robotId: "cart",
      mission: cartTo("Station A"),
    });
    expect(await harness.call(method.skipGoal, { robotId: "cart" })).toMatchObject({ missionId });
  });

  it("ChargeRobot drives to the contact dock, and refuses without one or while a mission runs", async () => {
    const harness = createService();
    const code = (robotId: string) => harness.codeOf(method.chargeRobot, { robotId });
    expect(await code("")).toBe("INVALID_ARGUMENT");
    expect(await code("foreign")).toBe("PERMISSION_DENIED");
    expect(await code("nobody")).toBe("NOT_FOUND");
    expect(await code("serve")).toBe("INVALID_ARGUMENT");
    const { missionId } = await harness.call(method.chargeRobot, { robotId: "cart" });
    expect(harness.world.robots.get("cart")?.missions).toMatchObject([
      { id: missionId, kind: "charge", owner: "api" },
    ]);
    expect(await code("cart")).toBe("FAILED_PRECONDITION");
  });
});

describe("conveyors", () => {
  const command = (robotId: string, ...commands: Array<{ index?: number; command?: number }>) => ({
    robotId,
    commands,
  });

  it("GetConveyorIndex answers the installed indexes of a cart", async () => {
    const harness = createService();
    expect(await harness.call(method.getConveyorIndex, { robotId: "cart" })).toMatchObject({
      indexes: [1, 2],
    });
    expect(await harness.codeOf(method.getConveyorIndex, { robotId: "serve" })).toBe("INVALID_ARGUMENT");
    expect(await harness.codeOf(method.getConveyorIndex, { robotId: "" })).toBe("INVALID_ARGUMENT");
    expect(await harness.codeOf(method.getConveyorIndex, { robotId: "nobody" })).toBe("NOT_FOUND");
    expect(await harness.codeOf(method.getConveyorIndex, { robotId: "cart" }, globex)).toBe(
      "PERMISSION_DENIED",
    );
  });

  it("ControlConveyor refuses what is malformed, foreign, of another family, or not installed", async () => {
    const harness = createService();
    const code = (request: ReturnType<typeof command>) => harness.codeOf(method.controlConveyor, request);
    expect(await code(command("cart"))).toBe("INVALID_ARGUMENT");
    expect(await code(command("cart", { index: 1 }))).toBe("INVALID_ARGUMENT");
    expect(await code(command("cart", { index: 1, command: 9 }))).toBe("INVALID_ARGUMENT");
    expect(await code(command("cart", { command: 2 }))).toBe("INVALID_ARGUMENT");
    expect(await code(command("cart", { index: 1, command: 2 }, { index: 3, command: 2 }))).toBe(
      "INVALID_ARGUMENT",
    );
    expect(await code(command("cart", { index: 1, command: 2 }, { index: 1, command: 1 }))).toBe(
      "INVALID_ARGUMENT",
    );
    expect(await code(command("serve", { index: 1, command: 2 }))).toBe("INVALID_ARGUMENT");
    expect(await code(command("foreign", { index: 1, command: 2 }))).toBe("PERMISSION_DENIED");
    expect(await code(command("nobody", { index: 1, command: 2 }))).toBe("NOT_FOUND");
    expect(harness.world.robots.get("cart")?.conveyors.map(({ motor }) => motor)).toEqual(["stop", "stop"]);
    expect(await code(command("cart", { index: 1, command: 2 }, { index: 2, command: 3 }))).toBe("OK");
    expect(harness.world.robots.get("cart")?.conveyors.map(({ motor }) => motor)).toEqual(["cw", "ccw"]);
    harness.happen({ robotId: "cart", kind: "conveyor-health", index: 1, ok: false });
    expect(await code(command("cart", { index: 1, command: 2 }))).toBe("FAILED_PRECONDITION");
  });
});
