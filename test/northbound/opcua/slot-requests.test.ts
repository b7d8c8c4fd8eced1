import { StatusCodes } from "node-opcua";
import { describe, expect, it } from "vitest";
import { succeeded } from "./fake-commands.ts";
import { openSession } from "./opcua-harness.ts";
import {
  closed,
  commander,
  eachWithItsServer,
  int32,
  nextId,
  plc,
  running,
  shown,
  slot,
  text,
} from "./slots-harness.ts";

/** Requests of one session that are all on their way before the first is answered. */
const belt = (name: string) => `Robots.AMR01.ConveyorSlot.${name}`;
/** Not of a slot: the server writes it in its own way, which takes a turn of its own. */
const elsewhere = ["Robots.AMR01.Battery.ChargePercent", int32(1)] as const;
const ROUNDS = 10;

const navigateTo = (destination: string, ticket: number) =>
  [
    [slot("RequestId"), int32(ticket)],
    [slot("Operation"), int32(1)],
    elsewhere,
    [slot("Destination"), text(destination)],
    elsewhere,
  ] as const;

describe("write requests that are in flight together", () => {
  eachWithItsServer();

  it("are a step each: the ticket of the first goes with its parameters, every time", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const ticket = await nextId();
      const sent = [
        plc.write(...navigateTo(`Dock ${round}`, ticket)),
        plc.write(...navigateTo(`elsewhere ${round}`, ticket)),
        plc.write([slot("Destination"), text("too late")], elsewhere, [slot("Operation"), int32(10)]),
      ];
      const command = await commander.next();
      await Promise.all(sent);
      expect(command.command.requestJson).toContain(`"Dock ${round}"`);
      command.stage("accepted");
      command.end(succeeded(null));
      await plc.until(slot("DoneId"), ticket);
      expect(await shown("AcceptedId", "AcceptedText", "RejectedId")).toEqual([
        ticket,
        `navigate to Dock ${round}`,
        0,
      ]);
    }
    expect(commander.submitted).toHaveLength(ROUNDS);
  });

  it("start with what an earlier request has left, and nothing of a later one", async () => {
    const ticket = await nextId();
    const sent = [
      plc.write([slot("Operation"), int32(1)], elsewhere, [slot("Destination"), text("Dock A")]),
      plc.write(elsewhere, [slot("RequestId"), int32(ticket)], elsewhere),
      plc.write([slot("Destination"), text("Dock B")]),
    ];
    const { command } = await commander.next();
    await Promise.all(sent);
    expect(command.requestJson).toContain("Dock A");
    expect(commander.submitted).toHaveLength(1);
  });

  it("for two slots are two commands, each with its own parameters", async () => {
    const [mission, conveyor] = [await nextId(), await plc.nextId(belt("NextId"))];
    const sent = [
      plc.write(...navigateTo("Dock A", mission)),
      plc.write(
        [belt("ConveyorIndex"), int32(1)],
        elsewhere,
        [belt("RequestId"), int32(conveyor)],
        [belt("MotorCommand"), int32(2)],
      ),
    ];
    const commands = [await commander.next(), await commander.next()];
    await Promise.all(sent);
    expect(commands.map(({ command }) => command.operation).sort()).toEqual([
      "ControlConveyor",
      "CreateMission",
    ]);
    const [turning] = commands.filter(({ command }) => command.operation === "ControlConveyor");
    expect(JSON.parse(turning?.command.requestJson ?? "").commands).toEqual([
      { index: 1, command: "COMMAND_CONVEYOR_MOTOR_CW" },
    ]);
  });

  it("of a start and its closing are decided by the first", async () => {
    const started = await nextId();
    await Promise.all([
      plc.write(...navigateTo("Dock A", started)),
      plc.write(elsewhere, [slot("RequestId"), int32(-started)]),
    ]);
    (await commander.next()).end(succeeded(null));
    await plc.until(slot("DoneId"), started);
    expect(await closed()).toEqual([]);

    const never = await nextId();
    await Promise.all([
      plc.write([slot("RequestId"), int32(-never)], elsewhere),
      plc.write(...navigateTo("Dock B", never)),
    ]);
    expect(await closed()).toEqual([never]);
    expect(commander.submitted).toHaveLength(1);
  });

  it("of two sessions do not mix either", async () => {
    const other = await openSession(running.url);
    for (let round = 0; round < ROUNDS; round += 1) {
      const ticket = await nextId();
      const sent = [
        plc.write(...navigateTo("of one", ticket)),
        other.write([slot("Operation"), int32(10)], elsewhere, [slot("Destination"), text("of another")]),
        other.write(elsewhere, [slot("DestinationNo"), int32(round)]),
      ];
      const { command, end } = await commander.next();
      for (const statuses of await Promise.all(sent)) expect(statuses).toContain(StatusCodes.Good);
      expect(command.requestJson).toContain('"of one"');
      end(succeeded(null));
      await plc.until(slot("DoneId"), ticket);
    }
    await other.close();
  });
});
