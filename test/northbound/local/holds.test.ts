import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalBench, type LocalBench } from "./local-bench.ts";

let bench: LocalBench;

beforeEach(async () => {
  bench = await createLocalBench();
});
afterEach(() => bench[Symbol.asyncDispose]());

/** The answer to one line. */
async function answer(line: object): Promise<unknown> {
  const client = await bench.client();
  client.send({ id: "h1", user: "bob", ...line });
  return client.next();
}

describe("a hold by the control socket", () => {
  it("is the user's own, on one robot or on all, until it is lifted", async () => {
    expect(await answer({ hold: { robot_id: "r1", hold: true } })).toMatchObject({
      id: "h1",
      outcome: "succeeded",
      code: "OK",
      message: "held by cli:bob",
      response: { held: true, by: ["cli:bob"] },
    });
    expect(await answer({ hold: { hold: true } })).toMatchObject({ message: "held by cli:bob" });
    expect(bench.holds.holdState("r1").by).toEqual(["cli:bob", "cli:bob (all)"]);
    expect(await answer({ hold: { robot_id: "r1", hold: false } })).toMatchObject({
      message: "held by cli:bob (all)",
    });
    expect(await answer({ hold: { hold: false } })).toMatchObject({ message: "held by nobody" });
  });

  it("is lifted for another user that the line names", async () => {
    await answer({ hold: { robot_id: "r1", hold: true } });
    const lift = { hold: { robot_id: "r1", hold: false, user: "cli:bob" }, user: "chief" };
    expect(await answer(lift)).toMatchObject({ message: "held by nobody" });
  });

  it.each<[string, object, string]>([
    ["what is no object", { hold: true }, "hold: must be an object with robot_id, hold and user"],
    [
      "another field",
      { hold: { robot: "r1", hold: true } },
      'hold: "robot" is not one of robot_id, hold and user',
    ],
    [
      "a robot that is no text",
      { hold: { robot_id: "", hold: true } },
      "hold.robot_id: must be text of 1 to 256 printable characters",
    ],
    ["no hold", { hold: { robot_id: "r1" } }, "hold.hold: must be true or false"],
    [
      "a user beside a hold that begins",
      { hold: { hold: true, user: "cli:bob" } },
      "hold.user: must be text, as opcua:plc1, beside hold false: it names whose hold is lifted",
    ],
    [
      "a command beside it",
      { hold: { hold: true }, operation: "SkipGoal" },
      "hold: stands beside no operation, request, expiry or override",
    ],
  ])("MALFORMED: refuses %s", async (_what, line, message) => {
    expect(await answer(line)).toMatchObject({ outcome: "refused", code: "MALFORMED", message });
    expect(bench.holds.asked).toEqual([]);
  });

  it("refuses a robot that is none, and a user who may not, and audits it", async () => {
    expect(await answer({ hold: { robot_id: "nope", hold: true } })).toMatchObject({ code: "UNKNOWN_ROBOT" });
    const denied = { code: "NOT_ALLOWED", message: 'cli "ann" may not' };
    expect(await answer({ hold: { robot_id: "r1", hold: true }, user: "ann" })).toMatchObject(denied);
    expect(bench.ledger.told).toMatchObject([
      { operation: "hold", robotId: "nope", source: { name: "bob" } },
      { operation: "hold", robotId: "r1", source: { name: "ann" }, code: "NOT_ALLOWED" },
    ]);
  });
});
