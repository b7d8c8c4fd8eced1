import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refusal } from "../../../src/domain/outcome.ts";
import { waitSeconds } from "../../../src/northbound/web/commands.ts";
import { succeeded } from "../opcua/fake-commands.ts";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;

beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const body = (fields: object = {}) => ({ operation: "CreateMission", request: { robotId: "r1" }, ...fields });
const as = (user: string) => ({ "fleetgate-user": encodeURIComponent(user) });

/** The command that a request becomes. */
async function submitted(id: string, fields: object = {}, headers: Readonly<Record<string, string>> = {}) {
  const answer = harness.put(id, body(fields), { ...headers, prefer: "wait=0" });
  const { command } = await harness.commander.next();
  await harness.clock.settle(0);
  await answer;
  return command;
}

describe("a command by the control socket", () => {
  it("is answered with its final outcome", async () => {
    const answer = harness.put("c1", body({ expires_at: "2026-01-01T00:00:05.000Z" }), as("ann"));
    const submitted = await harness.commander.next();
    expect(submitted.command).toEqual({
      source: { protocol: "cli", name: "ann" },
      requestId: "c1",
      operation: "CreateMission",
      effect: "moves",
      robotId: "r1",
      requestJson: '{"robotId":"r1"}',
      startByMs: harness.clock.nowMs() + 5_000,
      expiresAtMs: harness.clock.nowMs() + 5_000,
    });
    submitted.stage("accepted");
    submitted.end({ ...succeeded("m1"), responseJson: '{"mission_id":"m1"}' });
    expect(await answer).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json; charset=utf-8" },
      body: {
        id: "c1",
        outcome: "succeeded",
        code: "OK",
        message: "",
        retry_safe: true,
        response: { mission_id: "m1" },
        duplicate: false,
      },
    });
  });

  it.each(["unknown", "refused", "expired"] as const)(
    "is answered with 200 when it ends %s",
    async (name) => {
      const answer = harness.put("c1", body());
      const { stage, end } = await harness.commander.next();
      stage("accepted");
      // What is a problem otherwise: here it became a command first.
      end({ ...refusal("SHUTTING_DOWN", "not now"), outcome: name });
      expect(await answer).toMatchObject({ status: 200, body: { outcome: name, code: "SHUTTING_DOWN" } });
    },
  );

  it("without an expiry may be sent for the configured time; without a user it is local's", async () => {
    expect(await submitted("c1")).toMatchObject({
      startByMs: harness.clock.nowMs() + 10_000,
      source: { protocol: "cli", name: "local" },
    });
  });

  it("may be sent for the time that it gives, by whichever of two ends first", async () => {
    const startByMs = harness.clock.nowMs() + 700;
    expect(await submitted("c1", { expires_in_ms: 700 })).toMatchObject({ startByMs });
    const both = { expires_in_ms: 700, expires_at: "2026-01-01T00:00:05.000Z" };
    expect(await submitted("c2", both)).toMatchObject({ startByMs });
  });

  it("takes an id with any printable ASCII character, and a user with any printable one", async () => {
    expect(await submitted("../a/b?c#d%2F ~", {}, as("Jörg Ω %"))).toMatchObject({
      requestId: "../a/b?c#d%2F ~",
      source: { name: "Jörg Ω %" },
    });
  });

  it("is unknown when it fails inside the gateway, and the server goes on", async () => {
    const answer = harness.put("c1", body());
    (await harness.commander.next()).fail(new Error("a bug"));
    expect(await answer).toMatchObject({
      status: 200,
      body: {
        outcome: "unknown",
        code: "INTERNAL_FAULT",
        message: "the gateway failed; whether the command was sent is not known",
      },
    });
    const next = harness.put("c2", body());
    (await harness.commander.next()).end(succeeded(null));
    expect(await next).toMatchObject({ status: 200, body: { id: "c2", outcome: "succeeded" } });
  });
});

