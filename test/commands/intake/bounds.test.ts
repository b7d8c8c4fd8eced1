import { describe, expect, it } from "vitest";
import type { Rights } from "../../../src/commands/options.ts";
import type { Envelope } from "../../../src/contracts/commander.ts";
import {
  audit,
  begun,
  begunAt,
  eachWithItsIntake,
  intake,
  open,
  plc,
  refused,
  submit,
} from "./intake-harness.ts";

eachWithItsIntake();

describe("what is refused for how it came", () => {
  it("RETAINED", async () => {
    expect(await submit({ retained: true })).toMatchObject({
      code: "RETAINED",
      message: "commands must not be retained",
    });
  });

  it("MALFORMED: nobody could be answered", async () => {
    const unanswerable = "the response topic is outside the client's own subtree";
    expect(await submit({ unanswerable })).toMatchObject({ code: "MALFORMED", message: unanswerable });
  });
});

describe("rights", () => {
  const rights: Rights = {
    rules: [{ source: plc, role: "operator", robots: ["AMR01"] }],
    accounts: [],
  };
  const message = 'opcua "plc" may not send Go, which needs operator: rights[0] names only AMR01';

  it("NOT_ALLOWED: before it begins, with an event", async () => {
    open({}, { rights });
    const outcome = await submit({ request: { json: { robot: "AMR02" } } });
    expect(outcome).toMatchObject({ code: "NOT_ALLOWED", message });
    expect(refused).toMatchObject([{ command: { robotId: "AMR02" }, outcome }]);
    expect(begun).toEqual([]);
  });

  it("are asked again by the dispatcher, where the robot is looked up", () => {
    open({}, { rights });
    void submit({ operation: "Chain", request: { json: { number: 7 } } });
    expect(begun).toHaveLength(1);
  });
});

describe("bounds", () => {
  const full = "too many commands wait for their outcome";
  const many = (count: number, changes: (place: number) => Partial<Envelope> = () => ({})) =>
    Array.from({ length: count }, (_, index) => submit({ requestId: `b${index}`, ...changes(index) }));

  it("QUEUE_FULL: 512 of one source, at every protocol; others are served", async () => {
    many(512);
    expect(await submit()).toMatchObject({ code: "QUEUE_FULL", message: full });
    expect(audit).toMatchObject([{ request_id: "r1", robot_id: "AMR01", code: "QUEUE_FULL" }]);
    void submit({ source: { protocol: "mqtt", name: "plc" } });
    expect(begun).toHaveLength(513);
  });

  it("QUEUE_FULL: 2,048 of all sources", async () => {
    many(2_048, (place) => ({ source: { protocol: "mqtt", name: `c${place % 8}` } }));
    expect(await submit()).toMatchObject({ code: "QUEUE_FULL", message: full });
    expect(intake.figures()).toMatchObject({ commandsInFlight: 2_048 });
  });

  it("leave as much again to stops and to repetitions", async () => {
    many(512);
    void submit({ operation: "Halt", requestId: "stop" });
    expect(begunAt(512).command.operation).toBe("Halt");
    const again = submit({ requestId: "b0" });
    begunAt(0).end();
    expect(await again).toMatchObject({ outcome: "succeeded", duplicate: true });
  });

  it("QUEUE_FULL: a known command is not told that it was not done", async () => {
    open({ maxCommands: 1 });
    void submit();
    void submit();
    expect(await submit()).toMatchObject({
      outcome: "unknown",
      code: "QUEUE_FULL",
      message:
        "the command is in hand or recorded, and too many wait for their outcome: ask again with the same id",
      retrySafe: false,
    });
    expect(audit).toEqual([]);
  });

  it("are free again when commands end", async () => {
    open({ maxCommandsOfSource: 1 });
    const first = submit();
    begunAt(0).end();
    await first;
    void submit({ requestId: "r2" });
    expect(begun).toHaveLength(2);
  });

  it("RATE_LIMITED: more than a source's rate, told once a second; not stops, nor other protocols", async () => {
    open({ rates: { mqtt: { perSecond: 1, burst: 2 } } });
    const source = { protocol: "mqtt", name: "hmi" } as const;
    const outcomes = many(4, () => ({ source })).slice(2);
    const over = { code: "RATE_LIMITED", message: "this client sends more than 1 a second, 2 at once" };
    expect(await Promise.all(outcomes)).toMatchObject([over, over]);
    expect(audit).toHaveLength(1);
    expect(await submit({ source, requestId: "b0" })).toMatchObject({
      outcome: "unknown",
      code: "RATE_LIMITED",
    });
    void submit({ source, operation: "Halt" });
    void submit();
    expect(begun).toHaveLength(4);
    expect(intake.figures()).toMatchObject({ rateLimited: 3 });
  });
});
