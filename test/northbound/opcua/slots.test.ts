import { StatusCodes, type VariantOptions } from "node-opcua";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ending, refusal } from "../../../src/domain/outcome.ts";
import type { TicketStore } from "../../../src/northbound/opcua/commands/ticket-store.ts";
import { createMemoryTicketStore } from "../../../src/northbound/opcua/commands/ticket-store.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { mission, missionChange, queueOf, robotChange } from "./changes.ts";
import { createFakeCommander, type FakeCommander, succeeded } from "./fake-commands.ts";
import { type Caller, openSession, type RunningServer, startServer } from "./opcua-bench.ts";

const SLOT = "Robots.AMR01.MissionSlot";
const robots = [{ robotId: "r1", alias: "AMR01", family: "cart", conveyorIndexes: [0] }] as const;
let clock: ManualClock;
let commander: FakeCommander;
let tickets: TicketStore;
let running: RunningServer;
let plc: Caller;

async function start(changed: Parameters<typeof startServer>[1] = {}): Promise<void> {
  running = await startServer({ robots }, { clock, commander, tickets, ...changed });
  plc = await openSession(running.url);
}

async function startAnew(): Promise<void> {
  clock = createManualClock();
  commander = createFakeCommander();
  tickets = createMemoryTicketStore();
  await start();
}

async function stop(): Promise<void> {
  await plc.close();
  await running.stop();
}

function eachWithItsServer(): void {
  beforeEach(startAnew);
  afterEach(stop);
}

const int32 = (value: number): VariantOptions => ({ dataType: "Int32", value });
const text = (value: string): VariantOptions => ({ dataType: "String", value });
const texts = (value: string[]): VariantOptions => ({ dataType: "String", arrayType: "Array", value });
const slot = (name: string) => `${SLOT}.${name}`;

async function nextId(): Promise<number> {
  return (await plc.value(slot("NextId"))) as number;
}

/** Writes a navigate mission and its ticket in one request, the ticket first: its place must not matter. */
async function navigate(ticket: number, destination = "Dock A") {
  return plc.write(
    [slot("RequestId"), int32(ticket)],
    [slot("Operation"), int32(1)],
    [slot("Destination"), text(destination)],
  );
}

async function shown(...names: string[]): Promise<unknown[]> {
  return Promise.all(names.map((name) => plc.value(slot(name))));
}

