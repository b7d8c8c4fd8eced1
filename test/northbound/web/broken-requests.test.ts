import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import type { FastifyInstance } from "fastify";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWebConnections, listenerBounds } from "../../../src/northbound/web/connections.ts";
import { createHttpServer } from "../../../src/northbound/web/http-server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";

let server: FastifyInstance;
let end: () => void = () => {};

beforeEach(async () => {
  server = createHttpServer(createWebConnections(listenerBounds, systemClock, silentLog), silentLog);
  server.get("/stream", (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": "text/plain" }).write("begun\n");
    end = () => void reply.raw.end("ended\n");
  });
  await server.listen({ host: "127.0.0.1", port: 0 });
});
afterEach(() => server.close());

const REQUEST = "GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n";

/**
 * Sends bytes behind a request whose answer goes on until the server has seen them. Returns all that comes.
 */
async function sendBehind(bytes: string, seen: "clientError" | "checkExpectation"): Promise<string> {
  server.server.once(seen, () => setImmediate(end));
  const socket = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => socket.destroy());
  socket.write(REQUEST);
  let said = "";
  let isSent = false;
  socket.on("data", (chunk) => {
    said += String(chunk);
    if (said.includes("begun") && !isSent) {
      isSent = true;
      socket.write(bytes);
    }
  });
  await once(socket, "close");
  return said;
}

it("bytes that are no request never get an answer within another one", async () => {
  const said = await sendBehind("no request\r\n\r\n", "clientError");
  expect(said).toContain("begun");
  expect(said.match(/HTTP\/1\.1 /g)).toHaveLength(1);
});

it("a refused expectation is answered after the answer that is under way", async () => {
  const request = "GET /nothing HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n";
  const said = await sendBehind(request, "checkExpectation");
  expect(said.indexOf("ended")).toBeGreaterThan(0);
  expect(said.indexOf("HTTP/1.1 417 ")).toBeGreaterThan(said.indexOf("ended"));
});
