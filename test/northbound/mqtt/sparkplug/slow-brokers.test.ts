import { type AddressInfo, createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { FleetEvent } from "../../../../src/domain/event.ts";
import { decode } from "../../../support/sparkplug/payload.ts";
import { done, external, recordingCommander } from "../mqtt-harness.ts";
import { createScriptedBroker } from "../scripted-broker.ts";
import { command, type NodeChanges, newNode, robotChange } from "./sparkplug-harness.ts";

const NCMD = "spBv1.0/plant/NCMD/fleet";
const ANSWER_BYTES = 60 * 1024;
const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const broker = createScriptedBroker;

const ASKED = 1_000;

/** A node with one robot, born at a broker that a test can stall. */
async function born(at: ReturnType<typeof broker>, changes: NodeChanges) {
  const response = JSON.stringify("x".repeat(ANSWER_BYTES));
  // A fast machine takes more than 512 in a turn of the event loop.
  const options = { maxCommandsOfSource: ASKED };
  const commander = recordingCommander(async () => ({ ...done, responseJson: response }), { options });
  const link = newNode({ commander, sparkplug: { commands: true }, ...changes });
  const connection = await link.connect(new AbortController().signal);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  await connection.write({ changes: [robotChange("r1")], events: [] });
  const sent = (type: string) =>
    at.received.flatMap((packet) =>
      packet.cmd === "publish" && packet.topic.split("/")[2] === type ? [Buffer.from(packet.payload)] : [],
    );
  await expect.poll(() => sent("DBIRTH").length).toBe(1);
  return { link, commander, connection, sent };
}

/** Its address: a real socket, of which the kernel holds some megabytes. */
async function listening(at: ReturnType<typeof broker>): Promise<string> {
  const server = createServer((socket) => void socket.pipe(at.open()).pipe(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => new Promise((resolve) => server.close(resolve)));
  return `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function request(id: string) {
  const fields = { id, operation: "CreateMission", expires_in_ms: 60_000, request: { robot_id: "r1" } };
  const metric = { name: "Commands/Request", type: "String", value: JSON.stringify(fields) } as const;
  return { topic: NCMD, payload: command([metric]), qos: 0, dup: false, retain: false } as const;
}

test("answers that a broker does not read are dropped, counted and told, and hosts get a birth", async () => {
  const at = broker();
  const options = { broker: external(await listening(at)) };
  const { link, commander, sent } = await born(at, { options });
  const dropped = () => link.health().figures?.answersDropped ?? 0;
  at.stall();
  for (let id = 1; id <= ASKED; id += 1) at.say([{ cmd: "publish", ...request(`q${id}`) }]);
  await expect.poll(() => commander.commands.length, { timeout: 20_000 }).toBe(ASKED);
  await expect.poll(dropped).toBeGreaterThan(500);
  expect(link.health()).toMatchObject({ state: "degraded", detail: expect.stringContaining("too slowly") });
  at.resume();
  await expect.poll(() => sent("NBIRTH").length, { timeout: 20_000 }).toBe(2);
  expect(sent("NDATA").length).toBe(ASKED - dropped());
  const [, birth] = sent("NBIRTH").map((payload) => decode(payload));
  const answer = birth?.metrics.find(({ name }) => name === "Commands/Answer")?.value;
  expect(String(answer).slice(0, 20)).toContain(`"id":"q${ASKED}"`);
});

test("stored events leave no faster than the broker reads", async () => {
  const at = broker();
  const { connection, sent } = await born(at, { openBroker: at.open });
  const events = Array.from({ length: 5_000 }, (_, index): FleetEvent => {
    const mission = { missionId: `m${index}`, owner: "api", command: null } as const;
    const times = { eventId: `m${index}`, atMs: 1_760_000_000_000 + index, historical: true } as const;
    return { kind: "mission", robotId: "r1", from: null, to: "STATE_RUNNING", ...mission, ...times };
  });
  at.stall();
  let isWritten = false;
  const writing = connection.write({ changes: [], events }).finally(() => {
    isWritten = true;
  });
  await new Promise(setImmediate);
  expect(isWritten).toBe(false);
  at.resume();
  expect(await writing).toBe(events.length);
  await expect.poll(() => sent("DDATA").length).toBe(events.length);
});