describe("a mission slot", () => {
  eachWithItsServer();

  it("takes a ticket once and shows each step until DoneId is its number", async () => {
    const ticket = await nextId();
    expect(await navigate(ticket)).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    const sent = await commander.next();
    expect(sent.command).toMatchObject({
      source: { door: "opcua", name: "anonymous" },
      operation: "CreateMission",
      robotId: "r1",
      startByMs: clock.nowMs() + 10_000,
    });
    expect(JSON.parse(sent.command.requestJson)).toEqual({
      robotId: "r1",
      mission: { cartMission: { navigateMission: { goal: { destinationId: "Dock A" } } } },
    });
    expect(await shown("NextId", "AcceptedId", "Outcome")).toEqual([0, 0, 0]);
    sent.stage("accepted");
    expect(await shown("AcceptedId", "Outcome", "DoneId")).toEqual([ticket, 1, 0]);
    sent.stage("sent");
    expect(await shown("AcceptedId", "Outcome", "DoneId")).toEqual([ticket, 2, 0]);
    sent.end(succeeded("m-77"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "ErrorText", "MissionId", "RetrySafe")).toEqual([
      3,
      0,
      "",
      "m-77",
      true,
    ]);
    expect(await nextId()).not.toBe(ticket);
  });

  it("does nothing when the number that was taken is written again and again", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-1"));
    await plc.until(slot("DoneId"), ticket);
    for (let times = 0; times < 3; times += 1) {
      expect(await plc.write([slot("RequestId"), int32(ticket)])).toEqual([StatusCodes.Good]);
    }
    clock.advance(120_000);
    expect(await plc.write([slot("RequestId"), int32(ticket)])).toEqual([StatusCodes.Good]);
    expect(commander.submitted).toHaveLength(1);
    expect(await shown("DoneId", "Outcome")).toEqual([ticket, 3]);
  });

  it("never gives two commands the same request id", async () => {
    for (const missionId of ["m-1", "m-2"]) {
      const ticket = await nextId();
      await navigate(ticket);
      (await commander.next()).end(succeeded(missionId));
      await plc.until(slot("DoneId"), ticket);
    }
    const ids = commander.submitted.map((entry) => entry.command.requestId);
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) expect(id).toContain(SLOT);
  });

  it("refuses a number out of turn, and says which", async () => {
    const wrong = ((await nextId()) % 32_767) + 1;
    expect((await navigate(wrong))[0]).toBe(StatusCodes.Good);
    expect(await shown("RejectedId", "ErrorId", "AcceptedId", "DoneId")).toEqual([wrong, 1012, 0, 0]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("replaces an unused ticket every 30 s, and takes the one before once more", async () => {
    const first = await nextId();
    clock.advance(31_000);
    const second = await nextId();
    expect(second).not.toBe(first);
    clock.advance(31_000);
    await navigate(first);
    expect(await shown("RejectedId")).toEqual([first]);
    await navigate(second);
    expect((await commander.next()).command.operation).toBe("CreateMission");
  });

  it("withdraws an unused ticket when 0 is written", async () => {
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(0)]);
    expect(await nextId()).not.toBe(ticket);
    await navigate(ticket);
    expect(await shown("RejectedId")).toEqual([ticket]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("shows a refusal as final, with its number and text", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(refusal("FAILED_PRECONDITION", "the robot is on a mission", false));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("AcceptedId", "Outcome", "ErrorId", "ErrorText", "RetrySafe")).toEqual([
      ticket,
      4,
      9,
      "the robot is on a mission",
      false,
    ]);
  });

  it("cuts a long explanation, not a text that means something", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(ending("unknown", "OUTCOME_UNKNOWN", "é".repeat(400), false));
    await plc.until(slot("DoneId"), ticket);
    const [explanation, outcome] = await shown("ErrorText", "Outcome");
    expect(Buffer.byteLength(String(explanation))).toBeLessThanOrEqual(254);
    expect(outcome).toBe(6);
  });

  it("ends a command that the gateway failed at as unknown", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).fail(new Error("planted"));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId", "RetrySafe")).toEqual([6, 1099, false]);
  });

  it("refuses parameters that make no command, and sends nothing", async () => {
    const ticket = await nextId();
    expect(await navigate(ticket, "")).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
      ticket,
      4,
      1000,
      "Destination is empty",
    ]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("sends a route, and refuses one with a gap", async () => {
    await plc.write([slot("Operation"), int32(3)], [slot("Destinations"), texts(["A", "", "C"])]);
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect(await shown("Outcome", "ErrorText")).toEqual([
      4,
      "Destinations[1] is empty, and a later one is not",
    ]);
    await plc.write([slot("Destinations"), texts(["A", "B"])], [slot("RequestId"), int32(await nextId())]);
    const sent = await commander.next();
    expect(JSON.parse(sent.command.requestJson).mission.cartMission).toEqual({
      traverseMission: { goals: [{ destinationId: "A" }, { destinationId: "B" }] },
    });
  });

  it("cancels the robot's current mission unless another is named", async () => {
    await plc.write([slot("Operation"), int32(10)], [slot("RequestId"), int32(await nextId())]);
    expect(await shown("Outcome", "ErrorId")).toEqual([4, 1000]);
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m-5")))], notices: [] });
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect(JSON.parse((await commander.next()).command.requestJson)).toEqual({
      robotId: "r1",
      missionCommand: { missionId: "m-5", command: "COMMAND_CANCEL" },
    });
  });

  it("follows the mission that it made", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-9"));
    await plc.until(slot("DoneId"), ticket);
    expect((await plc.read(slot("MissionState"))).statusCode).not.toBe(StatusCodes.Good);
    const arrived = mission("m-9", { feedback: { family: "cart", status: "STATUS_ARRIVED" } });
    running.server.write({
      changes: [missionChange("r1", queueOf(arrived, mission("foreign")))],
      notices: [],
    });
    expect(await shown("MissionState", "GoalIndex", "Arrived")).toEqual([2, 1, true]);
    const done = mission("m-9", { state: "STATE_SUCCEEDED" });
    running.server.write({ changes: [missionChange("r1", queueOf(done))], notices: [] });
    expect(await shown("MissionState", "Arrived")).toEqual([5, false]);
    running.server.write({ changes: [missionChange("r1", queueOf(done), "stale")], notices: [] });
    expect((await plc.read(slot("MissionState"))).statusCode).toBe(StatusCodes.UncertainLastUsableValue);
  });
});

