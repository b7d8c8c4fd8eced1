import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Source } from "../../src/domain/command.ts";
import { belt, mission, missions, OK, plc, presence } from "./commands-harness.ts";
import {
  as,
  eva,
  HELD,
  hold,
  newRig,
  onChain,
  paused,
  refusedOf,
  running,
  scada,
  sent,
} from "./holds-harness.ts";

describe("a hold on a robot", () => {
  it("stops at once what the robot does: its mission, its task chain, its conveyors", async () => {
    const harness = await newRig();
    await harness.see(
      missions("AMR01", 1, running),
      onChain("ROBOT_STATE_EXECUTING"),
      belt("AMR01", 1, 0, "OPERATION_STATE_ROLLING"),
      belt("AMR01", 1, 1, "OPERATION_STATE_STOP"),
      as("stale", belt("AMR01", 1, 2, "OPERATION_STATE_STOP")),
      missions("AMR02", 1, mission("m2", "B")),
    );
    expect(await hold(harness, "AMR01")).toBeNull();
    await harness.clock.settle(50);
    expect(sent(harness)).toEqual(["Halt m1", "Halt 101", "StopBelts 0", "StopBelts 2"]);
  });

  it("HELD: refuses what would move the robot, until every hold is lifted; reads and stops pass", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    await hold(harness, "AMR01", true, scada);
    expect((await harness.send("Go", { robot: "AMR01", to: "A" })).outcome).toMatchObject(HELD);
    expect((await harness.send("RollBelts", { robot: "AMR01" })).outcome).toMatchObject(HELD);
    await harness.see(presence("AMR01", 101));
    expect((await harness.send("Chain", { number: 101 })).outcome).toMatchObject(HELD);
    await harness.send("Look", { robot: "AMR01" });
    await harness.send("StopBelts", { robot: "AMR01" });
    await harness.send("Go", { robot: "AMR02", to: "A" });
    expect(sent(harness)).toEqual(["Look AMR01", "StopBelts AMR01", "Go AMR02"]);
    await hold(harness, "AMR01", false);
    const message = "mqtt:scada holds robot AMR01";
    expect((await harness.send("Skip", { robot: "AMR01" })).outcome).toMatchObject({ code: "HELD", message });
    await hold(harness, "AMR01", false, scada);
    await harness.send("Skip", { robot: "AMR01" });
    expect(sent(harness, 3)).toEqual(["Skip AMR01"]);
  });

  it("HELD: refuses what lets the service pick a robot, which may be the one that is held", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    const start = await harness.send("Confirm", { chain: 9 });
    await harness.call(0).answer({ kind: "ok", responseJson: '{"number":0}', missionId: null });
    const message = "the service picks the robot, and opcua:plc holds robot AMR01: name one";
    expect(start.outcome).toMatchObject({ ...HELD, message });
  });

  it("refuses also what had come before it and has not left, and sends none of it when it is lifted", async () => {
    const harness = await newRig();
    const first = await harness.send("Go", { robot: "AMR01", to: "A" });
    const waiting = await harness.send("Go", { robot: "AMR01", to: "B" });
    expect([harness.call(0).mayLeave(), harness.calls.length]).toEqual([true, 1]);
    await hold(harness, "AMR01");
    await harness.clock.settle(0);
    expect(waiting.outcome).toMatchObject(HELD);
    await hold(harness, "AMR01", false);
    expect(harness.call(0).mayLeave()).toBe(false);
    await harness.call(0).answer({ kind: "not_sent", message: "a stop overtook it", byStop: true });
    expect(first.outcome).toMatchObject(HELD);
    expect(harness.calls).toHaveLength(1);
  });

  it("lets a start that has left come to its end", async () => {
    const harness = await newRig();
    const start = await harness.send("Go", { robot: "AMR01", to: "A" });
    await hold(harness, "AMR01");
    await harness.call(0).answer(OK);
    expect(start.outcome?.outcome).toBe("succeeded");
  });

  it("resumes nothing when it is lifted", async () => {
    const harness = await newRig();
    await harness.see(missions("AMR01", 1, running));
    await hold(harness, "AMR01");
    await harness.call(0).answer(OK);
    await harness.see(missions("AMR01", 2, paused));
    await hold(harness, "AMR01", false);
    await harness.clock.settle(60_000);
    expect(sent(harness)).toEqual(["Halt m1"]);
  });

  it("is audited and told as an event, and its stops are the gateway's, on behalf of the user", async () => {
    const harness = await newRig();
    await harness.see(missions("AMR01", 1, running));
    await hold(harness, "AMR01");
    await hold(harness, "AMR01");
    await harness.call(0).answer(OK);
    await hold(harness, "AMR01", false);
    await hold(harness, "AMR01", false);
    const owner = { protocol: "opcua", user: "plc" };
    expect(harness.audit).toMatchObject([
      { event: "hold", hold: "begun", robot_id: "AMR01", protocol: "opcua", user: "plc", owner },
      { event: "command", protocol: "gateway", user: "fleetgate", on_behalf_of: owner, outcome: "succeeded" },
      { event: "hold", hold: "lifted", robot_id: "AMR01", protocol: "opcua", user: "plc", owner },
    ]);
    expect(harness.audit[1]?.on_behalf_of).toEqual(owner);
    const event = { kind: "hold", robotId: "AMR01", owner: plc, by: plc };
    expect(harness.events.filter(({ kind }) => kind === "hold")).toMatchObject([
      { ...event, eventId: "s1.h1", to: "held" },
      { ...event, eventId: "s1.h2", to: "free" },
    ]);
  });

  it("shows who holds the robot, the longest first, and is counted", async () => {
    const harness = await newRig();
    const { holds } = harness.dispatcher;
    expect(holds.holdState("AMR01")).toEqual({ isHeld: false, by: [], isStored: true });
    await hold(harness, "AMR01", true, scada);
    await hold(harness, "AMR01");
    await hold(harness, null, true, eva);
    await harness.clock.settle(0);
    const by = ["mqtt:scada", "opcua:plc", "opcua:eva (all)"];
    expect(holds.holdState("AMR01")).toEqual({ isHeld: true, by, isStored: true });
    expect(holds.holdState("AMR02")).toEqual({ isHeld: true, by: ["opcua:eva (all)"], isStored: true });
    expect(holds.holdState(null)).toEqual({ isHeld: true, by: ["opcua:eva"], isStored: true });
    expect(harness.dispatcher.health().figures).toMatchObject({ holds: 3, robotsHeld: 1, allRobotsHeld: 1 });
    expect(harness.held).toEqual(expect.arrayContaining(["AMR01", null]));
  });
});

