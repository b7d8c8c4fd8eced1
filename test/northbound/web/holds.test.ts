import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";

let harness: ControlHarness;

beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

const hold = (robot: string | null, body: unknown, user = "bob") => {
  const path = robot === null ? "/api/v1/hold" : `/api/v1/robots/${encodeURIComponent(robot)}/hold`;
  return harness.ask("PUT", path, body, { "fleetgate-user": user });
};
const endLease = (robot: string, user: string) =>
  harness.ask("DELETE", `/api/v1/robots/${encodeURIComponent(robot)}/lease`, undefined, {
    "fleetgate-user": user,
  });

describe("a hold by the control socket", () => {
  it("is the user's own, on one robot or on all, until it is lifted", async () => {
    expect(await hold("r1", { hold: true })).toMatchObject({
      status: 200,
      body: { held: true, by: ["cli:bob"] },
    });
    expect(await hold(null, { hold: true })).toMatchObject({ body: { by: ["cli:bob"] } });
    expect(harness.holds.holdState("r1").by).toEqual(["cli:bob", "cli:bob (all)"]);
    expect(await hold("r1", { hold: false })).toMatchObject({ body: { by: ["cli:bob (all)"] } });
    expect(await hold(null, { hold: false })).toMatchObject({ body: { held: false, by: [] } });
  });

  it("is lifted for another user that the body names", async () => {
    await hold("r1", { hold: true });
    expect(await hold("r1", { hold: false, user: "cli:bob" }, "chief")).toMatchObject({
      body: { held: false },
    });
  });

  it("takes a robot's name with any character", async () => {
    await hold("a/b %ü", { hold: true });
    expect(harness.holds.asked).toMatchObject([{ robotId: "a/b %ü", isHeld: true }]);
  });

  it.each<[string, unknown, string]>([
    ["what is no object", [true], "the body must be a JSON object"],
    [
      "another field",
      { hold: true, robot: "r1" },
      '"robot": is not a field of Hold; it has robot_id, hold and user',
    ],
    ["the robot of the address", { hold: true, robot_id: "r2" }, "robot_id: is in the address already"],
    ["no hold", {}, "hold: is missing"],
  ])("MALFORMED: refuses %s", async (_what, body, detail) => {
    expect(await hold("r1", body)).toMatchObject({ status: 400, body: { code: "MALFORMED", detail } });
    expect(harness.holds.asked).toEqual([]);
  });

  it("MALFORMED: refuses a robot's name without characters, or with too many", async () => {
    const detail = "robot_id: must be text of 1 to 256 printable characters";
    for (const robot of ["\n", "x".repeat(257)]) {
      const refused = { status: 400, body: { code: "MALFORMED", detail } };
      expect(await hold(robot, { hold: true })).toMatchObject(refused);
      expect(await endLease(robot, "chief")).toMatchObject(refused);
    }
  });

  it("refuses a robot that does not exist, and a user without the right, and audits it", async () => {
    expect(await hold("nope", { hold: true })).toMatchObject({
      status: 404,
      headers: { "content-type": "application/problem+json; charset=utf-8" },
      body: { status: 404, title: "Not Found", outcome: "refused", code: "UNKNOWN_ROBOT", retry_safe: true },
    });
    const detail = 'cli "ann" may not command robots, which needs operator: rights[0] makes it observer';
    const denied = { status: 403, body: { code: "NOT_ALLOWED", detail } };
    expect(await hold("r1", { hold: true }, "ann")).toMatchObject(denied);
    expect(harness.told).toMatchObject([
      { operation: "Hold", robotId: "nope", source: { name: "bob" } },
      { operation: "Hold", robotId: "r1", source: { name: "ann" }, code: "NOT_ALLOWED" },
    ]);
  });
});

describe("the end of a lease by the control socket", () => {
  it("ends the lease of any station, and says whose it was", async () => {
    expect(await endLease("r1", "chief")).toMatchObject({
      status: 200,
      body: { station: "Dock", owner: "opcua:plc" },
    });
    expect(await endLease("r1", "chief")).toMatchObject({
      status: 200,
      body: { station: null, owner: null },
    });
  });

  it("NOT_ALLOWED: is for engineers only, and a refusal is audited", async () => {
    expect(await endLease("r1", "ann")).toMatchObject({
      status: 403,
      body: {
        code: "NOT_ALLOWED",
        detail: 'cli "ann" may not send an override, which needs engineer: rights[0] makes it observer',
      },
    });
    expect(harness.told).toMatchObject([
      { operation: "OverrideLease", robotId: "r1", source: { name: "ann" }, code: "NOT_ALLOWED" },
    ]);
  });
});