describe("values that cannot be", () => {
  beforeAll(startAnew);
  afterAll(stop);

  it.each([
    ["a string as a number", "Operation", text("1"), StatusCodes.BadTypeMismatch],
    [
      "a wider number",
      "Operation",
      { dataType: "Int64", arrayType: "Scalar", value: [0, 1] },
      StatusCodes.BadTypeMismatch,
    ],
    ["an operation that is none", "Operation", int32(99), StatusCodes.BadOutOfRange],
    ["a number as a string", "Destination", int32(1), StatusCodes.BadTypeMismatch],
    ["an array as a scalar", "Destination", texts(["A"]), StatusCodes.BadTypeMismatch],
    ["a scalar as an array", "Destinations", text("A"), StatusCodes.BadTypeMismatch],
    ["a text that is too long", "Destination", text("x".repeat(255)), StatusCodes.BadOutOfRange],
    ["too many destinations", "Destinations", texts(new Array(17).fill("A")), StatusCodes.BadOutOfRange],
    ["a long text in an array", "Destinations", texts(["x".repeat(255)]), StatusCodes.BadOutOfRange],
    ["a ticket of another type", "RequestId", text("1"), StatusCodes.BadTypeMismatch],
    ["a ticket below 0", "RequestId", int32(-1), StatusCodes.BadOutOfRange],
    ["a ticket above the last", "RequestId", int32(32_768), StatusCodes.BadOutOfRange],
  ] as const)("%s is refused with a status code", async (_what, name, value, status) => {
    const before = await plc.value(slot(name));
    expect(await plc.write([slot(name), value as VariantOptions])).toEqual([status]);
    expect(await plc.value(slot(name))).toEqual(before);
    expect(commander.submitted).toHaveLength(0);
  });
});

describe("a refused value", () => {
  eachWithItsServer();

  it.each(["in one request", "one after the other"])(
    "starts nothing when a ticket follows it %s",
    async (how) => {
      const sentBefore = commander.submitted.length;
      await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
      const ticket = await nextId();
      const wrong = [slot("Destination"), text("x".repeat(255))] as const;
      const request = [slot("RequestId"), int32(ticket)] as const;
      if (how === "in one request") await plc.write(request, wrong);
      else {
        await plc.write(wrong);
        await plc.write(request);
      }
      expect(await shown("DoneId", "Outcome", "ErrorId")).toEqual([ticket, 4, 1000]);
      expect(await plc.value(slot("ErrorText"))).toContain("MissionSlot.Destination was refused");
      expect(commander.submitted).toHaveLength(sentBefore);
      await navigate(await nextId());
      await commander.next();
    },
  );
});

