import { connect as connectPlain } from "node:net";
import { connect, type TLSSocket } from "node:tls";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let simulator: RunningSimulator;
let port: number;
beforeAll(async () => {
  simulator = await startSimulator();
  port = Number(new URL(simulator.endpoints.https).port);
});
afterAll(() => simulator.stop());

/** Sends bytes over TLS and reads until the service closes. */
function exchangeBytes(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({ port, host: "127.0.0.1", ca: simulator.ca }, () =>
      socket.write(bytes),
    );
    const chunks: Buffer[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")));
  });
}

const request = (line: string) => `${line}\r\nhost: localhost\r\nconnection: close\r\n\r\n`;

test.each([
  ["no HTTP", Buffer.from([0, 1, 2, 3, 255, 10, 10])],
  ["half a sentence", "what is this\r\n\r\n"],
  [
    "two lengths",
    "POST /task/add HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
  ],
  [
    "a length and chunks",
    "POST /task/add HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["headers without end", `GET / HTTP/1.1\r\nx: ${"y".repeat(100_000)}\r\n\r\n`],
  ["a verb that nobody knows", request("BREW /amr/onlineAmr HTTP/1.1")],
  ["a path that is not encoded well", request("GET /%zz HTTP/1.1")],
])("%s: 400, INVALID_ARGUMENT as JSON", async (_, bytes) => {
  const answer = await exchangeBytes(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/^grpc-status: 3\r$/im);
  expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")))).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test.each(["PATCH", "OPTIONS", "TRACE"])("%s of a known path is 405", async (verb) => {
  const answer = await exchangeBytes(request(`${verb} /amr/onlineAmr HTTP/1.1`));
  expect(answer).toMatch(/^HTTP\/1\.1 405 /);
});

test("bytes that are no TLS leave the service up", async () => {
  const socket = connectPlain(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\n\r\n"));
  await new Promise((resolve) => socket.once("close", resolve));
  expect((await simulator.rest("GET", "/amr/onlineAmr")).status).toBe(200);
});

test("a web page may not use the control endpoint", async () => {
  const answer = await exchangeBytes(
    "GET /simulator/faults HTTP/1.1\r\nhost: localhost\r\norigin: https://page.example\r\nconnection: close\r\n\r\n",
  );
  expect(answer).toMatch(/^HTTP\/1\.1 403 /);
});
