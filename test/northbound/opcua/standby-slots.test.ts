import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FIRST_WITHOUT_DISK, verdictNumbers } from "../../../src/domain/ticket-numbers.ts";
import { createTestCluster, type TestCluster } from "../../support/test-cluster.ts";
import { fakeCatalogue, succeeded } from "./fake-commands.ts";
import {
  closed,
  commander,
  disk,
  int32,
  navigate,
  nextId,
  plc,
  shown,
  slot,
  startAnew,
  stop,
} from "./slots-harness.ts";

const stopping = [...fakeCatalogue("stops")].filter(([name]) => name === "UpdateMission");
const catalogue = new Map([...fakeCatalogue(), ...stopping]);
let cluster: TestCluster;

beforeEach(async () => {
  cluster = createTestCluster("right");
  await startAnew({ catalogue, cluster });
});
afterEach(stop);

/** Writes a cancel as one array. */
const cancel = (number: number) =>
  plc.write([
    slot("Command"),
    { dataType: "Int32", arrayType: "Array", value: [number, 10, ...Array(10).fill(0)] },
  ]);

async function verdict(): Promise<readonly number[]> {
  return Array.from((await plc.value(slot("Answer"))) as Int32Array).slice(9, 12);
}

const lead = (isActive = true) => cluster.change({ isActive, epoch: 5, leader: "right" });
const refused = [StatusCodes.BadInvalidState];

describe("a slot on a standby", () => {
  it("shows a number of this member that can start stops only, and reads nothing of the store", async () => {
    const number = await nextId();
    expect(number).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
    expect((number - FIRST_WITHOUT_DISK) % 3).toBe(1);
    expect(disk.records.size).toBe(0);
  });

  it("sends a stop with it once, and shows its end", async () => {
    const number = await nextId();
    expect(await cancel(number)).toEqual([StatusCodes.Good]);
    const sent = await commander.next();
    expect(sent.command.operation).toBe("UpdateMission");
    expect(await cancel(number)).toEqual([StatusCodes.Good]);
    sent.stage("accepted");
    expect(await verdict()).toEqual([number, verdictNumbers.under_way, 1]);
    sent.end(succeeded("m-1"));
    await plc.until(slot("DoneId"), number);
    expect(await verdict()).toEqual([number, verdictNumbers.ended, 3]);
    expect(commander.submitted).toHaveLength(1);
    expect(await nextId()).not.toBe(number);
    expect(disk.records.size).toBe(0);
  });

  it("refuses a start, a number of the leader and its closing, and concludes nothing", async () => {
    const number = await nextId();
    expect((await navigate(number))[0]).toBe(StatusCodes.BadInvalidState);
    for (const written of [4711, -4711, number + 3]) {
      expect(await plc.write([slot("RequestId"), int32(written)])).toEqual(refused);
    }
    expect(await cancel(4711)).toEqual(refused);
    expect(await nextId()).toBe(number);
    expect(await closed()).toEqual([]);
    expect(await shown("RejectedId", "AcceptedId", "DoneId", "RequestId")).toEqual([0, 0, 0, 0]);
    expect(await verdict()).toEqual([0, 0, 0]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("takes 0, and closes a number of its own without showing that in Closed", async () => {
    expect(await plc.write([slot("RequestId"), int32(0)])).toEqual([StatusCodes.Good]);
    const number = await nextId();
    expect(await plc.write([slot("RequestId"), int32(-number)])).toEqual([StatusCodes.Good]);
    expect(await verdict()).toEqual([number, verdictNumbers.never_sent, 0]);
    expect(await cancel(number)).toEqual(refused);
    expect(await closed()).toEqual([]);
  });

  it("shows nothing in Closed when a second stop takes the slot", async () => {
    await cancel(await nextId());
    (await commander.next()).stage("accepted");
    const second = await nextId();
    await cancel(second);
    (await commander.next()).end(succeeded("m-1"));
    await plc.until(slot("DoneId"), second);
    expect(await closed()).toEqual([]);
  });
});

describe("a slot of a member that becomes the leader", () => {
  it("shows the kept numbers, goes on with its command, and takes starts", async () => {
    lead();
    const before = await nextId();
    expect(before).toBeLessThan(FIRST_WITHOUT_DISK);
    await navigate(before);
    (await commander.next()).stage("accepted");
    await plc.until(slot("AcceptedId"), before);
    await stop();
    cluster = createTestCluster("left");
    const kept = disk;
    await startAnew({
      catalogue,
      cluster,
      openMemory: kept.open,
      records: { recall: async () => succeeded("m-7") },
    });
    expect(await shown("AcceptedId", "DoneId", "MissionId")).toEqual([0, 0, ""]);
    const stopOnly = await nextId();
    expect(stopOnly).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
    cluster.change({ isActive: true, epoch: 6, leader: "left" });
    await plc.until(slot("DoneId"), before);
    expect(await shown("AcceptedId", "Outcome", "MissionId")).toEqual([before, 3, "m-7"]);
    const number = await nextId();
    expect(number).toBeGreaterThan(before);
    expect(number).toBeLessThan(FIRST_WITHOUT_DISK);
    await navigate(number);
    expect((await commander.next()).command.operation).toBe("CreateMission");
    expect(await plc.write([slot("RequestId"), int32(-stopOnly)])).toEqual([StatusCodes.Good]);
    expect(await closed()).toEqual([-stopOnly]);
  });

  it("draws its numbers without a disk from those of its member", async () => {
    disk.behave("failing");
    lead();
    for (let times = 0; times < 5; times += 1) {
      const number = await nextId();
      expect((number - FIRST_WITHOUT_DISK) % 3).toBe(1);
      await plc.write([slot("RequestId"), int32(-number)]);
    }
  });
});

describe("a slot of a leader without proof", () => {
  beforeEach(() => lead());

  it("takes stops only meanwhile, keeps Closed, and then shows what became of its command", async () => {
    const open = await nextId();
    await plc.write([slot("RequestId"), int32(-open)]);
    const number = await nextId();
    await navigate(number);
    const start = await commander.next();
    start.stage("accepted");
    await plc.until(slot("AcceptedId"), number);
    lead(false);
    const stopOnly = await nextId();
    expect(stopOnly).toBeGreaterThanOrEqual(FIRST_WITHOUT_DISK);
    expect(await plc.write([slot("RequestId"), int32(-number)])).toEqual(refused);
    expect((await verdict())[1]).toBe(verdictNumbers.none);
    await cancel(stopOnly);
    const stopped = await commander.next();
    start.end(succeeded("m-1"));
    stopped.end(succeeded("m-1"));
    await plc.until(slot("DoneId"), stopOnly);
    expect(await closed()).toEqual([open]);
    lead();
    expect(await shown("AcceptedId", "DoneId", "MissionId")).toEqual([number, number, "m-1"]);
    expect(await closed()).toEqual([open]);
  });

  it("sends no start that was not recorded when a stop came", async () => {
    const number = await nextId();
    disk.behave("hanging");
    await navigate(number);
    lead(false);
    await cancel(await nextId());
    expect((await commander.next()).command.operation).toBe("UpdateMission");
    disk.release();
    lead();
    await plc.until(slot("RejectedId"), number);
    expect(await shown("RejectedError", "RejectedText")).toEqual([
      1015,
      "a stop came before it was recorded, and nothing was sent: take a new number",
    ]);
    expect(await closed()).toEqual([number]);
    expect(commander.submitted).toHaveLength(1);
  });
});
