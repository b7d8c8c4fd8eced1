import { expect, test } from "vitest";
import { batteryTrend, latencyTrend } from "../../../src/northbound/web/api/trend.ts";
import { missionEvent, rosterEvent } from "../../delivery/fleet-updates.ts";
import { createWebHarness } from "./web-harness.ts";

async function read(url: string) {
  const answer = await fetch(url);
  return { status: answer.status, body: (await answer.json()) as unknown };
}

test("the battery of a robot, by the model of the API; one that nobody knows is not found", async () => {
  await using web = await createWebHarness();
  web.fleet.receive(missionEvent("r1", ["m1:RUNNING"]), rosterEvent(["r1"]));
  const { status, body } = await read(`${web.url}/api/v1/robots/r1/battery-trend`);
  expect(status).toBe(200);
  expect(batteryTrend.parse(body)).toMatchObject({ robot_id: "r1", charge_percent: [null] });
  expect((await read(`${web.url}/api/v1/robots/nobody/battery-trend`)).status).toBe(404);
});

test("how long commands took, by the model of the API", async () => {
  await using web = await createWebHarness();
  web.fleet.commandEnded({
    protocol: "mqtt",
    operation: "CreateMission",
    outcome: "succeeded",
    durationMs: 250,
  });
  const { status, body } = await read(`${web.url}/api/v1/command-latency`);
  expect(status).toBe(200);
  const { steps } = latencyTrend.parse(body);
  expect(steps).toEqual([
    { commands: 1, unknown: 0, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
  ]);
  expect(steps[0]?.p50_ms).toBeGreaterThan(237);
  expect(steps[0]?.p50_ms).toBeLessThan(263);
});
