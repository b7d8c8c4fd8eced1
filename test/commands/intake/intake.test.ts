import { describe, expect, it } from "vitest";
import type { Envelope } from "../../../src/contracts/commander.ts";
import { silentLog } from "../../../src/platform/log.ts";
import { testCatalogue } from "../operations.ts";
import {
  audit,
  begun,
  begunAt,
  clock,
  done,
  eachWithItsIntake,
  envelope,
  execution,
  intake,
  open,
  plc,
  reads,
  submit,
} from "./intake-harness.ts";

eachWithItsIntake();

describe("a command that passes", () => {
  it("is read once, and begins with what its envelope says", async () => {
    const outcome = submit({ scope: "call", origin: { address: "10.0.0.9" } });
    const { command, end } = begunAt(0);
    expect(command).toEqual({
      source: plc,
      requestId: "call/r1",
      operation: "Go",
      effect: "moves",
      robotId: "AMR01",
      requestJson: '{"robot":"AMR01","to":"A"}',
      startByMs: clock.nowMs() + 10_000,
      origin: { address: "10.0.0.9" },
    });
    end();
    expect(await outcome).toEqual(done);
    expect(reads).toBe(1);
    expect(audit).toEqual([]);
  });

  it.each<[string, Envelope["request"]]>([
    ["text", { text: '{"robot":"AMR01","to":"A"}' }],
    ["bytes", { text: Buffer.from('{"robot":"AMR01","to":"A"}') }],
  ])("may bring its request as %s", (_what, request) => {
    void submit({ request });
    expect(begunAt(0).command.requestJson).toBe('{"robot":"AMR01","to":"A"}');
  });

  it("may have been read before, and is not read again", () => {
    const parsed = intake.read("Go", { robot: "AMR01", to: "A" });
    if ("outcome" in parsed) throw new Error(parsed.message);
    expect(parsed.effect).toBe("moves");
    void submit({ request: { parsed } });
    expect(begunAt(0).command.requestJson).toBe('{"robot":"AMR01","to":"A"}');
    expect(reads).toBe(1);
  });

  it("ends the waiting of a sender that gives up, and goes on", async () => {
    const giveUp = new AbortController();
    const waiting = intake.submit(envelope(), giveUp.signal);
    giveUp.abort(new Error("the session ended"));
    await expect(waiting).rejects.toThrow("the session ended");
    expect(intake.figures()).toMatchObject({ commandsInFlight: 1 });
    begunAt(0).end();
    await clock.settle(0);
    expect(intake.figures()).toMatchObject({ commandsInFlight: 0 });
  });
});

describe("expiry", () => {
  const second = 1_000;
  it.each<[string, Envelope["expiry"], number, number | undefined]>([
    ["none: the default from the receipt", {}, 10 * second - 500, undefined],
    ["from the receipt", { withinMs: 2 * second }, 2 * second - 500, undefined],
    ["by the sender's clock", { atMs: 3 * second }, 3 * second, 3 * second],
    ["both: the earlier", { atMs: 3 * second, withinMs: second }, second - 500, 3 * second],
  ])("%s", (_what, expiry, startsByMs, expiresAtMs) => {
    const nowMs = clock.nowMs();
    const atMs = expiry?.atMs === undefined ? null : nowMs + (expiry.atMs ?? 0);
    void submit({ expiry: { ...expiry, atMs }, receivedMs: nowMs - 500 });
    const { command } = begunAt(0);
    expect(command.startByMs - nowMs).toBe(startsByMs);
    expect(command.expiresAtMs).toBe(expiresAtMs === undefined ? undefined : nowMs + expiresAtMs);
  });

  it("NO_EXPIRY: what moves and lacks one is refused, what does not move passes", async () => {
    const expiry = { lacks: "give one" };
    expect(await submit({ expiry })).toMatchObject({
      code: "NO_EXPIRY",
      message: "Go moves a robot: give one",
    });
    void submit({ operation: "Look", expiry });
    void submit({ requestId: "r2", operation: "Halt", expiry });
    expect(begun.map(({ command }) => command.operation)).toEqual(["Look", "Halt"]);
  });

  it("NO_EXPIRY: a stop that comes too late is refused, and nothing else", async () => {
    const expiry = { late: "press again" };
    expect(await submit({ operation: "Halt", expiry })).toMatchObject({
      code: "NO_EXPIRY",
      message: "Halt comes too late: press again",
    });
    void submit({ requestId: "r2", expiry });
    void submit({ requestId: "r3", operation: "Look", expiry });
    expect(begun.map(({ command }) => command.operation)).toEqual(["Go", "Look"]);
  });
});

