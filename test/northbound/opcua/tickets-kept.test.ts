import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StatusCodes } from "node-opcua";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusal } from "../../../src/domain/outcome.ts";
import { openMemory } from "../../../src/northbound/opcua/opcua-store.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { createMemoryDisk } from "../../support/memory-tables.ts";
import { fakeCatalogue, succeeded } from "./fake-commands.ts";
import { openSession } from "./opcua-harness.ts";
import {
  clock,
  closed,
  commander,
  disk,
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
} from "./slots-harness.ts";

let folder: string;
let starts = 0;
const openIn = (ticketsFolder: string) => () =>
  openMemory(ticketsFolder, createMemoryDisk().open(), silentLog);
const openFolder = () => openIn(folder)();

/** The gateway starts again, on the same folder; each start is a run of its own. */
async function restart(changed: Parameters<typeof start>[0] = {}): Promise<void> {
  await stop();
  starts += 1;
  await start({ openMemory: openFolder, sessionId: `start ${starts}`, ...changed });
}

/** The journal of a gateway whose commands ended like this. */
function journal(outcome: ReturnType<typeof succeeded> | null) {
  return { recall: async () => (outcome === null ? null : { ...outcome, duplicate: true }) };
}

/** What the rule says after any restart: go on waiting, or take a new ticket. */
async function goesOnWaiting(ticket: number): Promise<boolean> {
  return (await plc.value(slot("AcceptedId"))) === ticket;
}

