import { execFile } from "node:child_process";
import { once } from "node:events";
import { lstat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalServer } from "../../../src/northbound/local/server.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { fakeCatalogue, succeeded } from "../opcua/fake-commands.ts";
import { createFakeStations, createLocalBench, type LocalBench, start } from "./local-bench.ts";

let bench: LocalBench;

beforeEach(async () => {
  bench = await createLocalBench();
});

afterEach(async () => {
  await bench[Symbol.asyncDispose]();
});

const line = (fields: object = {}) => ({
  id: "c1",
  operation: "CreateMission",
  request: { robotId: "r1" },
  ...fields,
});

describe("a command through the socket", () => {
  it("is told its stages and its outcome as they come", async () => {
    const client = await bench.client();
    client.send(line({ user: "ann", expires_at: "2026-01-01T00:00:05.000Z" }));
    const submitted = await bench.commander.next();
    expect(submitted.command).toEqual({
      source: { door: "cli", name: "ann" },
      requestId: "c1",
      operation: "CreateMission",
      effect: "moves",
      robotId: "r1",
      requestJson: '{"robotId":"r1"}',
      startByMs: bench.clock.nowMs() + 5_000,
      expiresAtMs: bench.clock.nowMs() + 5_000,
    });
    submitted.stage("accepted");
    expect(await client.next()).toEqual({ id: "c1", stage: "accepted" });
    submitted.stage("sent");
    expect(await client.next()).toEqual({ id: "c1", stage: "sent" });
    submitted.end({ ...succeeded("m1"), responseJson: '{"mission_id":"m1"}' });
    expect(await client.next()).toEqual({
      id: "c1",
      outcome: "succeeded",
      code: "OK",
      message: "",
      retry_safe: true,
      response: { mission_id: "m1" },
      duplicate: false,
    });
  });

  it("without an expiry may be sent for the configured time; without a user it is local's", async () => {
    const client = await bench.client();
    client.send(line());
    const { command } = await bench.commander.next();
    expect(command.startByMs).toBe(bench.clock.nowMs() + 10_000);
    expect(command.source).toEqual({ door: "cli", name: "local" });
  });

  it("goes on when its sender leaves, and many clients are served at once", async () => {
    const [first, second] = [await bench.client(), await bench.client()];
    first.send(line());
    const one = await bench.commander.next();
    first.socket.destroy();
    second.send(line({ id: "c2" }));
    const two = await bench.commander.next();
    one.end(succeeded(null));
    two.end(succeeded(null));
    expect(await second.next()).toMatchObject({ id: "c2", outcome: "succeeded" });
  });

  it("is answered though its sender has closed its own half, the last line without an end", async () => {
    const client = await bench.client();
    client.socket.end(JSON.stringify(line()));
    (await bench.commander.next()).end(succeeded(null));
    expect(await client.next()).toMatchObject({ id: "c1", outcome: "succeeded" });
    await client.closed;
  });

  it("that fails inside the gateway is unknown, and the door stays open", async () => {
    const client = await bench.client();
    client.send(line());
    (await bench.commander.next()).fail(new Error("a bug"));
    expect(await client.next()).toMatchObject({
      outcome: "unknown",
      code: "INTERNAL_FAULT",
      message: "the gateway failed; whether the command was sent is not known",
    });
    client.send(line({ id: "c2" }));
    (await bench.commander.next()).end(succeeded(null));
    expect(await client.next()).toMatchObject({ id: "c2", outcome: "succeeded" });
  });
});

describe("the audit log has what the door refuses", () => {
  const by = (operation: string, robotId: string | null = null, name = "ann") => ({
    source: { door: "cli", name },
    requestId: "c1",
    operation,
    robotId,
  });
  it.each([
    ["MALFORMED", { id: "c1" }, by("", null, "local")],
    ["MALFORMED", line({ request: {}, user: "ann" }), by("CreateMission")],
    ["UNKNOWN_OPERATION", line({ operation: "Dance", user: "ann" }), by("Dance")],
    ["NOT_ALLOWED", { id: "c1", override: "r1", user: "ann" }, by("override", "r1")],
  ])("%s", async (code, sent, refused) => {
    const client = await bench.client();
    client.send(sent);
    expect(await client.next()).toMatchObject({ code });
    expect(bench.ledger.told).toEqual([{ ...refused, code, message: expect.any(String) }]);
  });
});

