import { beforeEach, describe, expect, it } from "vitest";
import type { Envelope } from "../../../src/contracts/commander.ts";
import {
  begun,
  begunAt,
  done,
  eachWithItsIntake,
  execution,
  open,
  refused,
  submit,
} from "./intake-harness.ts";

eachWithItsIntake();

describe("a known identity", () => {
  beforeEach(() => void submit());

  it("gets the outcome of its command, and is not sent again", async () => {
    const again = submit();
    begunAt(0).end();
    expect(await again).toEqual({ ...done, duplicate: true });
    expect(begun).toHaveLength(1);
  });

  it.each<[string, Partial<Envelope>]>([
    ["retained", { retained: true }],
    ["without an expiry", { expiry: { lacks: "give one" } }],
    ["unanswerable", { unanswerable: "a response topic of more than 1024 bytes" }],
  ])("does so however it was sent this time: %s", async (_what, changes) => {
    begunAt(0).end();
    expect(await submit(changes)).toMatchObject({ outcome: "succeeded", duplicate: true });
  });

  it("does so without the right that it had", async () => {
    const known = execution();
    open({}, { execution: known });
    void submit();
    begunAt(1).end();
    open({}, { execution: known, rights: { rules: [], accounts: [] } });
    expect(await submit()).toMatchObject({ outcome: "succeeded", duplicate: true });
  });

  it.each<[string, Partial<Envelope>, string]>([
    ["MALFORMED", { request: { json: [] } }, "request: must be an object"],
    ["MALFORMED", { request: { unreadable: '"x": is no field' } }, '"x": is no field'],
    ["UNKNOWN_OPERATION", { operation: "Fly" }, 'there is no operation "Fly"'],
  ])("%s: is never told that it was not done", async (code, changes, message) => {
    expect(await submit(changes)).toMatchObject({
      outcome: "refused",
      code,
      message: `${message}; its id is an earlier command's, and this is not that one's outcome`,
      retrySafe: false,
    });
  });

  it("IDENTITY_REUSED: is refused with another request, by the sender's own id", async () => {
    const scoped = { scope: "call", requestId: "m1" };
    void submit(scoped);
    const outcome = await submit({ ...scoped, request: { json: { robot: "AMR01", to: "B" } } });
    expect(outcome).toMatchObject({
      code: "IDENTITY_REUSED",
      message: 'request id "m1" was used before for another command',
    });
    expect(refused).toMatchObject([{ command: { requestId: "call/m1" }, outcome }]);
  });

  it("is another one's from another source, or in another scope", () => {
    void submit({ source: { protocol: "mqtt", name: "plc" } });
    void submit({ scope: "call" });
    expect(begun).toHaveLength(3);
  });

  it("SHUTTING_DOWN: nobody can tell whether it is known when the journal is closed", async () => {
    open({}, { execution: { ...execution(), isClosed: () => true } });
    expect(await submit({ requestId: "new" })).toMatchObject({
      outcome: "unknown",
      code: "SHUTTING_DOWN",
      message: "the gateway is shutting down, and its record cannot be read now: ask again when it is up",
      retrySafe: false,
    });
    expect(refused).toEqual([]);
  });
});
