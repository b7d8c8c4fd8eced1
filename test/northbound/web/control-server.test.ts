import { execFile } from "node:child_process";
import { once } from "node:events";
import { lstat, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { succeeded } from "../opcua/fake-commands.ts";
import { type ControlHarness, createControlHarness, start } from "./control-harness.ts";

let harness: ControlHarness;

beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const body = JSON.stringify({ operation: "CreateMission", request: { robotId: "r1" } });
const head = (method: string, path: string, ...headers: readonly string[]) =>
  [`${method} ${path} HTTP/1.1`, "Host: x", ...headers, "", ""].join("\r\n");
const putHead = (id: string, length: number) =>
  head("PUT", `/api/v1/commands/${id}`, "Content-Type: application/json", `Content-Length: ${length}`);

/** All that the server answers to these bytes. */
async function say(bytes: string | Buffer): Promise<string> {
  const socket = await harness.open();
  socket.end(bytes);
  return await text(socket);
}

function openMany(count: number): Promise<readonly Socket[]> {
  return Promise.all(Array.from({ length: count }, () => harness.open()));
}

async function isAlive(): Promise<void> {
  expect(await harness.ask("GET", "/healthz")).toMatchObject({ status: 200, body: { state: "up" } });
  expect(await harness.ask("GET", "/livez")).toMatchObject({ status: 200, body: { alive: true } });
}

/** What the refusal of a request must say, by its status. */
const wouldBeRight: Readonly<Record<number, RegExp>> = {
  411: /send a body with content-length/,
  413: /^the body is too large: send at most \d+ bytes$/,
  414: /longer than \d+ characters$/,
  415: /send content-type: application\/json/,
};

describe("requests that the control server does not take", () => {
  it.each([
    ["PUT", "/api/v1/commands/c1/"],
    ["PUT", "//api/v1/commands/c1"],
    ["PUT", "/API/v1/commands/c1"],
    ["PUT", "/api/v2/commands/c1"],
    ["PUT", "/api/v1/commands/../hold"],
    ["PUT", "/api/v1/commands/c1/../../hold"],
    ["PUT", "/api/v1/robots//hold/x"],
    ["GET", "/../../etc/passwd"],
    ["GET", "/%2e%2e/%2e%2e/etc/passwd"],
    ["GET", "/"],
  ])("404: %s %s", async (method, path) => {
    expect(await harness.ask(method, path, method === "GET" ? undefined : body)).toMatchObject({
      status: 404,
      body: { title: "Not Found", status: 404, detail: `there is nothing to ${method} at this address` },
    });
    expect(harness.commander.submitted).toHaveLength(0);
    expect(harness.holds.asked).toEqual([]);
  });

  it.each<[string, number, string, string | undefined, Readonly<Record<string, string>>]>([
    ["an address that is no text", 400, "/api/v1/commands/%ff", body, {}],
    ["an address that is not encoded", 400, "/api/v1/commands/%zz", body, {}],
    ["an address that is too long", 414, `/api/v1/commands/${"x".repeat(2_400)}`, body, {}],
    ["a body without a type", 415, "/api/v1/commands/c1", body, { "content-type": "text/plain" }],
    ["a form", 415, "/api/v1/commands/c1", body, { "content-type": "application/x-www-form-urlencoded" }],
    ["a body that is too large", 413, "/api/v1/commands/c1", "x".repeat(262_145), {}],
    ["a large body for a small request", 413, "/api/v1/hold", "x".repeat(1_025), {}],
    ["JSON of another kind", 415, "/api/v1/commands/c1", body, { "content-type": "application/json-seq" }],
    ["a body without a length", 411, "/api/v1/commands/c1", body, { "transfer-encoding": "chunked" }],
  ])("%s: %i", async (_what, status, path, sent, headers) => {
    const answer = await harness.ask("PUT", path, sent, headers);
    expect(answer).toMatchObject({ status, body: { type: "about:blank", status } });
    expect(answer.headers["content-type"]).toContain("application/problem+json");
    expect(harness.commander.submitted).toHaveLength(0);
    if (wouldBeRight[status] !== undefined)
      expect((answer.body as { detail: string }).detail).toMatch(wouldBeRight[status]);
    await isAlive();
  });

  it.each<[string, string | Buffer, RegExp]>([
    ["the lines of an older version", `{"id":"c1","operation":"GetMap"}\n`, /^HTTP\/1\.1 400 /],
    [
      "random bytes",
      Buffer.from(Array.from({ length: 4_096 }, (_, at) => (at * 7_919) % 251)),
      /^HTTP\/1\.1 400 /,
    ],
    [
      "endless headers",
      head("GET", "/healthz", `X: ${"x".repeat(100_000)}`),
      /^HTTP\/1\.1 431 .*"the headers are too large"/s,
    ],
    [
      "two lengths",
      head("PUT", "/api/v1/hold", "Content-Length: 1", "Content-Length: 2"),
      /^HTTP\/1\.1 400 /,
    ],
    [
      "a length and chunks",
      head("PUT", "/api/v1/hold", "Content-Length: 4", "Transfer-Encoding: chunked"),
      /^HTTP\/1\.1 400 /,
    ],
    ["a tunnel", head("CONNECT", "example.com:443"), /^$/],
    ["nothing", "", /^$/],
  ])("%s", async (_what, bytes, answer) => {
    expect(await say(bytes)).toMatch(answer);
    await isAlive();
  });

  it("takes JSON that is nested as deep as a body can be", async () => {
    const levels = 50_000;
    const deep = `{"operation":"A","request":${'{"a":'.repeat(levels)}1${"}".repeat(levels)}}`;
    expect(await harness.put("c1", deep)).toMatchObject({
      status: 413,
    });
    const lists = `{"operation":"A","request":${"[".repeat(120_000)}${"]".repeat(120_000)}}`;
    expect(await harness.put("c1", lists)).toMatchObject({ status: 400 });
  });
});

describe("clients that take their time, or too much", () => {
  it("closes a connection that has sent nothing, or half of a request, after some seconds", {
    timeout: 30_000,
  }, async () => {
    const halves = ["", "PUT /api/v1/hold HTTP/1.1\r\nHost: x\r\nX-", `${putHead("c1", 100)}{"operation":`];
    // At the same time: each waits for its own.
    await Promise.all(
      halves.map(async (bytes) => {
        const socket = await harness.open();
        socket.resume().write(bytes);
        const beganMs = performance.now();
        await once(socket, "close");
        expect(performance.now() - beganMs, bytes).toBeLessThan(15_000);
      }),
    );
    expect(harness.commander.submitted).toHaveLength(0);
  });

  it("answers a few pipelined requests in order", async () => {
    const socket = await harness.open();
    const close = head("GET", "/healthz", "Connection: close");
    socket.write(`${putHead("c1", body.length)}${body}${putHead("c2", body.length)}${body}${close}`);
    const [first, second] = [await harness.commander.next(), await harness.commander.next()];
    second.end(succeeded(null));
    first.end(succeeded(null));
    expect((await text(socket)).match(/"id":"c.|"components"/g)).toEqual([
      '"id":"c1',
      '"id":"c2',
      '"components"',
    ]);
  });

  it("closes a connection that pipelines without end, and takes nothing of the rest", async () => {
    const socket = await harness.open();
    const closed = new Promise((resolve) => socket.once("close", resolve));
    const requests = Array.from({ length: 10_000 }, (_, at) => `${putHead(`c${at}`, body.length)}${body}`);
    socket.resume().write(requests.join(""));
    await closed;
    expect(harness.commander.submitted.length).toBeLessThanOrEqual(4);
    await expect.poll(() => harness.server.health().figures?.waiting).toBe(0);
    await isAlive();
  });

  it("answers beside thousands of connections, and counts those that it closed", async () => {
    const sockets: Socket[] = [];
    try {
      for (let round = 0; round < 25; round += 1) sockets.push(...(await openMany(40)));
      await isAlive();
      expect(harness.server.health()).toMatchObject({
        state: "degraded",
        detail: "more than 272 idle web connections: the oldest are closed for new ones",
      });
      const { connections = 0, connectionsClosed = 0 } = harness.server.health().figures ?? {};
      expect(connections).toBeLessThanOrEqual(320);
      expect(connectionsClosed).toBeGreaterThan(600);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it("answers beside any number of requests whose body does not come", async () => {
    const sockets: Socket[] = [];
    try {
      while (sockets.length < 500) {
        const some = await openMany(25);
        for (const socket of some) socket.write(`${putHead("c1", 100)}{"operation"`);
        sockets.push(...some);
      }
      for (let round = 0; round < 10; round += 1) await isAlive();
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  it("answers each of 256 clients that connect before any of them asks", async () => {
    const sockets: Socket[] = [];
    while (sockets.length < 256) sockets.push(...(await openMany(32)));
    const figures = () => harness.server.health().figures ?? {};
    const accepted = () => (figures().connections ?? 0) + (figures().connectionsClosed ?? 0);
    await expect.poll(accepted).toBe(256);
    const answers = sockets.map((socket) => {
      socket.write(head("GET", "/healthz", "Connection: close"));
      return text(socket);
    });
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(figures()).toMatchObject({ connectionsClosed: 0 });
  });

  it("answers a command at once when 96 others wait, or 32 of its user", async () => {
    const put = (id: string, user: string) => harness.put(id, body, { "fleetgate-user": user });
    const submit = async (count: number, user: string) => {
      const answers = Array.from({ length: count }, (_, at) => put(`c${at}`, user));
      const submitted = await Promise.all(answers.map(() => harness.commander.next()));
      return { answers, submitted };
    };
    const waiting = [await submit(32, "ann")];
    const late = async (user: string) => {
      const answer = harness.put("late", body, { prefer: "wait=60", "fleetgate-user": user });
      (await harness.commander.next()).stage("accepted");
      await harness.clock.settle(0);
      return await answer;
    };
    const atOnce = { status: 202, headers: { "preference-applied": "wait=0" } };
    expect(await late("ann")).toMatchObject(atOnce);
    waiting.push(await submit(32, "bob"), await submit(32, "eve"));
    expect(harness.server.health().figures).toMatchObject({ waiting: 96 });
    expect(await late("dan")).toMatchObject(atOnce);
    for (const { submitted } of waiting) for (const { end } of submitted) end(succeeded(null));
    for (const { answers } of waiting)
      for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
    expect(harness.server.health().figures).toMatchObject({ waiting: 0 });
  });

  it("keeps its memory bounded while clients never finish large bodies", { timeout: 60_000 }, async () => {
    const before = process.memoryUsage().rss;
    const bytes = `${JSON.stringify(putHead("c1", 262_144))} + "x".repeat(262_000)`;
    // In a process of their own, so that this one's memory is the server's.
    const script = `
      const { connect } = require("node:net");
      const open = () => connect({ path: ${JSON.stringify(harness.socketPath)} })
        .on("error", () => {}).on("connect", function () { this.write(${bytes}); });
      let rounds = 0;
      const timer = setInterval(() => {
        for (let at = 0; at < 100; at += 1) open();
        if (++rounds === 20) { clearInterval(timer); setTimeout(() => process.exit(), 8_000); }
      }, 50);`;
    let most = 0;
    const looking = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss - before);
    }, 10);
    await promisify(execFile)(process.execPath, ["-e", script]);
    clearInterval(looking);
    // 320 connections with 256 kB each, and as much again for the allocator.
    expect(most / 1e6).toBeLessThan(250);
    await isAlive();
    expect(harness.server.health().figures).toMatchObject({ waiting: 0 });
    expect(harness.commander.submitted).toHaveLength(0);
  });
});

describe("the socket's file", () => {
  it("is for the gateway's own user alone, and gone when the gateway stops", async () => {
    const about = await lstat(harness.socketPath);
    expect(about.isSocket()).toBe(true);
    expect(about.mode & 0o777).toBe(0o600);
    const client = (await harness.open()).resume();
    const closed = once(client, "close");
    await harness.stop();
    await closed;
    await expect(lstat(harness.socketPath)).rejects.toThrow("ENOENT");
  });

  it("is not taken from a gateway that lives", async () => {
    await expect(start(harness.another())).rejects.toThrow(
      `another gateway answers on ${harness.socketPath}: end it, or give this one a gateway.dataDir of its own`,
    );
    await isAlive();
  });

  it("is taken from one that was killed", async () => {
    await harness.stop();
    const script = `require("node:net").createServer().listen(${JSON.stringify(harness.socketPath)}, () => process.kill(process.pid, "SIGKILL"))`;
    await expect(promisify(execFile)(process.execPath, ["-e", script])).rejects.toMatchObject({
      signal: "SIGKILL",
    });
    expect((await lstat(harness.socketPath)).isSocket()).toBe(true);
    const stop = await start(harness.another());
    await isAlive();
    await stop();
  });

  it("is not put in the place of anything else", async () => {
    await harness.stop();
    await writeFile(harness.socketPath, "precious");
    await expect(start(harness.another())).rejects.toThrow(/is no socket: move it away/);
  });

  it("is not shared with a program that only listens", async () => {
    await harness.stop();
    const deaf = createServer().listen(harness.socketPath);
    await once(deaf, "listening");
    await expect(start(harness.another())).rejects.toThrow(/another gateway answers/);
    deaf.close();
    await once(deaf, "close");
  });
});

it("stops at once, though commands wait for their outcome", async () => {
  const cut = harness.put("c1", body).catch((error: unknown) => error);
  await harness.commander.next();
  const beganMs = performance.now();
  await harness.stop();
  // The outcome never comes.
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  expect(await cut).toMatchObject({ code: "ECONNRESET" });
  expect(harness.server.health().state).toBe("down");
});
