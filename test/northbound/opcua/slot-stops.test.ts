import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { fakeCatalogue, succeeded } from "./fake-commands.ts";
import { openSession } from "./opcua-harness.ts";
import {
  clock,
  closed,
  commander,
  disk,
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
} from "./slots-harness.ts";

const stopping = [...fakeCatalogue("stops")].filter(([name]) => name === "UpdateMission");
const catalogue = new Map([...fakeCatalogue(), ...stopping]);

/** What the audit log was told of refusals. */
let audited: string[] = [];

/** Writes a cancel with the number that the slot shows now. */
async function cancel(writer = plc) {
  const ticket = await nextId();
  await writer.write([slot("Operation"), int32(10)], [slot("TargetMissionId"), text("m-1")]);
  const [status] = await writer.write([slot("RequestId"), int32(ticket)]);
  return { ticket, status };
}

/** A mission that is sent, and not answered yet. */
async function runningMission() {
  const ticket = await nextId();
  await navigate(ticket);
  const mission = await commander.next();
  mission.stage("accepted");
  await plc.until(slot("AcceptedId"), ticket);
  return { ticket, mission };
}

describe("a stop while the slot's command runs", () => {
  beforeEach(async () => {
    audited = [];
    const refused = (_request: unknown, { code, message }: Outcome) => audited.push(`${code} ${message}`);
    await startAnew({ catalogue, audit: { refused } });
  });
  afterEach(stop);

  it("goes out at once, and is what the slot shows from then on", async () => {
    const { ticket: displaced, mission } = await runningMission();
    const { ticket } = await cancel();
    const sent = await commander.next();
    expect(sent.command.operation).toBe("UpdateMission");
    sent.stage("accepted");
    sent.stage("sent");
    await plc.until(slot("AcceptedId"), ticket);
    // What becomes of the mission is not the stop's: it is neither shown nor counted as its end.
    mission.stage("sent");
    mission.end(succeeded("m-2"));
    expect(await shown("AcceptedId", "DoneId", "Outcome", "MissionId", "ErrorId")).toEqual([
      ticket,
      0,
      2,
      "",
      0,
    ]);
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("AcceptedId", "Outcome", "MissionId", "RejectedId")).toEqual([ticket, 3, "m-1", 0]);
    expect(await closed()).toEqual([-displaced]);
  });

  it("is a stop: anything else waits", async () => {
    await runningMission();
    const next = await nextId();
    await navigate(next);
    expect(await shown("RejectedId", "RejectedError", "ErrorId")).toEqual([next, 1013, 0]);
    expect(await closed()).toEqual([next]);
    expect(commander.submitted).toHaveLength(1);
  });

  it("is any session's that may write there", async () => {
    const { mission } = await runningMission();
    const other = await openSession(running.url);
    const { ticket, status } = await cancel(other);
    expect(status).toBe(StatusCodes.Good);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("UpdateMission");
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    mission.end(succeeded("m-2"));
    expect(await shown("AcceptedId", "Outcome")).toEqual([ticket, 3]);
    await other.close();
  });

  it("does not wait until the command before is in the journal, and that is not sent then", async () => {
    disk.behave("hanging");
    const ticket = await nextId();
    await navigate(ticket);
    const stopping = await cancel();
    clock.advance(50);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("UpdateMission");
    sent.stage("accepted");
    expect(await closed()).toEqual([-ticket]);
    clock.advance(10_000);
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), stopping.ticket);
    expect(commander.submitted).toHaveLength(1);
    expect(audited).toEqual([
      "CANCELED_BY_STOP a stop took the slot before it was recorded; it was not sent",
    ]);
  });

  it("is taken after a restart of the gateway too, while what became of the command is still looked into", async () => {
    const { ticket } = await runningMission();
    await stop();
    await start({
      catalogue,
      records: {
        recall(_source, _requestId, onStage) {
          onStage?.("accepted");
          onStage?.("sent");
          return new Promise(() => {});
        },
      },
    });
    expect(await shown("AcceptedId", "DoneId", "Outcome")).toEqual([ticket, 0, 2]);
    const stopping = await cancel();
    expect(stopping.status).toBe(StatusCodes.Good);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("UpdateMission");
    sent.end(succeeded(null));
    await plc.until(slot("DoneId"), stopping.ticket);
    expect(await shown("AcceptedId", "Outcome")).toEqual([stopping.ticket, 3]);
  });

  it("that a restart forgets leaves the command before to be found", async () => {
    const before = await nextId();
    await navigate(before);
    (await commander.next()).end(succeeded("m-0"));
    await plc.until(slot("DoneId"), before);
    const { ticket, mission } = await runningMission();
    await cancel();
    await commander.next();
    await stop();
    let tell = () => {};
    const told = new Promise<void>((resolve) => {
      tell = resolve;
    });
    await start({
      catalogue,
      records: {
        async recall(_source, requestId) {
          await told;
          return requestId === mission.command.requestId ? succeeded("m-2") : null;
        },
      },
    });
    // What is shown belongs to AcceptedId: not the success of the one before it.
    expect(await shown("AcceptedId", "DoneId", "Outcome")).toEqual([ticket, before, 1]);
    tell();
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("AcceptedId", "Outcome", "MissionId")).toEqual([ticket, 3, "m-2"]);
  });
});
