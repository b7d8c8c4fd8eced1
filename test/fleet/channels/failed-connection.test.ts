import "reflect-metadata";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createConnect, createOpenSockets } from "../../../src/fleet/channels/connection.ts";
import { defaultFleetTimes } from "../../../src/fleet/options.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openCensus } from "../../support/census.ts";
import { freePorts } from "../../support/free-ports.ts";

/** Of the service, which has gone after it was found well. */
const preflight = () => ({ beganAtMs: 0, streamLimit: Promise.resolve(100) });

/** The attempt, and the second one of grpc-js, which comes after a second. */
const PATIENCE_MS = 20_000;

test("an attempt that fails leaves nothing, while the service is away and when it comes back", async () => {
  const census = openCensus();
  onTestFinished(() => census.close());
  const port = await freePorts(1);
  const options = { proxyUrl: null, tls: { ca: null, client: null }, times: defaultFleetTimes };
  const all = createOpenSockets();
  const connect = createConnect(
    { ...options, grpcAddress: `127.0.0.1:${port}` },
    systemClock,
    preflight,
    all,
  );
  const attempt = () => expect(connect(AbortSignal.timeout(5_000))).rejects.toThrow("the connection failed");
  const leavesNothing = () => expect.poll(() => census.count().timers, { timeout: PATIENCE_MS }).toBe(0);
  await attempt();
  await leavesNothing();

  await attempt();
  const open = new Set();
  const service = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => service.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void service.close());
  await leavesNothing();
  expect(open.size).toBe(0);
});
