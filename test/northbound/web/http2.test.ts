import { once } from "node:events";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type OutgoingHttpHeaders,
} from "node:http2";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WebAccess, WebUser } from "../../../src/northbound/web/options.ts";
import { createWebServer, type WebServer } from "../../../src/northbound/web/server.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createLive } from "../../../src/platform/live.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { missionEvent } from "../../delivery/fleet-updates.ts";
import { createChronicle } from "../../support/chronicle.ts";
import { type FakeCommander, succeeded } from "../opcua/fake-commands.ts";
import { start } from "./control-harness.ts";
import type { TestApi } from "./fleet-api-harness.ts";
import { openAccess, webParts } from "./web-harness.ts";

const anna: WebUser = { name: "anna", role: "operator", robots: null, password: "anna's password" };
const authority = await createCa(Date.now());
const made = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
const tls = { key: made.key, cert: made.certificate };
const ca = Buffer.from(authority.certificate);

const access = createLive<WebAccess>(openAccess);
let server: WebServer;
let commander: FakeCommander;
let fleet: TestApi;
let stop: () => Promise<void>;
let session: ClientHttp2Session;

beforeEach(async () => {
  access.replace({ ...openAccess, users: [anna] });
  const web = webParts(systemClock);
  ({ commander, fleet } = web);
  const listen = { host: "127.0.0.1", port: 0 };
  server = createWebServer(
    {
      listen,
      hostnames: [],
      tls: createLive(tls),
      access,
    },
    web.parts,
  );
  stop = await start(server);
  session = open();
});
afterEach(async () => {
  session.destroy();
  await stop();
});

const port = () => Number(new URL(server.url() ?? "").port);