it("says of an id that has a record neither that it was not done, nor that it is safe to repeat", async () => {
  bench.ledger.known.add("local/c1");
  const client = await bench.client();
  client.send(line({ request: {} }));
  expect(await client.next()).toMatchObject({ code: "MALFORMED", retry_safe: false });
});

describe("an engineer's override", () => {
  it("ends whoever's hold on a robot, and says whose it was", async () => {
    const client = await bench.client();
    client.send({ id: "o1", override: "r1", user: "chief" });
    expect(await client.next()).toMatchObject({
      id: "o1",
      outcome: "succeeded",
      code: "OK",
      message: 'station Dock leased it for opcua "plc"',
      retry_safe: true,
    });
    client.send({ id: "o2", override: "r1", user: "chief" });
    expect(await client.next()).toMatchObject({ outcome: "succeeded", message: "no station leased it" });
  });

  it("NOT_ALLOWED: is for nobody else", async () => {
    const client = await bench.client();
    client.send({ id: "o1", override: "r1", user: "ann" });
    expect(await client.next()).toMatchObject({
      outcome: "refused",
      code: "NOT_ALLOWED",
      message: 'cli "ann" may not',
    });
  });

  it.each<[string, object, string]>([
    ["no robot", { override: "" }, "override: must be a robot_id of 1 to 256 printable characters"],
    [
      "an operation too",
      { override: "r1", operation: "CreateMission", request: {} },
      "override: stands beside no operation, request or expiry",
    ],
  ])("MALFORMED: with %s", async (_what, fields, message) => {
    const client = await bench.client();
    client.send({ id: "o1", user: "chief", ...fields });
    expect(await client.next()).toMatchObject({ id: "o1", outcome: "refused", code: "MALFORMED", message });
  });
});

describe("a line that is refused before anybody was asked", () => {
  it.each<[string, unknown, string | null, string, RegExp]>([
    ["no JSON", "{", null, "MALFORMED", /^the line is not JSON: /],
    [
      "no object",
      [1],
      null,
      "MALFORMED",
      /^the line must be a JSON object with id, operation, request, expires_at, user, override, hold, expires_in_ms$/,
    ],
    [
      "a key twice",
      '{"id":"c1","operation":"CreateMission","request":{"robotId":"r1","robotId":"r2"}}',
      "c1",
      "MALFORMED",
      /^request: has the key "robotId" twice$/,
    ],
    ["two ids", '{"id":"c1","id":"c2"}', null, "MALFORMED", /^the line has the key "id" twice$/],
    ["no id", { operation: "CreateMission", request: {} }, null, "MALFORMED", /^id: is missing$/],
    [
      "a number as id",
      line({ id: 7 }),
      null,
      "MALFORMED",
      /^id: must be text of 1 to 128 printable characters$/,
    ],
    ["an empty id", line({ id: "" }), "", "MALFORMED", /^id: /],
    [
      "an unknown field",
      line({ retain: true }),
      "c1",
      "MALFORMED",
      /^"retain": is not one of id, operation, request, expires_at, user, override, hold, expires_in_ms$/,
    ],
    [
      "no request",
      { id: "c1", operation: "CreateMission" },
      "c1",
      "MALFORMED",
      /^request: must be an object/,
    ],
    [
      "an odd expiry",
      line({ expires_at: "tomorrow" }),
      "c1",
      "MALFORMED",
      /^expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z$/,
    ],
    [
      "a user with a slash",
      line({ user: "a/b" }),
      "c1",
      "MALFORMED",
      /^user: must be text of 1 to 64 printable characters without \/$/,
    ],
    ["no operation", { id: "c1", request: {} }, "c1", "MALFORMED", /^operation: must be the name of one$/],
    [
      "a request without end",
      `{"id":"c1","operation":"CreateMission","request":${'{"a":'.repeat(70)}1${"}".repeat(70)}}`,
      "c1",
      "MALFORMED",
      /^request: is nested more than 64 levels deep$/,
    ],
    [
      "no such operation",
      line({ operation: "Fly" }),
      "c1",
      "UNKNOWN_OPERATION",
      /^there is no operation "Fly"/,
    ],
    ["a field that is missing", line({ request: {} }), "c1", "MALFORMED", /^request\.robotId: is required$/],
  ])("%s", async (_what, sent, id, code, message) => {
    const client = await bench.client();
    client.send(sent);
    expect(await client.next()).toMatchObject({
      id,
      outcome: "refused",
      code,
      message: expect.stringMatching(message),
      retry_safe: true,
    });
    expect(bench.commander.submitted).toHaveLength(0);
  });

  it("MALFORMED: bytes that are no UTF-8", async () => {
    const client = await bench.client();
    client.socket.write(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]));
    expect(await client.next()).toMatchObject({
      id: null,
      code: "MALFORMED",
      message: "the line is not UTF-8",
    });
  });

  it("a line without an end is not collected for ever", async () => {
    const client = await bench.client();
    client.socket.write(Buffer.alloc(300_000, "x"));
    expect(await client.next()).toMatchObject({
      id: null,
      code: "MALFORMED",
      message: "a line has at most 262144 bytes",
    });
    await client.closed;
  });

  it("a client has a bound", async () => {
    const client = await bench.client();
    for (let number = 0; number <= 256; number += 1) client.send(line({ id: `c${number}` }));
    expect(await client.next()).toMatchObject({
      id: "c256",
      outcome: "refused",
      code: "QUEUE_FULL",
      message: "too many commands wait for their outcome",
    });
    expect(bench.server.health().figures).toMatchObject({ commandsInFlight: 256 });
    expect(bench.ledger.told).toMatchObject([{ requestId: "c256", code: "QUEUE_FULL", robotId: "r1" }]);
    bench.ledger.known.add("local/c0");
    client.send(line({ id: "c0" }));
    for (let number = 0; number < 257; number += 1) {
      const { command, end } = await bench.commander.next();
      if (command.requestId === "c0" && number === 256) end({ ...succeeded(null), duplicate: true });
    }
    expect(await client.next()).toMatchObject({ id: "c0", outcome: "succeeded", duplicate: true });
  });

  it("clients have a bound", async () => {
    for (let number = 0; number < 64; number += 1) await bench.client();
    const late = await bench.client();
    await late.closed;
    expect(bench.server.health().figures).toMatchObject({ clients: 64, clientsTurnedAway: 1 });
  });
});