describe("a hold on all robots", () => {
  it("stops every robot, and those that come later", async () => {
    const harness = await newRig();
    await harness.see(missions("AMR01", 1, running), missions("AMR02", 1, mission("m2", "B")));
    expect(await hold(harness, null)).toBeNull();
    await harness.see(missions("AMR03", 1, mission("m3", "C")));
    await harness.clock.settle(50);
    expect([...sent(harness)].sort()).toEqual(["Halt m1", "Halt m2", "Halt m3"]);
    const refused = { outcome: "refused", code: "HELD", message: "opcua:plc holds all robots" };
    expect((await harness.send("Go", { robot: "AMR02", to: "A" })).outcome).toMatchObject(refused);
    const start = await harness.send("Confirm", { chain: 9 });
    await harness.call(3).answer({ kind: "ok", responseJson: '{"number":0}', missionId: null });
    expect(start.outcome).toMatchObject(refused);
  });

  it("lifts no hold of a single robot when it is lifted", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    await hold(harness, null);
    await hold(harness, null, false);
    expect((await harness.send("Go", { robot: "AMR01", to: "A" })).outcome).toMatchObject(HELD);
    await harness.send("Go", { robot: "AMR02", to: "A" });
    expect(sent(harness)).toEqual(["Go AMR02"]);
  });
});

