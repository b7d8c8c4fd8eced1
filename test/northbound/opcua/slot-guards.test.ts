import { StatusCodes, type VariantOptions } from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { succeeded } from "./fake-commands.ts";
import { openSession } from "./opcua-bench.ts";
import {
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
} from "./slot-bench.ts";

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

  it.each([
    ["the mission that a stop names", 10, wrongTarget],
    ["the operation", 10, [slot("Operation"), int32(99)]],
    ["the route of a mission", 2, wrongRoute],
    ["a route, though the mission has one destination,", 1, wrongRoute],
  ] as const)("but %s does", async (_what, operation, wrong) => {
    await plc.write(
      [slot("Operation"), int32(operation)],
      [slot("TargetMissionId"), text("m-1")],
      [slot("Destination"), text("Dock A")],
    );
    await plc.write(wrong);
    const ticket = await nextId();
    await plc.write([slot("RequestId"), int32(ticket)]);
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome", "ErrorId")).toEqual([4, 1000]);
    expect(commander.submitted).toHaveLength(0);
  });
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
