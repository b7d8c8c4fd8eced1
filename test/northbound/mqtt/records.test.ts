import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CommandsHarness, createHarness, OK } from "../../commands/commands-harness.ts";
import { openLink } from "./link-harness.ts";
import { base, type Listener } from "./mqtt-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];
let commands: CommandsHarness;
let scada: Listener;
let answers = 0;

beforeEach(async () => {
  answers = 0;
  commands = await createHarness({ stations: [{ name: "Dock", destinations: ["D1"], heartbeatMs: 5_000 }] });
  const protocol = await openLink(commands);
  scada = protocol.clients;
  cleanups.push(protocol.close);
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const go = { robot: "AMR01", to: "A" };

async function say(topic: string, payload: object | string, retain = false): Promise<void> {
  const text = typeof payload === "string" ? payload : JSON.stringify(payload);
  await scada.client.publishAsync(`${base}/clients/scada/${topic}`, text, { qos: 1, retain });
}

/** The next answer that this test has not seen. */
async function answer(): Promise<Record<string, unknown>> {
  const place = answers;
  answers += 1;
  const next = scada.received[place] ?? (await scada.receive((message) => scada.received[place] === message));
  return JSON.parse(next.text);
}

async function succeeded(id: string): Promise<void> {
  await say("command/Go", { id, expires_at: "2099-01-01T00:00:00Z", request: go });
  // What comes after it is answered after it was received.
  await say("command/Go", { id: "after" });
  expect(await answer()).toMatchObject({ id: "after", code: "MALFORMED" });
  await commands.clock.settle(0);
  await commands.call(0).answer(OK);
  expect(await answer()).toMatchObject({ id, outcome: "succeeded", duplicate: false });
}

describe("who asks again with an id that has a record is never told that it was not done", () => {
  test("without an expiry", async () => {
    await succeeded("c1");
    await say("command/Go", { id: "c1", request: go });
    expect(await answer()).toMatchObject({ id: "c1", outcome: "succeeded", duplicate: true });
    expect(commands.calls).toHaveLength(1);
  });

  test("without an expiry while it is in hand", async () => {
    await say("command/Go", { id: "c1", expires_at: "2099-01-01T00:00:00Z", request: go });
    await say("command/Go", { id: "c1", request: go });
    await say("command/Go", { id: "after" });
    expect(await answer()).toMatchObject({ id: "after" });
    await commands.clock.settle(0);
    await commands.call(0).answer(OK);
    expect(await answer()).toMatchObject({ id: "c1", outcome: "succeeded", duplicate: false });
    expect(await answer()).toMatchObject({ id: "c1", outcome: "succeeded", duplicate: true });
    expect(commands.calls).toHaveLength(1);
  });

  test("retained", async () => {
    await succeeded("c1");
    await say("command/Go", { id: "c1", expires_at: "2099-01-01T00:00:00Z", request: go }, true);
    expect(await answer()).toMatchObject({ id: "c1", outcome: "succeeded", duplicate: true });
    expect(commands.calls).toHaveLength(1);
  });

  test("with another request", async () => {
    await succeeded("c1");
    await say("command/Go", { id: "c1", request: { ...go, to: "B" } });
    expect(await answer()).toMatchObject({ id: "c1", outcome: "refused", code: "IDENTITY_REUSED" });
    await say("command/Go", { id: "c1" });
    expect(await answer()).toMatchObject({
      id: "c1",
      outcome: "refused",
      code: "MALFORMED",
      message: "request: is missing; its id is an earlier command's, and this is not that one's outcome",
      retry_safe: false,
    });
  });

  test("over the room of its client", async () => {
    await say("command/Go", { id: "c1", expires_at: "2099-01-01T00:00:00Z", request: go });
    for (let i = 0; i < 1_023; i += 1) await say("command/Go", { id: "c1", request: go });
    await say("command/Go", { id: "c1", request: go });
    expect(await answer()).toMatchObject({
      id: "c1",
      outcome: "unknown",
      code: "QUEUE_FULL",
      message:
        "the command is in hand or recorded, and too many wait for their outcome: ask again with the same id",
      retry_safe: false,
    });
    await say("command/Go", { id: "new", expires_at: "2099-01-01T00:00:00Z", request: go });
    expect(await answer()).toMatchObject({ id: "new", outcome: "refused", code: "QUEUE_FULL" });
    expect(commands.audit.at(-1)).toMatchObject({ request_id: "new", code: "QUEUE_FULL", user: "scada" });
  });
});

describe("the audit log has what the protocol refuses", () => {
  test.each([
    ["NO_EXPIRY", "command/Go", { id: "c1", request: go }, { operation: "Go" }],
    ["MALFORMED", "command/Go", { id: "c1" }, { operation: "Go" }],
    ["MALFORMED", "command/Go", { id: "c1", request: { bad: 1 } }, { operation: "Go" }],
    ["UNKNOWN_OPERATION", "command/Fly", { id: "c1", request: go }, { operation: "Fly" }],
    [
      "ROBOT_NOT_GOOD",
      "command/LeaseRobot",
      { id: "c1", station: "Dock", robot_id: "AMR09" },
      { operation: "LeaseRobot", robot_id: "AMR09" },
    ],
    [
      "NOT_ALLOWED",
      "command/OverrideLease",
      { id: "c1", robot_id: "AMR01" },
      { operation: "OverrideLease", robot_id: "AMR01" },
    ],
  ])("%s on %s", async (code, topic, payload, named) => {
    await say(topic, payload);
    const { message } = await answer();
    expect(commands.audit).toEqual([
      expect.objectContaining({
        event: "command",
        protocol: "mqtt",
        user: "scada",
        request_id: "c1",
        ...named,
      }),
    ]);
    expect(commands.audit[0]).toMatchObject({
      outcome: "refused",
      code,
      message,
      request: null,
      sent_at: null,
    });
  });

  test("RETAINED", async () => {
    await say("command/Go", { id: "c1", request: go }, true);
    await answer();
    expect(commands.audit).toMatchObject([{ request_id: "c1", operation: "Go", code: "RETAINED" }]);
  });

  test("of no readable id, and no more of names than people read", async () => {
    await say("command/Go", "{");
    await say(`command/${"x".repeat(10_000)}`, { id: "c1", request: go });
    await answer();
    expect(commands.audit).toMatchObject([
      { request_id: null, operation: "Go", code: "MALFORMED" },
      { request_id: "c1", operation: `${"x".repeat(64)}…`, code: "UNKNOWN_OPERATION" },
    ]);
  });
});