describe("who may hold", () => {
  it("NOT_ALLOWED: an operator of the robot, and of every robot for all; a refusal changes nothing", async () => {
    const harness = await newRig();
    const nobody = { protocol: "mqtt", name: "nobody" } as const;
    expect(await hold(harness, "AMR01", true, nobody)).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'mqtt "nobody" may not command robots, which needs operator: no rule names it, so it may only read; in the configuration, rights: [{source: {protocol: mqtt, name: "nobody"}, role: operator}] would allow it',
    });
    const message = 'mqtt "scada" may not command robots, which needs operator: rights[1] names only AMR01';
    expect(await hold(harness, "AMR02", true, scada)).toMatchObject({ code: "NOT_ALLOWED", message });
    expect(await hold(harness, null, true, scada)).toMatchObject({ code: "NOT_ALLOWED", message });
    expect(harness.dispatcher.holds.holdState("AMR02").isHeld).toBe(false);
    expect(harness.audit.filter(({ outcome }) => outcome !== "refused")).toEqual([]);
  });

  it("NOT_ALLOWED: leaves the lifting of another's hold to engineers, who name the user as it is shown", async () => {
    const harness = await newRig();
    await hold(harness, "AMR01");
    const { holds } = harness.dispatcher;
    const lift = async (source: Source, user: string) =>
      refusedOf(await harness.act("Hold", source, { robot_id: "AMR01", hold: false, user }));
    expect(await lift(scada, "opcua:plc")).toMatchObject({
      code: "NOT_ALLOWED",
      message:
        'mqtt "scada" may not send the end of another\'s hold, which needs engineer: rights[1] makes it operator',
    });
    expect(await lift(eva, "opcua:nobody")).toMatchObject({
      code: "MALFORMED",
      message: 'user: "opcua:nobody" does not hold robot "AMR01"; name one as `by` shows it',
    });
    expect((await harness.act("HoldAll", eva, { hold: false, user: "opcua:plc" })).message).toBe(
      'user: "opcua:plc" does not hold all robots; name one as `by` shows it',
    );
    expect(holds.holdState("AMR01").by).toEqual(["opcua:plc"]);
    expect(await lift(eva, "opcua:plc")).toBeNull();
    expect(holds.holdState("AMR01").isHeld).toBe(false);
    expect(harness.audit.at(-1)).toMatchObject({ hold: "lifted", user: "eva", owner: { user: "plc" } });
    expect(harness.events.at(-1)).toMatchObject({ kind: "hold", to: "free", owner: plc, by: eva });
  });

  it("UNKNOWN_ROBOT: tells a name that no robot has, as soon as it is known that none has", async () => {
    const harness = await newRig();
    expect(harness.dispatcher.holds.refusedName("nope")).toBeNull();
    await harness.clock.settle(10_000);
    expect(harness.dispatcher.holds.refusedName("nope")).toMatchObject({ code: "UNKNOWN_ROBOT" });
    expect(harness.dispatcher.holds.refusedName("AMR01")).toBeNull();
  });
});

it("SHUTTING_DOWN: nothing is held or lifted while the gateway stops", async () => {
  const harness = await newRig();
  await hold(harness, "AMR01");
  await harness.clock.settle(0);
  const closing = harness.dispatcher.close(1_000);
  const refused = { code: "SHUTTING_DOWN", message: "the gateway is shutting down; nothing is changed" };
  expect(await hold(harness, "AMR01", false)).toMatchObject(refused);
  expect(await hold(harness, "AMR02")).toMatchObject(refused);
  await harness.clock.settle(0);
  await closing;
  expect(harness.dispatcher.holds.holdState("AMR01").isHeld).toBe(true);
});

it("QUEUE_FULL: there are only so many holds, whatever names a user makes up", async () => {
  const harness = await newRig();
  for (let robot = 0; robot < 20_000; robot += 1) {
    expect(harness.dispatcher.holds.hold({ source: plc, robotId: `r${robot}`, isHeld: true })).toBeNull();
  }
  const message = "there are already 20000 holds";
  expect(await hold(harness, "one more")).toMatchObject({ code: "QUEUE_FULL", message });
  expect(await hold(harness, "r7")).toBeNull();
});

it("lets stops pass always, and nothing that moves, whoever holds what", async () => {
  const robots = ["AMR01", "AMR02"];
  const steps = fc.array(
    fc.oneof(
      fc.record({
        step: fc.constant("hold" as const),
        robotId: fc.constantFrom(...robots, null),
        isHeld: fc.boolean(),
        source: fc.constantFrom<Source>(plc, eva),
      }),
      fc.record({
        step: fc.constant("send" as const),
        robotId: fc.constantFrom(...robots),
        operation: fc.constantFrom("Go", "RollBelts", "Halt", "StopBelts"),
      }),
    ),
    { maxLength: 30 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const harness = await newRig({ options: { maxQueue: 100 } });
      const { holds } = harness.dispatcher;
      for (const step of list) {
        if (step.step === "hold") {
          expect(await hold(harness, step.robotId, step.isHeld, step.source)).toBeNull();
          continue;
        }
        const { operation, robotId } = step;
        const before = harness.calls.length;
        const command = await harness.send(operation, { robot: robotId });
        const isStop = operation === "Halt" || operation === "StopBelts";
        if (isStop) expect(harness.calls.length).toBe(before + 1);
        else if (holds.holdState(robotId).isHeld) {
          expect(harness.calls.length).toBe(before);
          expect(command.outcome).toMatchObject({ outcome: "refused", code: "HELD" });
        } else expect(harness.calls.length).toBe(before + 1);
        if (harness.calls.length > before) await harness.call(before).answer(OK);
      }
    }),
    { numRuns: 60 },
  );
});
