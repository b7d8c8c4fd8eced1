import { once } from "node:events";
import type { Socket } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Batch } from "../../../src/contracts/link.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import { type Chronicle, createChronicle } from "../../support/chronicle.ts";
import { alarmEvent } from "../../support/test-alarms.ts";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

function feed(batch: Partial<Batch>): void {
  for (const sink of harness.tails) sink.write({ changes: [], events: [], ...batch });
}

function robots(quality: Quality, ...ids: readonly string[]): Partial<Batch> {
  return { changes: ids.map((robotId) => ({ kind: "robot", robotId, family: "cart", quality })) };
}

interface Following {
  readonly socket: Socket;
  /** Lines that are JSON. */
  readonly lines: Chronicle<string>;
}

/** Follows, and has the first line already. */
async function follow(query = ""): Promise<Following> {
  const socket = await harness.open();
  const lines = createChronicle<string>((line) => line, 5_000);
  createInterface(socket).on("line", (line) => {
    if (line.startsWith("{")) lines.add(line);
  });
  socket.write(`GET /api/v1/tail${query} HTTP/1.1\r\nHost: x\r\n\r\n`);
  // Any other first line is a refusal: it fails at once, and a test may try again.
  expect(await lines.first("the first line", () => true)).toMatch(/^\{"kind":"open"/);
  return { socket, lines };
}

const parsed = ({ lines }: Following) => lines.entries.map((line) => JSON.parse(line) as { kind: string });

describe("GET /api/v1/tail", () => {
  it("tells events as MQTT has them, and each quality that changes, and nothing of the snapshot", async () => {
    const reader = await follow();
    feed(robots("good", "r1", "r2"));
    feed({ ...robots("stale", "r1"), events: [alarmEvent("e1", "r1")] });
    await reader.lines.first("the event", (line) => line.includes('"e1"'));
    expect(parsed(reader)).toMatchObject([
      { kind: "open" },
      { kind: "state", robot_id: "r1", from: "good", to: "stale" },
      { kind: "alarm", event_id: "e1", robot_id: "r1", session_id: "s1", to: "active", code: "ROBOT_LOST" },
    ]);
  });

  it("filters by robot and kind", async () => {
    const [byRobot, byKind] = [await follow("?robot=r2&robot=r3"), await follow("?kind=state&kind=hold")];
    feed(robots("good", "r1", "r2"));
    feed({ ...robots("lost", "r1", "r2"), events: [alarmEvent("e1", "r1"), alarmEvent("e2", "r3")] });
    await byRobot.lines.first("e2", (line) => line.includes('"e2"'));
    await byKind.lines.first("r2", (line) => line.includes('"r2"'));
    expect(parsed(byRobot)).toMatchObject([{}, { kind: "state", robot_id: "r2" }, { event_id: "e2" }]);
    expect(parsed(byKind)).toMatchObject([{}, { robot_id: "r1" }, { robot_id: "r2" }]);
  });

  it("says that the gateway lives every 5 s, and that it stops", async () => {
    const reader = await follow();
    await harness.clock.settle(10_000);
    await reader.lines.first("a sign of life", (line) => line.startsWith('{"kind":"alive"'));
    await harness.stop();
    const last = await reader.lines.first("the end", (line) => line.startsWith('{"kind":"closed"'));
    expect(JSON.parse(last)).toMatchObject({ reason: "the gateway stops" });
    expect(harness.tails.size).toBe(0);
  });

  it("is fed only while somebody reads", async () => {
    expect(harness.tails.size).toBe(0);
    const reader = await follow();
    expect(harness.tails.size).toBe(1);
    reader.socket.destroy();
    await vi.waitFor(() => expect(harness.tails.size).toBe(0), 20_000);
  });

  it("ends a reader that does not read, tells it so, and goes on for the others", async () => {
    const slow = await harness.open();
    slow.write("GET /api/v1/tail HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(slow, "readable");
    const reader = await follow();
    for (let round = 0; round < 60; round += 1) {
      const last = `r${round}-199`;
      feed({
        events: Array.from({ length: 200 }, (_, at) => alarmEvent(`r${round}-${at}`, "x".repeat(200))),
      });
      await reader.lines.first(last, (line) => line.includes(`"${last}"`));
    }
    const got = await text(slow);
    expect(got.slice(-200)).toMatch(
      /\{"kind":"closed","at":"[^"]+","reason":"more than 4000000 bytes were not read"\}\n\r\n0\r\n\r\n$/,
    );
    expect(got.length).toBeLessThan(6_000_000);
  });

  it("has a few readers, and refuses another one until one leaves", async () => {
    const readers = [];
    for (let count = 0; count < 8; count += 1) readers.push(await follow());
    const refused = {
      status: 503,
      body: { detail: "8 readers follow the gateway already: end one of them" },
    };
    expect(await harness.ask("GET", "/api/v1/tail")).toMatchObject(refused);
    expect(readers[0]?.socket.destroy().destroyed).toBe(true);
    await vi.waitFor(async () => await follow(), 20_000);
  });

  it.each([
    ["?kind=mision", 400, /^kind: "mision" is not one of mission, alarm, command/],
    ["?robots=r1", 400, /^"robots": is not one of robot, kind$/],
    ["?robot=", 400, /^robot: must be a robot_id of 1 to 256 printable characters$/],
    ["?robot=r1&robot=nope", 404, /^never heard of$/],
    [`?${"kind=state&".repeat(101)}`, 400, /^robot, kind: at most 100 of each$/],
  ])("refuses %s", async (query, status, detail) => {
    expect(await harness.ask("GET", `/api/v1/tail${query}`)).toMatchObject({
      status,
      body: { detail: expect.stringMatching(detail) },
    });
    expect(harness.tails.size).toBe(0);
  });
});