function open(): ClientHttp2Session {
  const opened = connect(server.url() ?? "", { ca });
  opened.on("error", () => {});
  return opened;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

function begin(headers: OutgoingHttpHeaders): ClientHttp2Stream {
  const stream = session.request(headers, { endStream: false });
  stream.on("error", () => {});
  return stream;
}

async function answerOf(stream: ClientHttp2Stream): Promise<Answer> {
  const [headers] = await once(stream, "response");
  return { status: headers[constants.HTTP2_HEADER_STATUS], headers, body: await text(stream) };
}

async function ask(path: string, headers: OutgoingHttpHeaders = {}, body = ""): Promise<Answer> {
  const length = body === "" ? {} : { "content-type": "application/json", "content-length": body.length };
  const stream = begin({ ":path": path, ...length, ...headers });
  stream.end(body);
  return await answerOf(stream);
}

async function logIn(): Promise<OutgoingHttpHeaders> {
  const answer = await ask(
    "/api/v1/session",
    { ":method": "POST" },
    JSON.stringify({ user: "anna", password: "anna's password" }),
  );
  expect(answer.status).toBe(200);
  return { cookie: String(answer.headers["set-cookie"]).split(";", 1)[0] ?? "" };
}

const command = JSON.stringify({
  operation: "CreateMission",
  request: { robotId: "r1" },
  expires_in_ms: 60_000,
});

describe("HTTP/2", () => {
  it("is spoken under TLS with those who ask for it, and HTTP/1.1 with the others", async () => {
    expect(await ask("/livez")).toMatchObject({ status: 200, body: '{"alive":true}' });
    expect(session.alpnProtocol).toBe("h2");
    for (const ALPNProtocols of [["http/1.1"], undefined]) {
      const options = { host: "127.0.0.1", port: port(), ca };
      const socket = connectTls(ALPNProtocols === undefined ? options : { ...options, ALPNProtocols });
      socket.write("GET /livez HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n");
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 OK/);
    }
  });

  it("wants a log-in, knows its cookie, and gives each tab a stream on one connection", async () => {
    expect((await ask("/api/v1/robots")).status).toBe(401);
    const cookie = await logIn();
    expect((await ask("/api/v1/robots", cookie)).status).toBe(200);
    const streams = Array.from({ length: 7 }, () => begin({ ":path": "/api/v1/stream", ...cookie }));
    const answers = await Promise.all(streams.map((stream) => once(stream, "response")));
    expect(answers.map(([headers]) => headers[":status"])).toEqual(Array(7).fill(200));
    // The bound of HTTP/1.1, and its cookie, are not for it.
    expect(answers[0]?.[0]).not.toHaveProperty("set-cookie");
    expect(streams.filter(({ closed }) => closed)).toEqual([]);
    expect(server.health().figures).toMatchObject({ connections: 1 });
  });

  it("ends a stream at once when a reload takes its user, and leaves the connection", async () => {
    const cookie = await logIn();
    const stream = begin({ ":path": "/api/v1/stream", ...cookie });
    stream.resume();
    await once(stream, "data");
    const closed = once(stream, "close");
    access.replace({ ...openAccess, users: [{ ...anna, role: "observer" }] });
    await closed;
    expect((await ask("/api/v1/robots", cookie)).status).toBe(401);
  });

  it("refuses a foreign host and a foreign page by its own name for the host", async () => {
    expect((await ask("/livez", { ":authority": "evil.example.com" })).status).toBe(421);
    expect((await ask("/livez", { ":authority": "evil.example.com", host: "127.0.0.1" })).status).toBe(421);
    expect((await ask("/livez", { host: "evil.example.com" })).status).toBe(421);
    const origin = `https://127.0.0.1:${port()}`;
    expect((await ask("/api/v1/session", { origin })).status).toBe(401);
    expect((await ask("/api/v1/session", { origin: "https://127.0.0.1:1" })).status).toBe(403);
    // Anybody on the network can write a page of http.
    expect((await ask("/api/v1/session", { origin: origin.replace("https", "http") })).status).toBe(403);
  });

  it("takes a command once, also when its client resets the request and asks again", async () => {
    const cookie = await logIn();
    const send = (id: string) => {
      const headers = { ":method": "PUT", ":path": `/api/v1/commands/${id}`, ...cookie };
      const more = { "content-type": "application/json", "content-length": command.length };
      const stream = begin({ ...headers, ...more });
      stream.end(command);
      return stream;
    };
    const left = send("c1");
    await expect.poll(() => commander.submitted.length).toBe(1);
    left.close(constants.NGHTTP2_CANCEL);
    const again = send("c1");
    commander.submitted[0]?.end(succeeded(null));
    const answer = await answerOf(again);
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([200, { outcome: "succeeded" }]);
  });

  it("wants a length for a body, and ends a body that comes too slowly or breaks off", async () => {
    const cookie = await logIn();
    const put = { ":method": "PUT", ":path": "/api/v1/commands/c1", "content-type": "application/json" };
    const without = begin({ ...put, ...cookie });
    without.end(command);
    expect(await answerOf(without)).toMatchObject({ status: 411 });
    const large = begin({ ...put, ...cookie, "content-length": 300_000 });
    expect(await answerOf(large)).toMatchObject({ status: 413 });
    const slow = begin({ ...put, ...cookie, "content-length": command.length });
    slow.write(command.slice(0, 5));
    const broken = begin({ ...put, ...cookie, "content-length": command.length });
    broken.write(command.slice(0, 5));
    broken.close(constants.NGHTTP2_CANCEL);
    expect(await answerOf(slow)).toMatchObject({
      status: 408,
      body: expect.stringContaining("the request took too long to arrive"),
    });
    expect(commander.submitted).toEqual([]);
  });

  it("takes a body of one-byte frames", async () => {
    const cookie = await logIn();
    const put = { ":method": "PUT", ":path": "/api/v1/commands/c1", prefer: "wait=0" };
    const stream = begin({
      ...put,
      ...cookie,
      "content-type": "application/json",
      "content-length": command.length,
    });
    for (const byte of command) stream.write(byte);
    stream.end();
    expect(await answerOf(stream)).toMatchObject({ status: 202 });
  });

  it("answers others while a client opens and resets requests as fast as it can", async () => {
    const flood = open();
    await once(flood, "connect");
    for (let each = 0; each < 5_000 && !flood.destroyed; each += 1) {
      const stream = flood.request({ ":path": "/api/v1/robots" });
      stream.on("error", () => {});
      stream.close(constants.NGHTTP2_CANCEL);
      if (each % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await ask("/livez")).status).toBe(200);
    flood.destroy();
    // Node may notice its end only by the silence of it, so the other connection must not be silent.
    const connections = async () => {
      expect((await ask("/livez")).status).toBe(200);
      return server.health().figures?.connections;
    };
    await expect.poll(connections).toBe(1);
  });

  it("refuses headers that are too large", async () => {
    const bomb = open();
    // The bound counts when the client has taken the settings.
    await once(bomb, "remoteSettings");
    await new Promise((resolve) => bomb.ping(resolve));
    const stream = bomb.request({ ":path": "/livez", cookie: "a".repeat(60_000) });
    stream.on("error", () => {});
    let answered = false;
    stream.on("response", () => {
      answered = true;
    });
    await new Promise((resolve) => stream.once("close", resolve));
    expect([answered, stream.rstCode]).toEqual([false, constants.NGHTTP2_ENHANCE_YOUR_CALM]);
    expect((await ask("/livez")).status).toBe(200);
    bomb.destroy();
  });

  it("closes a stream that is not read, and no other stream of the connection", async () => {
    const cookie = await logIn();
    // One round is far below the bound, so that only a stream which leaves several unread reaches it.
    const ids = Array.from({ length: 100 }, (_, at) => `robot-${at}`);
    for (const id of ids) fleet.receive(missionEvent(id, []));
    const [slow, quick] = [0, 1].map(() => begin({ ":path": "/api/v1/stream", ...cookie }));
    if (slow === undefined || quick === undefined) throw new Error("no streams");
    const read = createChronicle<string>((line) => line);
    createInterface(quick).on("line", read.add);
    await once(slow, "response");
    // Nothing reads the slow one: what the protocol lets a sender have under way is soon used up.
    let isClosed = false;
    for (const name of ["aborted", "close"]) {
      slow.once(name, () => {
        isClosed = true;
      });
    }
    for (let round = 1; !isClosed; round += 1) {
      for (const id of ids) fleet.receive(missionEvent(id, [`m${round}:RUNNING`]));
      // The next round waits for the quick one, also on a machine with much else to do.
      const from = read.entries.length;
      await read.first(`round ${round}`, (line) => line.includes(`"m${round}"`), from);
    }
    expect([quick.closed, quick.destroyed]).toEqual([false, false]);
  });

  it("stops at once, though a client holds its connection and a stream open", async () => {
    const cookie = await logIn();
    const stream = begin({ ":path": "/api/v1/stream", ...cookie });
    await once(stream, "response");
    const began = performance.now();
    await stop();
    // What holds a connection open ends after 10 s of silence at the soonest.
    expect(performance.now() - began).toBeLessThan(8_000);
    stop = async () => {};
  });
});