describe("a request id", () => {
  const message = "id: must be 1 to 128 printable ASCII characters";
  it.each([
    ["", message],
    ["x".repeat(129), message],
    ["größe", message],
    ["a\tb", message],
    ["😀", message],
    [null, "id: is missing"],
  ])("MALFORMED: %j", async (requestId, text) => {
    expect(await submit({ requestId })).toMatchObject({
      outcome: "refused",
      code: "MALFORMED",
      message: text,
    });
    expect(audit).toHaveLength(1);
    expect(begun).toEqual([]);
  });

  it.each(["x".repeat(128), " ", "~", "order 1/2"])("%j is one", (requestId) => {
    void submit({ requestId });
    expect(begun).toHaveLength(1);
  });

  it("is not missed in a message that could not be read", async () => {
    const request = { unreadable: "the message is not JSON" };
    expect(await submit({ requestId: null, request })).toMatchObject({ message: "the message is not JSON" });
  });
});

describe("a request that cannot be read", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`);
  it.each<[string, Partial<Envelope>, string, string]>([
    ["no operation", { operation: "Fly" }, "UNKNOWN_OPERATION", 'there is no operation "Fly"'],
    ["no request", { request: { json: undefined } }, "MALFORMED", "request: is missing"],
    ["null", { request: { json: null } }, "MALFORMED", "request: must be an object"],
    ["a list", { request: { json: [] } }, "MALFORMED", "request: must be an object"],
    [
      "endless depth",
      { request: { json: deep } },
      "MALFORMED",
      "request: is nested more than 64 levels deep",
    ],
    ["a bad field", { request: { json: { bad: 1 } } }, "MALFORMED", "request.bad: there is no such field"],
    ["a key twice", { request: { text: '{"a":1,"a":2}' } }, "MALFORMED", 'request: has the key "a" twice'],
    ["no UTF-8", { request: { text: Uint8Array.of(0xff) } }, "MALFORMED", "request: is not UTF-8"],
    [
      "a long text",
      { request: { text: " ".repeat(262_145) } },
      "MALFORMED",
      "request: has 262145 characters; at most 262144 are read",
    ],
    [
      "many bytes",
      { request: { text: new Uint8Array(262_145) } },
      "MALFORMED",
      "request: has 262145 bytes; at most 262144 are read",
    ],
  ])("%s", async (_what, changes, code, message) => {
    expect(await submit(changes)).toMatchObject({ outcome: "refused", code, message, retrySafe: true });
    expect(audit).toMatchObject([{ user: "plc", request_id: "r1", code }]);
    expect(begun).toEqual([]);
    expect(intake.figures()).toMatchObject({ refusedAtIntake: 1 });
  });

  it("INTERNAL_FAULT: by a mistake of ours", async () => {
    const go = testCatalogue.get("Go");
    if (go === undefined) throw new Error("no Go");
    const broken = () => {
      throw new Error("planted");
    };
    open({}, { catalogue: new Map([["Go", { ...go, parse: broken }]]) });
    expect(await submit()).toMatchObject({
      outcome: "refused",
      code: "INTERNAL_FAULT",
      message: "a fault in the gateway; it was not sent",
    });
  });
});

describe("a command that fails inside the gateway", () => {
  const failed = {
    outcome: "unknown",
    code: "INTERNAL_FAULT",
    message: "the gateway failed; whether the command was sent is not known",
    retrySafe: false,
  };

  it("INTERNAL_FAULT: under way", async () => {
    const outcome = submit();
    begunAt(0).fail(new Error("planted"));
    expect(await outcome).toMatchObject(failed);
    expect(intake.figures()).toMatchObject({ commandsInFlight: 0 });
  });

  it("INTERNAL_FAULT: as it begins", async () => {
    const broken = () => {
      throw new Error("planted");
    };
    const lines: unknown[] = [];
    const log = { ...silentLog, error: (fields: unknown) => void lines.push(fields) };
    open({}, { execution: { ...execution(), begin: broken }, log });
    expect(await submit()).toMatchObject(failed);
    expect(lines).toEqual([
      { err: new Error("planted"), protocol: "opcua", user: "plc", operation: "Go", id: "r1" },
    ]);
  });
});

it("audits a refusal with who, what and from where, texts cut to what people read", async () => {
  await submit({ operation: "x".repeat(1_000), scope: "call", origin: { address: "10.0.0.9" } });
  expect(audit).toMatchObject([
    {
      event: "command",
      protocol: "opcua",
      user: "plc",
      address: "10.0.0.9",
      request_id: "call/r1",
      operation: `${"x".repeat(64)}…`,
      request: null,
      outcome: "refused",
      code: "UNKNOWN_OPERATION",
    },
  ]);
});
