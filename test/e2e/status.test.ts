import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { statusLines } from "../../src/cli/status/status-text.ts";
import type { JsonObject } from "../../src/platform/json.ts";
import { openSession } from "../northbound/opcua/opcua-harness.ts";
import { freePorts } from "../support/free-ports.ts";
import { startSimulator } from "../support/simulator.ts";
import { startGateway } from "./e2e-harness.ts";

const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function statusOf(socketPath: string): Promise<JsonObject> {
  const asked = request({ socketPath, path: "/api/v1/status", host: "localhost" }).end();
  const [response] = await once(asked, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return JSON.parse(body);
}

test("the status lists a client that waits for approval, and the console as a browser finds it", async () => {
  const simulator = await startSimulator({ seed: 7 });
  closers.push(() => simulator.stop());
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-status-"));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "password"), "a password of some length\n", { mode: 0o600 });
  const [web, port] = [await freePorts(1), await freePorts(1)];
  const gateway = await startGateway(folder, simulator.endpoints, {
    web: { listen: { host: "127.0.0.1", port: web } },
    opcua: {
      listen: { host: "127.0.0.1", port },
      insecureLoopback: undefined,
      users: { line1: { password: "password", role: "operator" } },
    },
  });
  closers.push(() => gateway.stop());
  expect(statusLines(await statusOf(gateway.socketPath)).join("\n")).not.toContain("approval");
  const user = { name: "line1", password: "a password of some length" };
  await expect(openSession(`opc.tcp://127.0.0.1:${port}`, { secure: true, user })).rejects.toThrow();
  const status = await statusOf(gateway.socketPath);
  expect(status.waiting_clients).toMatchObject({
    count: 1,
    listed: [{ application_uri: "urn:fleetgate:test-client", thumbprint: expect.any(String) }],
  });
  const text = statusLines(status).join("\n");
  expect(text).toMatch(
    /approval, or were rejected: 1 .*\n {2}[0-9a-f]{12} {2}urn:fleetgate:test-client {2}since /,
  );
  expect(text).toMatch(new RegExp(`^ {2}web +up .* http://127\\.0\\.0\\.1:${web}$`, "m"));
});