describe("a command that is not final in time", () => {
  it("is answered with 202 and its stage, after 10 s or what the client prefers", async () => {
    const first = harness.put("c1", body());
    const submitted = await harness.commander.next();
    submitted.stage("accepted");
    await harness.clock.settle(9_999);
    submitted.stage("sent");
    await harness.clock.settle(1);
    const answer = await first;
    expect(answer).toMatchObject({ status: 202, body: { id: "c1", stage: "sent", duplicate: false } });
    expect(answer.headers).not.toHaveProperty("preference-applied");

    const waitsAgain = () => harness.server.health().figures?.waiting;
    const again = harness.put("c1", body(), { prefer: "wait=30" });
    await expect.poll(waitsAgain).toBe(1);
    await harness.clock.settle(30_000);
    expect(await again).toMatchObject({
      status: 202,
      headers: { "preference-applied": "wait=30" },
      body: { id: "c1", stage: "sent", duplicate: true },
    });
    submitted.end(succeeded(null));
  });

  it("is answered at once with wait=0", async () => {
    const answer = harness.put("c1", body(), { prefer: "wait=0" });
    await harness.commander.next();
    await harness.clock.settle(0);
    expect(await answer).toMatchObject({ status: 202, headers: { "preference-applied": "wait=0" } });
    expect(harness.commander.submitted).toHaveLength(1);
  });

  it("goes on when its client leaves, and nobody waits for it any more", async () => {
    const socket = await harness.open();
    const json = JSON.stringify(body());
    socket.write(
      `PUT /api/v1/commands/c1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
    );
    const { end } = await harness.commander.next();
    expect(harness.server.health().figures).toMatchObject({ waiting: 1 });
    socket.destroy();
    await expect.poll(() => harness.server.health().figures?.waiting).toBe(0);
    end(succeeded(null));
  });

  it.each<[string | undefined, number]>([
    [undefined, 10],
    ["wait=0", 0],
    ["wait=7", 7],
    ["respond-async, Wait = 7", 7],
    ['wait="7"; x=1', 7],
    ["wait=61", 60],
    ["wait=999999999999", 10],
    ["wait=-1", 10],
    ["wait=soon", 10],
    ["await=5", 10],
  ])("Prefer: %s waits %d s", (prefer, seconds) => {
    expect(waitSeconds(prefer)).toBe(seconds);
  });
});

describe("a recorded command", () => {
  it("is answered with its outcome, whatever that was", async () => {
    const answer = harness.put("c1", body());
    (await harness.commander.next()).end({ ...refusal("QUEUE_FULL", "busy"), duplicate: true });
    expect(await answer).toMatchObject({ status: 200, body: { outcome: "refused", duplicate: true } });
  });

  it("is answered with 409 for another body", async () => {
    await submitted("c1");
    expect(await harness.put("c1", body({ request: { robotId: "r2" } }))).toMatchObject({
      status: 409,
      headers: { "content-type": "application/problem+json; charset=utf-8" },
      body: {
        type: "about:blank",
        title: "Conflict",
        status: 409,
        detail: 'request id "c1" was used before for another command',
        outcome: "refused",
        code: "IDENTITY_REUSED",
        retry_safe: true,
      },
    });
  });

  it("is not said to be safe to repeat when a malformed request has its id", async () => {
    await submitted("c1");
    expect(await harness.put("c1", body({ request: {} }))).toMatchObject({
      status: 400,
      body: { code: "MALFORMED", retry_safe: false },
    });
  });
});

describe("what never became a command is a problem", () => {
  it.each([
    ["NOT_ALLOWED", 403],
    ["QUEUE_FULL", 429],
    ["RATE_LIMITED", 429],
    ["SHUTTING_DOWN", 503],
    ["NO_EXPIRY", 400],
  ] as const)("%s: %i", async (code, status) => {
    const answer = harness.put("c1", body());
    (await harness.commander.next()).end(refusal(code, "no"));
    expect(await answer).toMatchObject({ status, body: { outcome: "refused", code, detail: "no" } });
  });

  it.each<[string, unknown, string, RegExp]>([
    ["no JSON", "{", "MALFORMED", /^the body is not JSON: /],
    ["nothing", undefined, "MALFORMED", /^the body is not JSON: /],
    [
      "no object",
      [1],
      "MALFORMED",
      /^the body must be a JSON object with operation, request, expires_at, expires_in_ms, tick, asked_by$/,
    ],
    [
      "a key twice",
      '{"operation":"CreateMission","request":{"robotId":"r1","robotId":"r2"}}',
      "MALFORMED",
      /^request: has the key "robotId" twice$/,
    ],
    [
      "a key twice at the top",
      '{"operation":"A","operation":"B"}',
      "MALFORMED",
      /^the body has the key "operation" twice$/,
    ],
    [
      "an unknown field",
      body({ user: "ann" }),
      "MALFORMED",
      /^"user": is not one of operation, request, expires_at, expires_in_ms, tick, asked_by$/,
    ],
    ["an inherited name", '{"__proto__":{}}', "MALFORMED", /^"__proto__": is not one of /],
    ["no request", { operation: "CreateMission" }, "MALFORMED", /^request: is missing$/],
    ["no operation", { request: {} }, "MALFORMED", /^operation: must be the name of one$/],
    [
      "an odd expiry",
      body({ expires_at: "tomorrow" }),
      "MALFORMED",
      /^expires_at: must be ISO 8601 with a zone, as 2026-01-31T12:00:00.000Z$/,
    ],
    ["null as operation", body({ operation: null }), "MALFORMED", /^operation: must be the name of one$/],
    ["null as request", body({ request: null }), "MALFORMED", /^request: must be an object$/],
    ["null as expiry", body({ expires_at: null }), "MALFORMED", /^expires_at: must be ISO 8601 with a zone/],
    [
      "null as time",
      body({ expires_in_ms: null }),
      "MALFORMED",
      /^expires_in_ms: must be a whole number of /,
    ],
    ["an odd time", body({ expires_in_ms: 0 }), "MALFORMED", /^expires_in_ms: must be a whole number of /],
    [
      "a request without end",
      `{"operation":"CreateMission","request":${'{"a":'.repeat(70)}1${"}".repeat(70)}}`,
      "MALFORMED",
      /^request: is nested more than 64 levels deep$/,
    ],
    ["no such operation", body({ operation: "Fly" }), "UNKNOWN_OPERATION", /^there is no operation "Fly"/],
    ["a field that is missing", body({ request: {} }), "MALFORMED", /^request\.robotId: is required$/],
  ])("%s", async (_what, sent, code, detail) => {
    expect(await harness.put("c1", sent)).toMatchObject({
      status: 400,
      body: { outcome: "refused", code, detail: expect.stringMatching(detail), retry_safe: true },
    });
    expect(harness.commander.submitted).toHaveLength(0);
    expect(harness.told).toMatchObject([
      { requestId: "c1", code, source: { protocol: "cli", name: "local" } },
    ]);
  });

  it("MALFORMED: an id that is empty, too long or not printable", async () => {
    for (const id of ["\n", "x".repeat(129)]) {
      expect(await harness.put(id, body())).toMatchObject({
        status: 400,
        body: { detail: "id: must be 1 to 128 printable ASCII characters" },
      });
    }
  });

  it.each(["", "a%2Fb", "%", "%ff", "a%0Ab", "x".repeat(65)])("MALFORMED: the user %j", async (user) => {
    expect(await harness.put("c1", body(), { "fleetgate-user": user })).toMatchObject({
      status: 400,
      body: {
        code: "MALFORMED",
        detail: "fleetgate-user: must be percent-encoded text of 1 to 64 printable characters without /",
      },
    });
  });

  it("MALFORMED: bytes that are no UTF-8", async () => {
    const socket = await harness.open();
    socket.write("PUT /api/v1/commands/c1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n");
    socket.write("Connection: close\r\nContent-Length: 3\r\n\r\n");
    socket.write(Buffer.from([0x22, 0xff, 0x22]));
    let answer = "";
    for await (const chunk of socket) answer += String(chunk);
    expect(answer).toContain('"detail":"the body is not UTF-8"');
  });
});
