import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Commands } from "../../src/northbound/web/api/command.ts";
import { readStream, type StreamReader } from "../northbound/web/stream-reader.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";

const ROBOT = "cart-01";
const operator = { rights: [{ source: { protocol: "web", name: "*" }, role: "operator" }] };

let folder: string;
let simulator: RunningSimulator;
let gateway: RunningGateway;
const open: StreamReader[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fleetgate-web-"));
  simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7, timeFactor: 5 });
});
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  await gateway.stop();
  await simulator.stop();
  await rm(folder, { recursive: true });
});

/** Starts a gateway on the same data, and reads its stream until the robot is good and has a place. */
async function begin(sections: object): Promise<StreamReader> {
  gateway = await startGateway(folder, simulator.endpoints, { ...sections });
  const { hostname: host, port } = new URL(gateway.webUrl);
  const reader = await readStream({ host, port: Number(port) });
  open.push(reader);
  await reader.messages.first("the robot, good and with a place", () => {
    const all = [...reader.all("robots"), ...reader.all("change")];
    const robots = all.flatMap((body) => (body.robots ?? []).filter(({ robot_id }) => robot_id === ROBOT));
    return (
      robots.some(({ quality }) => quality === "good") && robots.some(({ place }) => place?.listed === true)
    );
  });
  return reader;
}

const mission = {
  operation: "CreateMission",
  request: {
    robotId: ROBOT,
    mission: { baseMission: { navigateMission: { goal: { destinationId: "Station C" } } } },
  },
};

async function put(id: string, body: object) {
  const response = await fetch(`${gateway.webUrl}/api/v1/commands/${id}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return [response.status, (await response.json()) as Readonly<Record<string, unknown>>] as const;
}

const commands = async () => (await (await fetch(`${gateway.webUrl}/api/v1/commands`)).json()) as Commands;

it("a page sees a robot, starts it once, watches what becomes of it, and finds it after a restart", async () => {
  const reader = await begin(operator);
  const { id: tick } = await reader.next("tick");
  const from = reader.messages.entries.length;
  const answers = await Promise.all([put("go", { ...mission, tick }), put("go", { ...mission, tick })]);
  expect(answers).toMatchObject([
    [200, { outcome: "succeeded" }],
    [200, { outcome: "succeeded" }],
  ]);
  expect(answers.map(([, { duplicate }]) => duplicate).sort()).toEqual([false, true]);
  const changes = () => reader.all("change");
  await reader.messages.first(
    "the robot moves",
    ({ name, body }) =>
      name === "change" &&
      (body.robots ?? []).some((each) => each.robot_id === ROBOT && each.idle?.reason === "MOVING"),
    from,
  );
  await reader.messages.first(
    "the outcome",
    ({ name, body }) => name === "change" && (body.commands ?? []).some(({ stage }) => stage === "final"),
    from,
  );
  const told = changes().flatMap((change) => change.commands ?? []);
  expect(told.at(-1)).toMatchObject({ protocol: "web", user: "open", request_id: "go", robot_id: ROBOT });
  const missions = simulator.control
    .record(0)
    .flatMap(({ robotId, fact }) => (robotId === ROBOT && "missionId" in fact ? [fact.missionId] : []));
  expect(new Set(missions).size).toBe(1);

  await gateway.stop();
  expect(await reader.next("closed")).toMatchObject({ code: "stopping", reconnect: true });
  await begin(operator);
  expect((await commands()).commands).toMatchObject([
    { request_id: "go", outcome: "succeeded", robot_id: ROBOT },
  ]);
  expect(await put("go", { ...mission, tick })).toMatchObject([
    200,
    { outcome: "succeeded", duplicate: true },
  ]);
});

it("without a rule for the protocol web a page reads, and moves nothing", async () => {
  await begin({ rights: [] });
  expect(await put("go", { ...mission, expires_in_ms: 5_000 })).toMatchObject([403, { code: "NOT_ALLOWED" }]);
  expect((await commands()).commands).toMatchObject([{ outcome: "refused", code: "NOT_ALLOWED" }]);
});
