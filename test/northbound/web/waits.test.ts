import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { expect, it } from "vitest";
import type { Source } from "../../../src/domain/command.ts";
import { createWaits } from "../../../src/northbound/web/commands.ts";
import { fakeCatalogue, succeeded } from "../opcua/fake-commands.ts";
import { createWebHarness } from "./web-harness.ts";

const of = (name: string): Source => ({ protocol: "web", name });
const isStop = () => true;
const isNone = () => false;

it("keeps places for stops, of each user and of all", () => {
  const waits = createWaits();
  for (let at = 0; at < 32; at += 1) expect(waits.begin(of("ann"), isNone)).not.toBeNull();
  expect(waits.begin(of("ann"), isNone)).toBeNull();
  for (let at = 0; at < 16; at += 1) expect(waits.begin(of("ann"), isStop)).not.toBeNull();
  expect(waits.begin(of("ann"), isStop)).toBeNull();
  for (let at = 48; at < 96; at += 1) expect(waits.begin(of(`user ${at}`), isNone)).not.toBeNull();
  expect(waits.begin(of("bob"), isNone)).toBeNull();
  const ends = Array.from({ length: 16 }, () => waits.begin(of("bob"), isStop));
  expect([ends.includes(null), waits.begin(of("bob"), isStop), waits.count]).toEqual([false, null, 112]);
  for (const end of ends) end?.();
  expect(waits.count).toBe(96);
});

it("answers stops over HTTP/1.1 beside hundreds of commands of one client that wait", async () => {
  await using harness = await createWebHarness();
  const json = (operation: string) =>
    JSON.stringify({ operation, request: { robotId: "r1" }, expires_in_ms: 60_000 });
  const sockets: Socket[] = [];
  async function put(id: string, operation: string): Promise<Socket> {
    const socket = connect(harness.port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    const body = json(operation);
    socket.write(
      `PUT /api/v1/commands/${id} HTTP/1.1\r\nHost: localhost\r\nPrefer: wait=60\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await harness.commander.next();
    return socket;
  }
  try {
    for (let at = 0; at < 250; at += 1) await put(`c${at}`, "CreateMission");
    const { clock, commander } = harness;
    commander.serve({ catalogue: fakeCatalogue("stops"), clock, refused: () => {} });
    for (let at = 0; at < 12; at += 1) {
      const socket = await put(`stop${at}`, "PauseRobot");
      const answered = once(socket, "data");
      commander.submitted.at(-1)?.end(succeeded(null));
      expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 200 /);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});
