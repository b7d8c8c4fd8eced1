import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { CallFailed } from "../../src/cli/control-client.ts";
import { followEvents } from "../../src/cli/tail/command.ts";
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
  const end = await followEvents(
    socketPath,
    "/api/v1/tail",
    (event) => events.push(event),
    signal,
    200,
  ).catch((error: unknown) => error);
  return { events, end };
}

it("tells events until the gateway is killed, and nothing of half a line, garbage or what is no object", async () => {
  const { events, end } = await follow(({ socket }, response) => {
    response.write('{"kind":"open"}\n\x1b[2J\n[1]\n\n{"kind":"alarm"}\n{"kind":"mis');
    response.write("", () => setImmediate(() => socket.destroy()));
  });
  expect(events).toEqual([{ kind: "open" }, { kind: "alarm" }]);
  expect(end).toBe("the gateway closed the connection");
});

it("gives the reason that the gateway gives", async () => {
  const { events, end } = await follow((_request, response) =>
    response.end('{"kind":"open"}\n{"kind":"closed","reason":"the gateway stops"}\n'),
  );
  expect(events).toEqual([{ kind: "open" }]);
  expect(end).toBe("the gateway stops");
});

it("ends when the gateway gives no sign of life", async () => {
  const { events, end } = await follow((_request, response) => void response.write('{"kind":"open"}\n'));
  expect(events).toEqual([{ kind: "open" }]);
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
    (_request, response) => void response.writeHead(503).end('{"detail":"8 readers"}'),
    /^the gateway answered 503: 8 readers$/,
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
