import { StatusCodes, type VariantOptions } from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mission, missionChange, queueOf } from "./changes.ts";
import { succeeded } from "./fake-commands.ts";
import { openSession } from "./opcua-harness.ts";
import {
  closed,
  commander,
  eachWithItsServer,
  int32,
  navigate,
  nextId,
  plc,
  running,
  shown,
  slot,
  start,
  startAnew,
  stop,
  text,
  texts,
} from "./slots-harness.ts";

describe("values that cannot be", () => {
  beforeAll(() => startAnew());
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
    ["a ticket without a counterpart", "RequestId", int32(-2_147_483_648), StatusCodes.BadOutOfRange],
    ["a command that begins with no number", "CommandText", text("one;1;Dock A"), StatusCodes.BadOutOfRange],
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
      await plc.write([slot("Operation"), int32(1)]);
      const ticket = await nextId();
      const wrong = [slot("Destination"), text("x".repeat(255))] as const;
      const request = [slot("RequestId"), int32(ticket)] as const;
      if (how === "in one request") await plc.write(request, wrong);
      else {
        await plc.write(wrong);
        await plc.write(request);
      }
      expect(await shown("DoneId", "Outcome", "ErrorId")).toEqual([ticket, 4, 1000]);
      const path = "Robots.AMR01.MissionSlot.Destination";
      const emptied = `a refused write to ${path} emptied the session's parameters`;
      expect(await plc.value(slot("ErrorText"))).toBe(
        `Operation is missing: this session has not written it; ${emptied}`,
      );
      expect(commander.submitted).toHaveLength(sentBefore);
      await navigate(await nextId());
      await commander.next();
    },
  );
});

describe("a refused value that the command does not use", () => {
  eachWithItsServer();

  const wrongRoute = [slot("Destinations"), texts(new Array(17).fill("A"))] as const;
  const wrongTarget = [slot("TargetMissionId"), text("x".repeat(255))] as const;

  it.each([10, 11])("does not hold back the stop of Operation %i", async (operation) => {
    const statuses = await plc.write(
      wrongRoute,
      [slot("Destination"), int32(1)],
      [slot("DestinationNo"), int32(-1)],
      [slot("TargetMissionId"), text("m-1")],
      [slot("Operation"), int32(operation)],
    );
    expect(statuses.map((status) => status.isGood())).toEqual([false, false, false, true, true]);
    await plc.write([slot("RequestId"), int32(await nextId())]);
    const { command } = await commander.next();
    expect(command.operation).toBe("UpdateMission");
    expect(command.requestJson).toContain('"m-1"');
  });

  it("does not hold back a mission", async () => {
    await plc.write(wrongTarget);
    await navigate(await nextId());
    expect((await commander.next()).command.operation).toBe("CreateMission");
  });

  const dock = [slot("Destination"), text("Dock A")] as const;
  it.each([
    ["the mission that a stop names", wrongTarget, [[slot("Operation"), int32(10)]]],
    ["the operation", [slot("Operation"), int32(99)], [dock]],
    ["the route of a mission", wrongRoute, [[slot("Operation"), int32(2)], dock]],
    ["a route, though the mission has one destination,", wrongRoute, [[slot("Operation"), int32(1)], dock]],
  ] as const)("but %s does, also when all others are written again", async (_what, wrong, others) => {
    await plc.write(wrong);
    const ticket = await nextId();
    await plc.write(...others, [slot("RequestId"), int32(ticket)]);
    expect(await shown("DoneId", "Outcome", "ErrorId")).toEqual([ticket, 4, 1000]);
    expect(await plc.value(slot("ErrorText"))).toBe(`the last write to ${wrong[0]} was refused`);
    expect(commander.submitted).toHaveLength(0);
  });
});

