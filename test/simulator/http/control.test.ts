import { afterAll, beforeAll, expect, test } from "vitest";
import type { RobotState } from "../../../src/simulator/control.ts";
import type { RecordEntry } from "../../../src/simulator/world/record.ts";
import { type HttpsAnswer, https } from "../../support/https.ts";
import { type RunningSimulator, startSimulator } from "../../support/simulator.ts";

let simulator: RunningSimulator;
let robots: ReadonlyArray<{ readonly id: string; readonly name: string }>;
beforeAll(async () => {
  simulator = await startSimulator();
  const online = await simulator.rest("GET", "/amr/onlineAmr");
  robots = (online.json() as { robots: typeof robots }).robots;
});
afterAll(() => simulator.stop());

const control = (method: string, path: string, body?: unknown): Promise<HttpsAnswer> =>
  https({ url: `${simulator.endpoints.https}/simulator${path}`, ca: simulator.ca, method, body });
const toStation = (destinationId: string) => ({
  baseMission: { navigateMission: { goal: { destinationId } } },
});
const recordOf = async (robotId: string, query = "") => {
  const answer = await control("GET", `/record?robotId=${robotId}${query}`);
  return (answer.json() as { entries: RecordEntry[] }).entries;
};

test("faults are switched on, listed with what is left of them, and cleared, without a token", async () => {
  const fault = { kind: "command", operation: "SkipGoal", effect: "internal-before", count: 2 };
  expect((await control("POST", "/faults", fault)).json()).toEqual({ faults: [fault] });
  const struck = await simulator.rest("POST", "/v1/goal/skip", { robotId: robots[0]?.name });
  expect([struck.status, struck.headers["grpc-status"]]).toEqual([500, "13"]);
  expect((await control("GET", "/faults")).json()).toEqual({ faults: [{ ...fault, count: 1 }] });
  expect((await control("DELETE", "/faults")).json()).toEqual({ faults: [] });
});

test.each([
  ["/faults", { kind: "plague" }],
  ["/faults", "{"],
  ["/incidents", { kind: "offline" }],
  ["/lively", { lively: "very" }],
  ["/missions", { robotId: "x" }],
])("what %s does not understand, as %j, is 400 with the reason", async (path, body) => {
  const answer = await control("POST", path, body);
  expect(answer.status).toBe(400);
  expect(answer.json()).toEqual({ code: "INVALID_ARGUMENT", message: expect.stringMatching(/./) });
});

test("somebody at the touchscreen starts a mission, another client cannot begin one, and it is canceled", async () => {
  const robotId = robots[2]?.name ?? "";
  const started = await control("POST", "/missions", { robotId, mission: toStation("Station C") });
  expect(started.status, started.text).toBe(200);
  const { missionId } = started.json() as { missionId: string };
  const second = await control("POST", "/missions", {
    robotId,
    owner: "other-client",
    mission: toStation("Station C"),
  });
  expect(second.json()).toMatchObject({ code: "FAILED_PRECONDITION" });
  expect((await control("POST", "/missions/cancel", { robotId, missionId })).status).toBe(200);
  const facts = (await recordOf(robotId)).map(({ fact }) => fact);
  expect(facts).toContainEqual(
    expect.objectContaining({ what: "mission", missionId, owner: "touchscreen", to: "canceled" }),
  );
});

test("a robot goes offline and comes back on demand, and the record says so", async () => {
  const robotId = robots[3]?.name ?? "";
  const online = async () => (await simulator.rest("GET", "/amr/onlineAmr")).text.includes(`"${robotId}"`);
  expect((await control("POST", "/incidents", { kind: "offline", robotId })).status).toBe(200);
  expect(await online()).toBe(false);
  await control("POST", "/incidents", { kind: "online", robotId });
  expect(await online()).toBe(true);
  const nobody = await control("POST", "/incidents", { kind: "offline", robotId: "nobody" });
  expect(nobody.status).toBe(404);
  const [first, ...rest] = await recordOf(robotId);
  expect(first?.fact).toEqual({ what: "incident", incident: { kind: "offline", robotId } });
  expect(await recordOf(robotId, `&since=${first?.seq ?? 0}`)).toEqual(rest);
  expect(await recordOf(robotId, "&limit=1")).toEqual([first]);
});

test("how robots really are is told, in the world's own words", async () => {
  await control("POST", "/incidents", { kind: "conveyor-health", robotId: "cart-02", index: 1, ok: false });
  await control("POST", "/incidents", { kind: "battery", robotId: "cart-02", percent: 33.9 });
  const answer = await control("GET", "/robots");
  const { robots: told } = answer.json() as { robots: RobotState[] };
  expect(told.map(({ robotId }) => robotId)).toEqual(expect.arrayContaining(["cart-02", "globex-01"]));
  expect(told.find(({ robotId }) => robotId === "cart-02")).toMatchObject({
    amrId: 102,
    location: "plant-1",
    online: true,
    at: "HOME-2",
    battery: { percent: 33, state: "discharging", method: "none" },
    conveyors: [
      { index: 1, installed: true, motor: "stop", loaded: false, healthy: false },
      { index: 2, installed: true, motor: "stop", loaded: false, healthy: true },
    ],
  });
});

test("robots become lively on demand", async () => {
  expect((await control("POST", "/lively", { lively: "missions" })).status).toBe(200);
});
