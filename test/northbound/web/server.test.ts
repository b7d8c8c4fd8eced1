import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { connect, createServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import type { Monitoring } from "../../../src/northbound/web/monitoring.ts";
import { createWebServer, type WebServer } from "../../../src/northbound/web/server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Health } from "../../../src/platform/component.ts";
import { PortTaken } from "../../../src/platform/listener.ts";
import type { Hang } from "../../../src/platform/liveness.ts";
import { fakeMonitoring } from "../../support/fake-monitoring.ts";
import { openListener, webParts } from "./web-harness.ts";

let hang: Hang | null = null;
let unready: string | null = null;
const readiness = { problem: () => unready };
const partsWith = (health: Monitoring["health"]) => ({
  ...webParts(systemClock).parts,
  monitoring: fakeMonitoring({ health, hang: () => hang, readiness }),
});

interface RunningServer {
  readonly url: string;
  readonly server: WebServer;
  stop(): Promise<void>;
}

const open: RunningServer[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((harness) => harness.stop()));
});

async function serve(
  health: () => Readonly<Record<string, Health>> = () => ({ fleet: { state: "up" } }),
): Promise<RunningServer> {
  const controller = new AbortController();
  const server = createWebServer(
    { listen: { host: "127.0.0.1", port: 0 }, hostnames: ["gateway1.plant.example.com"], ...openListener },
    partsWith(health),
  );
  let running: Promise<void> | undefined;
  await new Promise<void>((resolve, reject) => {
    running = server.run(controller.signal, resolve);
    running.catch(reject);
  });
  const harness = {
    url: server.url() ?? "",
    server,
    async stop() {
      controller.abort();
      await running;
    },
  };
  open.push(harness);
  return harness;
}

/** Sends a Host header of the test's choice; fetch does not. */
async function ask(url: string, path: string, host: string): Promise<{ status: number; text: string }> {
  const request = get(`${url}${path}`, { headers: { host }, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, text };
}

describe("/healthz", () => {
  it.each<[string, Readonly<Record<string, Health>>, number, Health["state"]]>([
    ["all up", { fleet: { state: "up" }, mqtt: { state: "up" } }, 200, "up"],
    ["one in difficulty", { fleet: { state: "degraded" }, mqtt: { state: "up" } }, 200, "degraded"],
    ["one starting", { fleet: { state: "starting" }, mqtt: { state: "degraded" } }, 503, "starting"],
    ["one down", { fleet: { state: "starting" }, mqtt: { state: "down" } }, 503, "down"],
    ["nothing to report", {}, 503, "starting"],
  ])("with %s", async (_what, components, status, state) => {
    const { url } = await serve(() => components);
    const response = await fetch(`${url}/healthz`);
    expect(response.status).toBe(status);
    expect(response.headers.get("content-type")).toContain("application/json");
    expect(await response.json()).toEqual({ state, components });
  });
});

describe("/livez", () => {
  afterEach(() => {
    hang = null;
  });

  it("answers 200 while the parts answer, whatever the fleet does", async () => {
    const { url } = await serve(() => ({ fleet: { state: "down" } }));
    const response = await fetch(`${url}/livez`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ alive: true });
  });

  it("answers 503 with the part that hangs, and why", async () => {
    const { url } = await serve();
    hang = { part: "quality", reason: "it has done nothing for 31 s" };
    const response = await fetch(`${url}/livez`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ alive: false, ...hang });
  });
});

describe("/readyz", () => {
  afterEach(() => {
    unready = null;
  });

  it("answers 200 while the gateway serves, whatever the fleet does", async () => {
    const { url } = await serve(() => ({ fleet: { state: "down" } }));
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ready: true });
  });

  it("answers 503 with the reason while it starts or stops", async () => {
    const { url } = await serve();
    unready = "it stops";
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toEqual({ ready: false, reason: unready });
  });
});

