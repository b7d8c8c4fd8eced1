import { networkInterfaces } from "node:os";
import Fastify from "fastify";
import { expect, test } from "vitest";
import type { Control } from "../../../src/simulator/control.ts";
import { addControlRoutes } from "../../../src/simulator/http/routes.ts";
import { https } from "../../support/https.ts";
import { startSimulator } from "../../support/simulator.ts";

const address = Object.values(networkInterfaces())
  .flatMap((each) => each ?? [])
  .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

test.runIf(address !== undefined)("a service that listens on one address answers this machine", async () => {
  const simulator = await startSimulator({ host: address ?? "" });
  try {
    const url = `${simulator.endpoints.https}/simulator/faults`;
    const answer = await https({ url, ca: simulator.ca });
    expect([answer.status, answer.text]).toEqual([200, '{"faults":[]}']);
  } finally {
    await simulator.stop();
  }
});

test.each([
  ["127.0.0.1", 200],
  ["10.20.0.12", 500],
])("a request from %s is answered with %d", async (remoteAddress, status) => {
  const app = Fastify();
  addControlRoutes(app, { faults: () => [] } as unknown as Control);
  const answer = await app.inject({ method: "GET", url: "/simulator/faults", remoteAddress });
  expect(answer.statusCode).toBe(status);
  // The handler of errors that makes 403 of it is the server's.
  if (status !== 200) expect(answer.json().message).toMatch(/answers to this machine only/);
});