describe("the socket's file", () => {
  it("is for the gateway's own user alone, and gone when the gateway stops", async () => {
    const about = await lstat(bench.socketPath);
    expect(about.isSocket()).toBe(true);
    expect(about.mode & 0o777).toBe(0o600);
    const client = await bench.client();
    await bench.stop();
    await client.closed;
    await expect(lstat(bench.socketPath)).rejects.toThrow("ENOENT");
  });

  it("is not taken from a gateway that lives", async () => {
    await expect(start(another(bench))).rejects.toThrow(
      `another gateway answers on ${bench.socketPath}: end it, or give this one a gateway.dataDir of its own`,
    );
    const client = await bench.client();
    client.send(line());
    await bench.commander.next();
  });

  it("is taken from one that was killed", async () => {
    await bench.stop();
    const script = `require("node:net").createServer().listen(${JSON.stringify(bench.socketPath)}, () => process.kill(process.pid, "SIGKILL"))`;
    await expect(promisify(execFile)(process.execPath, ["-e", script])).rejects.toMatchObject({
      signal: "SIGKILL",
    });
    expect((await lstat(bench.socketPath)).isSocket()).toBe(true);
    const stop = await start(another(bench));
    const client = await bench.client();
    client.send("{}");
    expect(await client.next()).toMatchObject({ code: "MALFORMED" });
    await stop();
  });

  it("is not put in the place of anything else", async () => {
    await bench.stop();
    await writeFile(bench.socketPath, "precious");
    await expect(start(another(bench))).rejects.toThrow(/is no socket: move it away/);
  });

  it("is not shared with a program that only listens", async () => {
    await bench.stop();
    const deaf = createServer().listen(bench.socketPath);
    await once(deaf, "listening");
    await expect(start(another(bench))).rejects.toThrow(/another gateway answers/);
    deaf.close();
    await once(deaf, "close");
  });
});

/** One more door on the same socket. */
function another({ socketPath, commander, ledger, holds, clock }: LocalBench) {
  return createLocalServer(
    { socketPath, startByMs: 10_000 },
    {
      commander,
      ledger,
      catalogue: fakeCatalogue(),
      stations: createFakeStations(),
      holds,
      clock,
      log: silentLog,
    },
  );
}
