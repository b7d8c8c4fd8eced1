import { once } from "node:events";
import { constants, createServer, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import { Worker } from "node:worker_threads";
import { Client, credentials, status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { proveAlive } from "../../../src/fleet/channels/preflight.ts";
import { defaultFleetTimes, type FleetOptions } from "../../../src/fleet/options.ts";

/**
 * A service in a thread of its own: it counts questions in `shared[0]`, and answers once `shared[1]` is set.
 */
const SERVICE = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { Server, ServerCredentials } = require("@grpc/grpc-js");
  const shared = new Int32Array(workerData);
  const server = new Server();
  const asIs = (bytes) => bytes;
  const method = { path: "/fleet.v1.FleetService/ListWebhooks", requestStream: false, responseStream: false,
    requestSerialize: asIs, requestDeserialize: asIs, responseSerialize: asIs, responseDeserialize: asIs };
  server.addService({ ListWebhooks: method }, {
    ListWebhooks(call, answer) {
      Atomics.add(shared, 0, 1);
      Atomics.wait(shared, 1, 0);
      answer(null, Buffer.alloc(0));
    },
  });
  server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (_, port) => parentPort.postMessage(port));
`;
const WAIT_MS = 1_000;
/** The longest that a sign of life may take is a quarter of it. */
const options = {
  serviceName: "fleet.v1.FleetService",
  times: { ...defaultFleetTimes, streamSilenceMs: 4 * WAIT_MS },
} as Partial<FleetOptions> as FleetOptions;

async function openService() {
  const shared = new Int32Array(new SharedArrayBuffer(8));
  const service = new Worker(SERVICE, { eval: true, workerData: shared.buffer });
  const [port] = (await once(service, "message")) as [number];
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  const asked = async () => {
    while (Atomics.load(shared, 0) === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const answer = () => {
    Atomics.store(shared, 1, 1);
    Atomics.notify(shared, 1);
  };
  async function close() {
    answer();
    client.close();
    await service.terminate();
  }
  return { client, asked, answer, close };
}

test("a sign of life that came while the gateway was held up counts, though its time is over", async () => {
  const { client, asked, answer, close } = await openService();
  const isAlive = proveAlive(client, options, null);
  await asked();
  answer();
  // Nothing in this thread runs until after the deadline; the answer comes meanwhile.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS + 300);
  expect(await isAlive).toBe(true);
  await close();
});

test("a service that does not answer gives no sign of life", async () => {
  const { client, close } = await openService();
  expect(await proveAlive(client, options, null)).toBe(false);
  await close();
});

const statusOf = (code: number) => (stream: ServerHttp2Stream) =>
  stream.respond(
    { ":status": 200, "content-type": "application/grpc", "grpc-status": code },
    { endStream: true },
  );
const resetBy = (code: number) => (stream: ServerHttp2Stream) => stream.close(code);

test.each([
  ["a service that fails on the question", statusOf(status.INTERNAL), true],
  ["a service that does not say how it fails", statusOf(status.UNKNOWN), true],
  ["a service that refuses the token", statusOf(status.UNAUTHENTICATED), true],
  ["a balancer without a service", statusOf(status.UNAVAILABLE), false],
  ["a balancer that cuts the call", resetBy(constants.NGHTTP2_NO_ERROR), false],
  ["a connection that breaks", resetBy(constants.NGHTTP2_INTERNAL_ERROR), false],
])("%s: sign of life or not", async (_, answer, isAlive) => {
  const server = createServer();
  server.on("stream", (stream) => {
    // The reset is what the test is about.
    stream.on("error", () => {});
    answer(stream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  expect(await proveAlive(client, options, null)).toBe(isAlive);
  client.close();
  server.close();
});