describe("two writers", () => {
  eachWithItsServer();

  it("keep a running command's parameters from others", async () => {
    const other = await openSession(running.url);
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    sent.stage("accepted");
    expect(await other.write([slot("Destination"), text("elsewhere")])).toEqual([
      StatusCodes.BadUserAccessDenied,
    ]);
    expect(await other.write([slot("RequestId"), int32(1)])).toEqual([StatusCodes.BadUserAccessDenied]);
    expect(await plc.write([slot("Destination"), text("Dock B")])).toEqual([StatusCodes.Good]);
    sent.end(succeeded("m-1"));
    await plc.until(slot("DoneId"), ticket);
    expect(await other.write([slot("Destination"), text("elsewhere")])).toEqual([StatusCodes.Good]);
    await other.close();
  });

  it("give the ticket to one of them", async () => {
    const other = await openSession(running.url);
    const ticket = await nextId();
    const [mine, theirs] = await Promise.all([
      plc.write(
        [slot("Operation"), int32(1)],
        [slot("Destination"), text("A")],
        [slot("RequestId"), int32(ticket)],
      ),
      other.write(
        [slot("Operation"), int32(1)],
        [slot("Destination"), text("B")],
        [slot("RequestId"), int32(ticket)],
      ),
    ]);
    await commander.next();
    expect(commander.submitted).toHaveLength(1);
    const won = commander.submitted[0]?.command.requestJson.includes('"A"') === true ? mine : theirs;
    const lost = won === mine ? theirs : mine;
    expect(won[2]).toBe(StatusCodes.Good);
    expect(lost[2]).toBe(StatusCodes.BadUserAccessDenied);
    await other.close();
  });

  it("void a user's unused ticket when that user comes again", async () => {
    await plc.write([slot("RequestId"), int32(0)]);
    const ticket = await nextId();
    const again = await openSession(running.url);
    expect(await nextId()).not.toBe(ticket);
    await again.close();
  });
});

describe("a restart", () => {
  eachWithItsServer();

  it("ends the running command with what the journal knows", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    sent.stage("accepted");
    await plc.until(slot("AcceptedId"), ticket);
    await plc.close();
    await running.stop();
    const recalled: string[] = [];
    await start({
      records: {
        async recall(source, requestId) {
          recalled.push(`${source.name} ${requestId}`);
          return { ...succeeded("m-3"), duplicate: true };
        },
      },
    });
    await plc.until(slot("DoneId"), ticket);
    expect(recalled).toEqual([`anonymous ${sent.command.requestId}`]);
    expect(await shown("AcceptedId", "Outcome", "MissionId")).toEqual([ticket, 3, "m-3"]);
    expect(commander.submitted).toHaveLength(1);
  });

  it("forgets a ticket whose command never reached the journal", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    await commander.next();
    await plc.close();
    await running.stop();
    await start();
    await plc.until(slot("AcceptedId"), 0);
    expect(await nextId()).not.toBe(ticket);
    await navigate(ticket);
    expect(await shown("RejectedId")).toEqual([ticket]);
    expect(commander.submitted).toHaveLength(1);
  });
});

describe("a conveyor slot", () => {
  eachWithItsServer();

  it("turns a motor", async () => {
    running.server.write({ changes: [robotChange("r1", "good")], notices: [] });
    const conveyor = "Robots.AMR01.ConveyorSlot";
    const ticket = (await plc.value(`${conveyor}.NextId`)) as number;
    const statuses = await plc.write(
      [`${conveyor}.ConveyorIndex`, int32(0)],
      [`${conveyor}.MotorCommand`, int32(2)],
      [`${conveyor}.RequestId`, int32(ticket)],
    );
    expect(statuses).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("ControlConveyor");
    expect(JSON.parse(sent.command.requestJson)).toEqual({
      robotId: "r1",
      commands: [{ index: 0, command: "COMMAND_CONVEYOR_MOTOR_CW" }],
    });
    sent.end(succeeded(null));
    await plc.until(`${conveyor}.DoneId`, ticket);
    expect(await plc.write([`${conveyor}.MotorCommand`, int32(4)])).toEqual([StatusCodes.BadOutOfRange]);
  });
});