describe("the server", () => {
  it("answers 404 for unknown addresses", async () => {
    const { url } = await serve();
    const unknown = await fetch(`${url}/etc/passwd`);
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      {
        type: "about:blank",
        title: "Not Found",
        status: 404,
        detail: "there is nothing to GET at this address",
      },
    ]);
    expect((await fetch(`${url}/%c0%af`)).status).toBeLessThan(500);
  });

  it.each([
    ["GET", "/api/v1/status"],
    ["GET", "/api/v1/log-level"],
    ["PUT", "/api/v1/log-level"],
    ["POST", "/api/v1/reload"],
    ["POST", "/api/v1/recordings"],
  ])("does not have what is for users of the machine: %s %s", async (method, path) => {
    const { url } = await serve();
    const json = { body: "{}", headers: { "content-type": "application/json" } };
    expect((await fetch(`${url}${path}`, { method, ...(method === "PUT" ? json : {}) })).status).toBe(404);
  });

  it("answers 500 and stays up when an answer cannot be made", async () => {
    let isBroken = true;
    const { url } = await serve(() => {
      if (isBroken) throw new Error("secret detail");
      return { fleet: { state: "up" } };
    });
    const response = await fetch(`${url}/healthz`);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
    expect([response.status, await response.json()]).toMatchObject([
      500,
      { detail: "the gateway failed; its log says why" },
    ]);
    isBroken = false;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it("rejects with the number of a port that is taken", async () => {
    const squatter = createServer().listen(0, "127.0.0.1");
    await once(squatter, "listening");
    const address = squatter.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const server = createWebServer(
      { listen: { host: "127.0.0.1", port }, hostnames: [], ...openListener },
      partsWith(() => ({})),
    );
    const failed = await server.run(new AbortController().signal, () => {}).catch((error: unknown) => error);
    squatter.close();
    expect(failed).toBeInstanceOf(PortTaken);
    expect(failed).toMatchObject({ port, listener: "web" });
    expect(server.health().state).toBe("down");
  });

  it.each([
    ["localhost", 200],
    ["localhost:8080", 200],
    ["LOCALHOST.", 200],
    ["127.0.0.1:80", 200],
    ["[::1]:8080", 200],
    ["gateway1.plant.example.com:8080", 200],
    ["evil.example.com", 421],
    ["evil.example.com:8080", 421],
    ["127.0.0.1.evil.example.com", 421],
    ["localhost.evil.example.com", 421],
    ["192.0.2.1", 421],
  ])("answers the host %s with %i", async (host, status) => {
    const { url } = await serve();
    for (const path of ["/healthz", "/metrics", "/nothing"]) {
      const answer = await ask(url, path, host);
      expect(answer.status === 404 ? 200 : answer.status, path).toBe(status);
      if (status === 421)
        expect(JSON.parse(answer.text)).toMatchObject({
          status: 421,
          detail: `this gateway does not answer for the host "${host.replace(/:\d+$/, "")}": use its address, or add the name to web.hostnames in its configuration`,
        });
    }
  });

  it.each([
    ["no Host header", "GET /livez HTTP/1.1\r\n\r\n", 400, "Host"],
    ["two Host headers", "GET /livez HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n", 400, "Host"],
    ["an expectation", "GET /livez HTTP/1.1\r\nHost: localhost\r\nExpect: tea\r\n\r\n", 417, "Expect"],
  ])("refuses %s with a problem", async (_what, text, status, named) => {
    const { url } = await serve();
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(text);
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toContain("content-type: application/problem+json");
    expect(JSON.parse(answer.split("\r\n\r\n")[1] ?? "")).toMatchObject({
      status,
      detail: expect.stringContaining(named),
    });
  });

  it("answers a health check beside any number of idle connections", async () => {
    const { url, server } = await serve();
    const port = Number(new URL(url).port);
    const idle = Array.from({ length: 400 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    try {
      // Some have sent half of a request, some a whole one and keep their connection.
      idle.forEach((socket, at) => {
        if (at % 3 === 1) socket.write("GET / HTTP/1.1\r\nHost: loc");
        if (at % 3 === 2) socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      });
      await expect.poll(() => server.health().figures?.connectionsClosed ?? 0).toBeGreaterThanOrEqual(100);
      expect((await ask(url, "/healthz", "localhost")).status).toBe(200);
      expect(server.health()).toMatchObject({
        state: "degraded",
        detail: "more than 272 idle web connections: the oldest are closed for new ones",
      });
      expect(server.health().figures?.connections).toBeLessThanOrEqual(320);
    } finally {
      for (const socket of idle) socket.destroy();
    }
  });

  it("answers health checks beside any number of requests whose body does not come", async () => {
    const { url, server } = await serve();
    const port = Number(new URL(url).port);
    const head = "POST /api/v1/session HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const slow = Array.from({ length: 400 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    try {
      for (const socket of slow) socket.resume().write(`${head}Content-Length: 60\r\n\r\n{"user"`);
      await expect.poll(() => server.health().figures?.connectionsClosed ?? 0).toBeGreaterThanOrEqual(100);
      for (let round = 0; round < 20; round += 1)
        expect((await ask(url, "/livez", "localhost")).status).toBe(200);
    } finally {
      for (const socket of slow) socket.destroy();
    }
  });

  it.each([
    ["nothing", ""],
    ["half of a request", "GET / HTTP/1.1\r\nHost: loc"],
  ])("closes a connection that has sent %s after some seconds", async (_what, text) => {
    const { url } = await serve();
    const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
    socket.resume().write(text);
    const beganMs = performance.now();
    await once(socket, "close");
    expect(performance.now() - beganMs).toBeLessThan(15_000);
  });

  it("stops at once, though a client holds its connection open", async () => {
    const harness = await serve();
    await (await fetch(`${harness.url}/healthz`, { headers: { connection: "keep-alive" } })).text();
    expect(harness.server.health().state).toBe("up");
    const before = performance.now();
    await harness.stop();
    // Such a connection is kept for 5 s.
    expect(performance.now() - before).toBeLessThan(4_000);
    expect([harness.server.health().state, harness.server.url()]).toEqual(["down", null]);
    await expect(fetch(`${harness.url}/healthz`)).rejects.toThrow();
  });
});