describe("two sessions", () => {
  eachWithItsServer();

  it("have parameters of their own: no ticket carries another's", async () => {
    const other = await openSession(running.url);
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    await other.write([slot("Destination"), text("Dock C")], [slot("DestinationNo"), int32(2)]);
    await other.write([slot("TargetMissionId"), text("m-9")]);
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect((await commander.next()).command.requestJson).toContain("Dock A");
    await other.close();
  });

  it("begin without any: an earlier session of the same user leaves nothing", async () => {
    await plc.write([slot("Operation"), int32(1)], [slot("Destination"), text("Dock A")]);
    const other = await openSession(running.url);
    const ticket = await nextId();
    await other.write([slot("RequestId"), int32(ticket)]);
    expect(await shown("DoneId", "Outcome", "ErrorText")).toEqual([
      ticket,
      4,
      "Operation is missing: this session has not written it",
    ]);
    expect(commander.submitted).toHaveLength(0);
    await other.close();
  });

  it("get one ticket, and see whose it is", async () => {
    const other = await openSession(running.url);
    const ticket = await nextId();
    const command = (destination: string) =>
      [
        [slot("Operation"), int32(1)],
        [slot("Destination"), text(destination)],
        [slot("RequestId"), int32(ticket)],
      ] as const;
    const both = await Promise.all([plc.write(...command("A")), other.write(...command("B"))]);
    for (const statuses of both) expect(statuses).toEqual(new Array(3).fill(StatusCodes.Good));
    (await commander.next()).stage("accepted");
    expect(commander.submitted).toHaveLength(1);
    expect(await shown("AcceptedId", "AcceptedBy", "RejectedId")).toEqual([ticket, "anonymous", 0]);
    await other.close();
  });

  it("may write while a command runs: it has been taken", async () => {
    const other = await openSession(running.url);
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    expect(await other.write([slot("Destination"), text("elsewhere")])).toEqual([StatusCodes.Good]);
    sent.end(succeeded("m-1"));
    await plc.until(slot("DoneId"), ticket);
    expect(sent.command.requestJson).toContain("Dock A");
    await other.close();
  });
});

describe("TargetMissionId", () => {
  eachWithItsServer();

  it("serves one ticket", async () => {
    running.server.write({ changes: [missionChange("r1", queueOf(mission("m-5")))], events: [] });
    const missionOf = async () =>
      JSON.parse((await commander.next()).command.requestJson).missionCommand.missionId;
    await plc.write([slot("Operation"), int32(12)], [slot("TargetMissionId"), text("m-1")]);
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(ticket)]);
    expect(await missionOf()).toBe("m-1");
    commander.submitted[0]?.end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    await plc.write([slot("RequestId"), int32(await nextId())]);
    expect(await missionOf()).toBe("m-5");
  });
});

describe("two destinations that contradict", () => {
  beforeAll(() => startAnew());
  afterAll(stop);

  it.each([
    ["Destination", "DestinationNo", text("A"), int32(1)],
    ["Destination", "Destinations", text("A"), texts(["B"])],
    ["DestinationNo", "Destinations", int32(1), texts(["B"])],
  ] as const)("%s and %s: the ticket ends refused, and names both", async (one, two, first, second) => {
    const session = await openSession(running.url);
    const ticket = await nextId();
    await session.write(
      [slot("Operation"), int32(3)],
      [slot(one), first],
      [slot(two), second],
      [slot("RequestId"), int32(ticket)],
    );
    expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
      ticket,
      4,
      1000,
      `${one} and ${two} are both set: empty all but the one that is meant`,
    ]);
    await session.close();
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
    expect(await shown("RejectedId", "RejectedError", "AcceptedId")).toEqual([ticket, 1011, 0]);
    expect(await closed()).toEqual([ticket]);
    expect(await nextId()).not.toBe(ticket);
    await navigate(ticket);
    expect(await shown("RejectedId", "RejectedError")).toEqual([ticket, 1011]);
    expect(commander.submitted).toHaveLength(1);
  });
});
