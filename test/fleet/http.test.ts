import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createHttp, type HttpRequest, NothingSent } from "../../src/fleet/http.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { startSimulator } from "../support/simulator.ts";
import { openHungWire } from "./hung-wire.ts";

const closers: Array<() => Promise<void>> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const CONNECT_MS = 10_000;

function client(ca: string | null, proxyUrl: string | null) {
  const http = createHttp(
    { tls: { ca, client: null }, proxyUrl, times: { connectMs: CONNECT_MS } },
    systemClock,
  );
  closers.push(async () => await http[Symbol.asyncDispose]());
  return http;
}

const request = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  verb: "POST",
  url,
  headers: {},
  body: "{}",
  deadlineMs: 300,
  signal: new AbortController().signal,
  reads: false,
  ...more,
});

/** A proxy that does with CONNECT what it is told to. */
async function startProxy(onConnect: (client: Socket) => void): Promise<string> {
  const server: Server = createServer();
  const sockets = new Set<Socket>();
  server.on("connect", (_, socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnect(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

test.each([407, 502, 503])(
  "behind a proxy that answers %i to the tunnel nothing was sent",
  async (status) => {
    const proxy = await startProxy((socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const sending = client(null, proxy).send(
      request("https://fleet.invalid/v1/mission/create", { deadlineMs: 20_000 }),
    );
    await expect(sending).rejects.toBeInstanceOf(NothingSent);
    await expect(sending).rejects.toThrow(String(status));
  },
);

test.each([true, false])(
  "a proxy that never answers costs no more than the deadline, and nothing was sent (a read: %s)",
  async (reads) => {
    const proxy = await startProxy(() => {});
    const startedMs = performance.now();
    const sending = client(null, proxy).send(request("https://fleet.invalid/v1/mission/create", { reads }));
    await expect(sending).rejects.toThrow(/^no connection.* within 300 ms$/);
    await expect(sending).rejects.toBeInstanceOf(NothingSent);
    expect(performance.now() - startedMs).toBeLessThan(CONNECT_MS / 2);
  },
);

test("an answer that is larger than its request allows is given up", async () => {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const http = client(simulator.ca.toString("utf8"), null);
  const get = request(`${simulator.endpoints.https}/authorizeApiAccess`, { deadlineMs: 5_000 });
  const bodyOf = async (largest: object) => Buffer.concat((await http.send({ ...get, ...largest })).parts);
  const { length } = await bodyOf({});
  expect(await bodyOf({ largestBytes: length })).toHaveLength(length);
  await expect(http.send({ ...get, largestBytes: length - 1 })).rejects.toThrow("larger than");
});

test("what was given up before there was a connection is not sent when there is one", async () => {
  const simulator = await startSimulator();
  closers.push(() => simulator.stop());
  const wire = await openHungWire(new URL(simulator.endpoints.https).host);
  closers.push(() => wire.close());
  const http = client(simulator.ca.toString("utf8"), null);
  const headers = { authorization: `Bearer ${await simulator.token()}` };
  const mission = { baseMission: { navigateMission: { goal: { destinationId: "Table 1" } } } };
  const create = request(`https://${wire.address}/v1/mission/create`, {
    headers,
    body: JSON.stringify({ robotId: "base-01", mission }),
  });
  wire.hang("kept");
  await expect(http.send(create)).rejects.toBeInstanceOf(NothingSent);
  const before = simulator.control.record(0).length;
  await expect.poll(wire.accepted).toBe(1);
  wire.goOn();
  // The connection that was wanted is made now, and a later one is answered.
  const read = request(`https://${wire.address}/v1/webhook/list`, { headers, deadlineMs: 5_000 });
  expect((await http.send(read)).status).toBe(200);
  expect(simulator.control.record(0)).toHaveLength(before);
  // The same, not given up, is taken: the record would have shown it.
  expect((await http.send({ ...create, deadlineMs: 5_000 })).status).toBe(200);
  expect(simulator.control.record(0).length).toBeGreaterThan(before);
});

test("a gateway that stops gives up what waits for a connection, and says that nothing was sent", async () => {
  const proxy = await startProxy(() => {});
  const stopping = new AbortController();
  const sending = client(null, proxy).send(
    request("https://fleet.invalid/x", { deadlineMs: 60_000, signal: stopping.signal }),
  );
  const ended = expect(sending).rejects.toThrow("the gateway stops");
  stopping.abort();
  await ended;
});