describe("the life of a ticket, with the gateway started again between each two steps", () => {
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "tickets-"));
    await startAnew({ openMemory: openFolder, sessionId: `start ${starts}` });
  });
  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it("copied, and not yet written: it is void", async () => {
    const ticket = await nextId();
    await restart();
    expect(await navigate(ticket)).toEqual([StatusCodes.Good, StatusCodes.Good, StatusCodes.Good]);
    expect(await shown("RejectedId", "RejectedError", "AcceptedId", "DoneId")).toEqual([ticket, 1012, 0, 0]);
    expect(await closed()).toEqual([ticket]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("written, and not in the journal: never sent, now or later", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    await commander.next();
    await restart({ records: journal(null) });
    expect(await goesOnWaiting(ticket)).toBe(false);
    await navigate(ticket);
    expect(await shown("DoneId", "Outcome", "RejectedError")).toEqual([0, 0, 1011]);
    expect(await closed()).toEqual([ticket]);
    expect(commander.submitted).toHaveLength(1);
  });

  it.each([
    ["it was carried out", succeeded("m-3"), 3],
    ["it was refused", refusal("ROBOT_NOT_GOOD", "the robot is stale"), 4],
    ["nobody knows", { ...succeeded(null), outcome: "unknown", code: "OUTCOME_UNKNOWN" } as const, 6],
  ])("in the journal: ends with what the journal knows: %s", async (_what, known, outcome) => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).stage("accepted");
    await plc.until(slot("AcceptedId"), ticket);
    await restart({ records: journal(known) });
    expect(await goesOnWaiting(ticket)).toBe(true);
    expect(await shown("DoneId", "Outcome", "MissionId")).toEqual([ticket, outcome, known.missionId ?? ""]);
    expect(commander.submitted).toHaveLength(1);
  });

  it.each(["accepted", "taken, and the crash came before that was kept"])(
    "sent, and its end is still looked for: shown as sent (%s)",
    async (how) => {
      const ticket = await nextId();
      await navigate(ticket);
      const sent = await commander.next();
      if (how === "accepted") {
        sent.stage("accepted");
        await plc.until(slot("AcceptedId"), ticket);
      }
      let end: (outcome: ReturnType<typeof succeeded>) => void = () => {};
      await restart({
        records: {
          recall(_source, _requestId, onStage) {
            onStage?.("accepted");
            onStage?.("sent");
            return new Promise((resolve) => {
              end = resolve;
            });
          },
        },
      });
      expect(await shown("AcceptedId", "DoneId", "Outcome")).toEqual([ticket, 0, 2]);
      // It waits for nothing but a stop meanwhile.
      const next = await nextId();
      await navigate(next);
      expect(await shown("AcceptedId", "RejectedId", "RejectedError")).toEqual([ticket, next, 1013]);
      end(succeeded("m-5"));
      await plc.until(slot("DoneId"), ticket);
      expect(await shown("AcceptedId", "Outcome", "MissionId")).toEqual([ticket, 3, "m-5"]);
    },
  );

  it("in the journal, but not yet shown as accepted: accepted", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    await commander.next();
    await restart({ records: journal(succeeded("m-4")) });
    expect(await goesOnWaiting(ticket)).toBe(true);
    expect(await shown("DoneId", "Outcome", "MissionId")).toEqual([ticket, 3, "m-4"]);
  });

  it("accepted, and no longer in the journal: unknown, never a success", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).stage("accepted");
    await plc.until(slot("AcceptedId"), ticket);
    await restart({ records: journal(null) });
    expect(await shown("AcceptedId", "DoneId", "Outcome", "ErrorId")).toEqual([ticket, ticket, 6, 1010]);
  });

  it("done: shown again as it was, over any number of starts", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-7"));
    await plc.until(slot("DoneId"), ticket);
    for (let starts = 0; starts < 3; starts += 1) {
      await restart({ records: journal(null) });
      expect(await shown("AcceptedId", "DoneId", "Outcome", "MissionId", "ErrorId")).toEqual([
        ticket,
        ticket,
        3,
        "m-7",
        0,
      ]);
      expect(await plc.write([slot("RequestId"), int32(ticket)])).toEqual([StatusCodes.Good]);
      expect(await nextId()).not.toBe(ticket);
    }
    expect(commander.submitted).toHaveLength(1);
  });

  it("done, and the next one written but not in the journal: shown again as it was", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    (await commander.next()).end(succeeded("m-7"));
    await plc.until(slot("DoneId"), ticket);
    await navigate(await nextId());
    await commander.next();
    // Also before the restart: nothing of the next one is shown until it is accepted.
    for (const starts of [0, 1, 2]) {
      if (starts > 0) await restart({ records: journal(null) });
      expect(await shown("AcceptedId", "DoneId", "Outcome", "MissionId")).toEqual([ticket, ticket, 3, "m-7"]);
    }
  });

  it("refused before it was a command: shown again with its reason", async () => {
    const ticket = await nextId();
    await navigate(ticket, "");
    await restart();
    expect(await shown("DoneId", "Outcome", "ErrorId", "ErrorText")).toEqual([
      ticket,
      4,
      1000,
      "Destination is missing, and DestinationNo too: one of them says where to",
    ]);
  });

  it("belongs to the user that gave the command, also when another user writes to the slot after", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    sent.stage("accepted");
    await plc.until(slot("AcceptedId"), ticket);
    const later = await openSession(running.url);
    await later.write([slot("RequestId"), int32(ticket)]);
    await later.close();
    const asked: string[] = [];
    await restart({
      records: {
        async recall(source, requestId) {
          asked.push(`${source.name} ${requestId}`);
          return succeeded(null);
        },
      },
    });
    expect(asked).toEqual([`anonymous ${sent.command.requestId}`]);
  });

  it("numbers that were shown are not shown again, and neither are request ids", async () => {
    const numbers = new Set<number>();
    for (let starts = 0; starts < 4; starts += 1) {
      for (let shownNumbers = 0; shownNumbers < 5; shownNumbers += 1) {
        const ticket = await nextId();
        expect(numbers.has(ticket)).toBe(false);
        numbers.add(ticket);
        clock.advance(31_000);
      }
      await navigate(await nextId());
      (await commander.next()).end(succeeded(null));
      await restart();
    }
    const ids = commander.submitted.map(({ command }) => command.requestId);
    expect(new Set(ids).size).toBe(4);
  });

  it("the PLC starts again instead: it finds its own command, and waits for that", async () => {
    const ticket = await nextId();
    await navigate(ticket);
    const sent = await commander.next();
    await plc.close();
    sent.stage("accepted");
    const again = await openSession(running.url);
    expect(await again.value(slot("AcceptedId"))).toBe(ticket);
    await again.write([slot("RequestId"), int32(ticket)]);
    sent.end(succeeded("m-1"));
    await again.until(slot("DoneId"), ticket);
    expect(await again.value(slot("Outcome"))).toBe(3);
    expect(commander.submitted).toHaveLength(1);
    await again.close();
  });
});

