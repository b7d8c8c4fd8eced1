import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createWebConnections } from "../../../src/northbound/web/connections.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";

const connections = createWebConnections({ most: 20, mostIdle: 2, mostBusy: 8 }, systemClock, silentLog);
const unanswered: ServerResponse[] = [];
const server = createServer((request, response) => {
  if (request.url === "/wait") unanswered.push(response);
  else response.end();
});
const clients: Socket[] = [];
connections.limit(server);
beforeEach(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function open(from: string, path: string): Socket {
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1", localAddress: from });
  clients.push(client.on("error", () => {}).resume());
  client.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return client;
}

it("closes the oldest of the address with most requests under way, and no other's", async () => {
  const [other] = [open("127.0.0.2", "/wait")];
  await expect.poll(() => unanswered.length).toBe(1);
  const many: Socket[] = [];
  for (let at = 0; at < 10; at += 1) {
    many.push(open("127.0.0.1", "/wait"));
    await expect.poll(() => unanswered.length).toBe(at + 2);
  }
  await expect.poll(() => many.filter(({ closed }) => closed).length).toBe(3);
  expect(many.map(({ closed }) => closed).slice(0, 4)).toEqual([true, true, true, false]);
  expect(other?.closed).toBe(false);
  const asks = open("127.0.0.3", "/");
  const [answer] = await once(asks, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  expect(connections.problem()).toBe(
    "more than 8 web connections have a request under way: the oldest are closed for new ones",
  );
  expect(connections.figures()).toEqual({ connections: 8, connectionsClosed: 4 });
});
