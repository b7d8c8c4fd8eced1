import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CallFailed } from "../../src/cli/control-client.ts";
import { followEvents } from "../../src/cli/tail.ts";
import type { JsonObject } from "../../src/platform/json.ts";

let folder: string;
let socketPath: string;
let server: Server;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-follow-"));
  socketPath = join(folder, "control.sock");
});
afterEach(async () => {
  server.close();
  server.closeAllConnections();
  await rm(folder, { recursive: true });
});

/** Follows a gateway that answers as a test says: the events, and how it ended. */
async function follow(answer: RequestListener): Promise<{ events: JsonObject[]; end: unknown }> {
  server = createServer(answer).listen(socketPath);
  await once(server, "listening");
  const events: JsonObject[] = [];
  const { signal } = new AbortController();
  const onEvents = (some: readonly JsonObject[]) => void events.push(...some);
  const end = await followEvents(socketPath, onEvents, signal, 200).catch((error: unknown) => error);
  return { events, end };
}

const message = (name: string, body: object) => `event: ${name}\ndata: ${JSON.stringify(body)}\n\n`;
const robots = (...all: ReadonlyArray<readonly [string, string]>) => ({
  at: "now",
  robots: all.map(([robot_id, quality]) => ({ robot_id, quality })),
});

it("tells events, and each quality that changes, until the gateway is killed", async () => {
  const { events, end } = await follow(({ socket }, response) => {
    response.write(message("snapshot", {}) + message("robots", robots(["r1", "good"], ["r2", "good"])));
    response.write(message("change", robots(["r1", "stale"], ["r2", "good"], ["r3", "good"])));
    response.write(message("change", { robots: [{ robot_id: "r1" }] }));
    response.write(`id: 1\n${message("event", { kind: "alarm" })}event: event\n\x1b[2J\ndata: [1]\n\n`);
    response.write('event: event\ndata: {"kind":"mis', () => setImmediate(() => socket.destroy()));
  });
  const state = { kind: "state", robot_id: "r1", at: "now", from: "good", to: "stale" };
  expect(events).toEqual([state, { kind: "alarm" }]);
  expect(end).toBe("the gateway closed the connection");
});

it("gives the reason that the gateway gives", async () => {
  const { end } = await follow((_request, response) =>
    response.end(message("snapshot", {}) + message("closed", { reason: "the gateway stops" })),
  );
  expect(end).toBe("the gateway stops");
});

it("ends when the gateway gives no sign of life", async () => {
  const { end } = await follow((_request, response) => void response.write(message("snapshot", {})));
  expect(end).toBe("the gateway gives no sign of life");
});

it.each<[string, RequestListener, RegExp]>([
  ["nothing", () => {}, /^the gateway gives no sign of life$/],
  ["no HTTP", ({ socket }) => void socket.end("garbage\r\n\r\n"), /^the connection to the gateway failed: /],
  [
    "the end",
    ({ socket }) => void socket.destroy(),
    /^the gateway closed the connection before it answered$/,
  ],
  [
    "a refusal",
    (_request, response) => void response.writeHead(503).end('{"detail":"64 readers"}'),
    /^the gateway answered 503: 64 readers$/,
  ],
  [
    "a refusal without words",
    (_request, response) => void response.writeHead(500).end("<"),
    /^the connection/,
  ],
])("rejects when it is answered with %s at first", async (_what, answer, message) => {
  const { events, end } = await follow(answer);
  expect(events).toEqual([]);
  expect(end).toBeInstanceOf(CallFailed);
  expect(end).toMatchObject({ message: expect.stringMatching(message), wasSent: false });
});