describe("a disk that fails", () => {
  eachWithItsServer();

  it("voids a start, says why, and takes starts again when it works", async () => {
    disk.behave("failing");
    const ticket = await nextId();
    await navigate(ticket);
    await plc.until(slot("RejectedId"), ticket);
    expect(await shown("RejectedError", "AcceptedId", "DoneId")).toEqual([1014, 0, 0]);
    const random = await nextId();
    expect(random).toBeGreaterThanOrEqual(2 ** 30);
    await navigate(random);
    expect(await shown("RejectedId", "RejectedError", "AcceptedId")).toEqual([random, 1014, 0]);
    expect(await closed()).toEqual([random, ticket]);
    expect(commander.submitted).toHaveLength(0);
    disk.behave("well");
    clock.advance(1_000);
    while ((await nextId()) >= 2 ** 30) clock.advance(1_000);
    for (const old of [ticket, random]) await navigate(old);
    await navigate(await nextId());
    expect((await commander.next()).command.operation).toBe("CreateMission");
    expect(commander.submitted).toHaveLength(1);
  });

  it("that takes longer than a second has failed: nothing is sent", async () => {
    disk.behave("hanging");
    const ticket = await nextId();
    await navigate(ticket);
    await plc.write([slot("RequestId"), int32(-ticket)]);
    expect(await closed()).toEqual([]);
    clock.advance(1_000);
    await plc.until(slot("RejectedId"), ticket);
    expect(await shown("RejectedError", "AcceptedId")).toEqual([1014, 0]);
    expect(await closed()).toEqual([ticket]);
    expect(commander.submitted).toHaveLength(0);
  });

  it("is asked for nothing more while it hangs, whatever the slot takes, and gets the newest then", async () => {
    await startWithStops();
    disk.behave("hanging");
    for (let stops = 0; stops < 20; stops += 1) {
      const ticket = await nextId();
      await navigate(ticket);
      clock.advance(50);
      (await commander.next()).end(succeeded(null));
      await plc.until(slot("DoneId"), ticket);
      clock.advance(1_000);
    }
    expect(disk.hanging()).toBeLessThan(5);
    const last = await plc.value(slot("DoneId"));
    disk.behave("well");
    disk.release();
    clock.advance(1_000);
    while ((await nextId()) >= 2 ** 30) clock.advance(1_000);
    expect(disk.records.get("slots/Robots.AMR01.MissionSlot")).toMatchObject({ tickets: { doneId: last } });
  });

  it.each(["failing", "hanging"] as const)("lets a stop pass while it is %s", async (how) => {
    await startWithStops();
    disk.behave(how);
    const ticket = await nextId();
    await navigate(ticket);
    clock.advance(50);
    (await commander.next()).end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    expect(await shown("Outcome")).toEqual([3]);
  });

  it.each(["failing", "hanging"] as const)("is %s from the start: stops pass", async (how) => {
    disk.behave(how);
    disk.records.clear();
    await startWithStops();
    clock.advance(1_000);
    const ticket = await nextId();
    expect(ticket).toBeGreaterThanOrEqual(2 ** 30);
    await navigate(ticket);
    clock.advance(50);
    (await commander.next()).end(succeeded(null));
    await plc.until(slot("DoneId"), ticket);
    // The next life of the slot knows nothing of that number.
    await stop();
    await start({ random: () => 0.75 });
    clock.advance(1_000);
    await plc.write([slot("RequestId"), int32(-ticket)]);
    await plc.until(slot("RejectedId"), ticket);
    expect(await closed()).toEqual([-ticket]);
    expect(await shown("RejectedError")).toEqual([1020]);
  });

  async function startWithStops(): Promise<void> {
    await plc.close();
    await running.stop();
    await start({ catalogue: fakeCatalogue("stops") });
  }

  it("shows no number that it has not reserved", async () => {
    const first = await nextId();
    disk.behave("failing");
    let last = first;
    for (let number = first; number < 2 ** 30; number = await nextId()) {
      last = number;
      clock.advance(31_000);
    }
    expect(last - first).toBeLessThan(256);
    disk.behave("well");
    await plc.close();
    await running.stop();
    await start();
    expect(await nextId()).toBeGreaterThan(last);
  });
});

describe("a record that cannot be read", () => {
  eachWithItsServer();

  it("leaves its slot nothing but stops, and is not written over", async () => {
    await plc.close();
    await running.stop();
    disk.records.set("slots/Robots.AMR01.MissionSlot", "rubbish");
    await start();
    const ticket = await nextId();
    await navigate(ticket);
    expect(await shown("RejectedId", "RejectedError", "AcceptedId", "DoneId")).toEqual([ticket, 1014, 0, 0]);
    expect(disk.records.get("slots/Robots.AMR01.MissionSlot")).toBe("rubbish");
    expect(commander.submitted).toHaveLength(0);
  });

  it("or a whole folder: tags are shown, and slots take nothing that moves", async () => {
    await plc.close();
    await running.stop();
    const file = join(mkdtempSync(join(tmpdir(), "tickets-")), "file");
    writeFileSync(file, "in the way");
    await start({ openMemory: openIn(join(file, "slots")) });
    const ticket = await nextId();
    await navigate(ticket);
    expect(await shown("RejectedId", "RejectedError")).toEqual([ticket, 1014]);
    expect(commander.submitted).toHaveLength(0);
  });
});
