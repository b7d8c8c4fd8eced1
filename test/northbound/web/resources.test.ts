import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { unknownSight } from "../../../src/domain/station-sight.ts";
import { noCounters } from "../../../src/domain/station-visits.ts";
import { fleetMap } from "../../../src/domain/update.ts";
import * as commandModels from "../../../src/northbound/web/api/command.ts";
import * as operationModels from "../../../src/northbound/web/api/command.ts";
import * as floorModels from "../../../src/northbound/web/api/floor.ts";
import { floorSettings } from "../../../src/northbound/web/api/floor.ts";
import * as gatewayModels from "../../../src/northbound/web/api/gateway.ts";
import { connections } from "../../../src/northbound/web/api/gateway.ts";
import { pause, type Robot, robot, robots } from "../../../src/northbound/web/api/robot.ts";
import {
  batteryEvent,
  chainEvent,
  conveyor,
  conveyorsEvent,
  missionEvent,
  rosterEvent,
} from "../../delivery/fleet-updates.ts";
import { greyPng } from "../../support/png.ts";
import { standingAlarm } from "../../support/test-alarms.ts";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";
import { loggedCommand } from "./fleet-api-harness.ts";
import { createWebHarness } from "./web-harness.ts";

let harness: ControlHarness;
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(() => harness[Symbol.asyncDispose]());

async function get(path: string): Promise<unknown> {
  const { status, body } = await harness.ask("GET", `/api/v1/${path}`);
  expect([path, status]).toEqual([path, 200]);
  return body;
}

async function robotOf(robotId: string): Promise<Robot> {
  return robot.parse(await get(`robots/${encodeURIComponent(robotId)}`));
}

const info = { map_name: "Hall 2", coordinate: { x: 1.5, y: 2, theta: 0 } };

describe("a pause", () => {
  it("is what the rule of the slots stops: the mission under way, and the task chain", async () => {
    const { fleet, clock } = harness;
    fleet.receive(
      missionEvent("r1", ["m1:SUCCEEDED", "m2:RUNNING"], "missions", clock.nowMs()),
      conveyorsEvent("r1", [conveyor(1, { operation: "OPERATION_STATE_ROLLING" })]),
      missionEvent("r2", ["m3:PAUSED"], "missions", clock.nowMs()),
    );
    expect(pause.parse(await get("robots/r1/pause"))).toEqual({
      commands: [
        {
          operation: "UpdateMission",
          request: { robotId: "r1", missionCommand: { command: "COMMAND_PAUSE", missionId: "m2" } },
        },
      ],
      tick: "s1.0",
    });
    expect(await get("robots/r2/pause")).toMatchObject({ commands: [] });
    expect(await harness.ask("GET", "/api/v1/robots/r3/pause")).toMatchObject({ status: 404 });
  });
});

describe("robots", () => {
  it("show all that is known, as the model says", async () => {
    const { fleet, clock } = harness;
    fleet.receive(
      missionEvent("r1", ["m1:SUCCEEDED", "m2:PAUSED"], "missions", clock.nowMs()),
      batteryEvent("r1", 81),
      conveyorsEvent("r1", [conveyor(1, { operation: "OPERATION_STATE_ROLLING" })]),
      rosterEvent(["r1"], { ...info, un_finish_route: { un_finished_vertexes: ["P2", "P3"] } }),
    );
    fleet.tell({
      changes: [
        { kind: "hold", robotId: "r1", hold: { isHeld: false, by: [], isStored: true } },
        {
          kind: "robot_alarms",
          robotId: "r1",
          alarms: [standingAlarm("ROBOT_EXCEPTION", "r1")],
          isOutOfService: false,
        },
      ],
    });
    fleet.leases.set("r1", { station: "Dock", owner: { protocol: "opcua", name: "plc1" }, sinceMs: 0 });
    clock.advance(1_500);
    expect(await robotOf("r1")).toMatchObject({
      robot_id: "r1",
      quality: "good",
      idle: { reason: "PAUSED", not_ready: false },
      place: { amr_id: 1, map_id: 1, map_name: "Hall 2", x: 1.5, point: "P1", age_ms: 1_500, listed: true },
      mission: { age_ms: 1_500, state: { current_mission_index: 1 } },
      battery: { state: { battery_state: { charge_percent: 81 } } },
      conveyors: [{ index: 1, state: { operation_state: "OPERATION_STATE_ROLLING" } }],
      lease: { station: "Dock", owner: "opcua:plc1" },
      alarms: [{ code: "ROBOT_EXCEPTION" }],
    });
    expect((await robotOf("r1")).place?.unfinished_points).toEqual(["P2", "P3"]);
  });

  it("name the task chain of the online list, and whether it waits", async () => {
    const task = {
      id: 31,
      map_id: 1,
      task_type: "TASK_TYPE_SYSTEM_CONFIRM",
      end_point_code: "P1",
      status: "TASK_STATUS_EXECUTING",
    };
    const info9 = {
      task_chain_state: { id: 9, amr_id: 1, task_seq: "s", status: "S" },
      task_states: [task],
    };
    const chain = {
      chainId: 9,
      amrId: 1,
      taskSeq: "s",
      status: "S",
      finished: false,
      info: info9,
    };
    const presence = { amrId: 1, mapId: 1, position: "P1", stateId: "busy", taskChainId: 9, info };
    harness.fleet.receive(
      missionEvent("r1", ["m1:SUCCEEDED"]),
      { kind: "roster", atMs: 0, robots: [{ robotId: "r1", presence }] },
      { kind: "task_chain", atMs: 0, chain },
      chainEvent(10),
    );
    expect(await robotOf("r1")).toMatchObject({
      idle: { reason: "WAITS_FOR_CONFIRMATION" },
      task_chain: { state: info9, current_task_index: 0, waits_for_confirmation: true },
    });
  });

  it("stand because a station leases them, for as long as it does", async () => {
    const { fleet } = harness;
    fleet.receive(missionEvent("r1", ["m1:SUCCEEDED"]));
    expect((await robotOf("r1")).idle).toMatchObject({ reason: "IDLE" });
    const owner = { protocol: "opcua", name: "plc1" } as const;
    fleet.leases.set("r1", { station: "Dock", owner, sinceMs: 0 });
    const lease = { kind: "lease", robotId: "r1", atMs: 0, station: "Dock", owner, by: null } as const;
    fleet.tell({ events: [{ ...lease, eventId: "e1", to: "leased", reason: "asked" }] });
    expect((await robotOf("r1")).idle).toMatchObject({
      reason: "LEASED",
      text: "leased by station Dock",
      not_ready: false,
    });
    fleet.leases.clear();
    fleet.tell({ events: [{ ...lease, eventId: "e2", to: "free", reason: "released" }] });
    expect((await robotOf("r1")).idle).toMatchObject({ reason: "IDLE" });
  });

  it("stand since their reason began, and keep that time while the wall clock is set", async () => {
    const { fleet, clock } = harness;
    fleet.receive(missionEvent("r1", ["m1:PAUSED"], "missions", clock.nowMs()));
    const { since } = (await robotOf("r1")).idle;
    clock.advance(5_000);
    clock.jump(-3_600_000);
    fleet.receive(batteryEvent("r1", 50));
    const robot = await robotOf("r1");
    expect(robot.idle).toMatchObject({ reason: "PAUSED", since, for_ms: 5_000 });
    expect(robot.mission?.age_ms).toBe(5_000);
  });

  it("do not show a value that is lost, and keep the place with its age", async () => {
    const { fleet, clock } = harness;
    fleet.receive(missionEvent("r1", ["m1:RUNNING"]), rosterEvent(["r1"], info), rosterEvent([]));
    clock.advance(400_000);
    fleet.tell(fleet.state.tick());
    expect(await robotOf("r1")).toMatchObject({
      quality: "lost",
      idle: { reason: "UNKNOWN", not_ready: true },
      mission: { quality: "lost", state: null },
      place: { quality: "lost", x: 1.5, age_ms: 400_000, listed: false },
    });
  });

  it("come in pages that neither miss nor repeat one while others come", async () => {
    const { fleet } = harness;
    for (const id of ["r1", "r2", "r4", "r5"]) fleet.receive(missionEvent(id, []));
    const first = robots.parse(await get("robots?limit=2"));
    fleet.receive(missionEvent("r0", []), missionEvent("r3", []));
    const second = robots.parse(await get(`robots?limit=2&cursor=${first.next}`));
    const third = robots.parse(await get(`robots?limit=2&cursor=${second.next}`));
    expect([first, second, third].map((page) => page.robots.map(({ robot_id }) => robot_id))).toEqual([
      ["r1", "r2"],
      ["r3", "r4"],
      ["r5"],
    ]);
    expect([first.count, third.count, third.next]).toEqual([4, 6, null]);
  });

  it.each([
    "robots?limit=0",
    "robots?limit=x",
    "robots?limit=1001",
    "robots?cursor=%20",
    ...["robots", "maps", "stations", "alarms", "commands", "connections", "operations", "tags"].flatMap(
      (list) => [`${list}?cursor=zzz`, `${list}?cursor=AAAA`],
    ),
    "maps?page=2",
    "commands?robot=a&robot=b",
  ])("refuse %s", async (path) => {
    expect(await harness.ask("GET", `/api/v1/${path}`)).toMatchObject({
      status: 400,
      body: { status: 400, detail: expect.stringMatching(/^(limit|cursor|robot|"page"): /) },
    });
  });

  it("refuse the cursor of another list", async () => {
    const { next } = (await harness.ask("GET", "/api/v1/operations?limit=1")).body as { next: string };
    expect((await harness.ask("GET", `/api/v1/operations?cursor=${next}`)).status).toBe(200);
    expect((await harness.ask("GET", `/api/v1/robots?cursor=${next}`)).status).toBe(400);
  });

  it("say that there is no such robot, or map", async () => {
    for (const path of ["robots/nobody", "maps/7", "maps/x", "maps/1e0", "maps/0x1", "maps/%201"])
      expect((await harness.ask("GET", `/api/v1/${path}`)).status).toBe(404);
  });
});

describe("the floor of the configuration", () => {
  it("says what types of points mean, and where a drawing lies", async () => {
    await using harness = await createWebHarness();
    const { fleet, url } = harness;
    const get = async (path: string) => (await fetch(`${url}/api/v1/${path}`)).json();
    expect(floorSettings.parse(await get("floor"))).toEqual({ point_types: [], drawings: [] });
    const first = { pixel: { x: 0, y: 30 }, map: { x: 0, y: 0 } };
    const second = { pixel: { x: 40, y: 0 }, map: { x: 20, y: 15 } };
    const bytes = greyPng(40, 30);
    fleet.floorOptions.now = {
      pointTypes: [{ type: 1, name: "station", shape: "square" }],
      drawings: [{ mapId: 1, bytes, width: 40, height: 30, first, second }],
    };
    expect(floorSettings.parse(await get("floor"))).toEqual({
      point_types: [{ type: 1, name: "station", shape: "square" }],
      drawings: [{ map_id: 1, width: 40, height: 30, first, second }],
    });
    const picture = await fetch(`${url}/api/v1/maps/1/drawing`);
    expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(bytes);
    expect((await fetch(`${url}/api/v1/maps/2/drawing`)).status).toBe(404);
  });
});

describe("maps and stations", () => {
  it("have the points of the service's answer, or say that it is too large", async () => {
    const { fleet, clock } = harness;
    const vertex = { id: 1, code: "P1", alias: "Door", x: 1, y: 2, theta: 0, type: 4, extend: "{}" };
    const map = fleetMap(clock.nowMs(), JSON.stringify({ vertexes: [vertex, { code: "nowhere" }] }));
    fleet.receive(
      missionEvent("r1", []),
      rosterEvent(["r1"], info),
      { kind: "map", mapId: 1, map },
      { kind: "map", mapId: 2, map: { ...map, json: null } },
      { kind: "map", mapId: 3, map: fleetMap(0, "{}") },
    );
    const found = floorModels.maps.parse(await get("maps"));
    expect(found.maps.map(({ map_id, name }) => [map_id, name])).toEqual([
      [1, "Hall 2"],
      [2, null],
      [3, null],
    ]);
    const { extend: _left, ...point } = vertex;
    expect(floorModels.map.parse(await get("maps/1")).points).toEqual([point]);
    expect(floorModels.map.parse(await get("maps/2")).points).toBeNull();
    expect(floorModels.map.parse(await get("maps/3")).points).toBeNull();
  });

  it("show a station until it is no longer configured", async () => {
    const { fleet } = harness;
    const shown = { sight: { ...unknownSight, quality: "good" as const }, counters: noCounters(0) };
    const alarms = [standingAlarm("ROBOT_EXCEPTION", "r1")];
    fleet.leases.set("r1", { station: "Dock", owner: { protocol: "opcua", name: "plc1" }, sinceMs: 0 });
    fleet.receive(missionEvent("r1", []), missionEvent("r2", []));
    fleet.tell({
      changes: [
        { kind: "station", station: "Dock", shown },
        { kind: "station_alarms", station: "Dock", alarms },
      ],
    });
    const leases = [{ robot_id: "r1", owner: "opcua:plc1" }];
    expect(floorModels.stations.parse(await get("stations")).stations).toMatchObject([
      { station: "Dock", state: { valid: false }, leases, alarms: 1 },
    ]);
    fleet.tell({ changes: [{ kind: "station_removed", station: "Dock" }] });
    expect(await get("stations")).toMatchObject({ count: 0 });
  });
});

describe("the gateway", () => {
  it("lists commands with their stages, newest first, as pages or lines", async () => {
    const { commands } = harness.fleet;
    commands.push(
      loggedCommand(2, { robotId: "r2", finalAtMs: null, ending: null }),
      loggedCommand(1, { onBehalfOf: { protocol: "mqtt", name: "scada" } }),
    );
    const all = commandModels.commands.parse(await get("commands"));
    expect(all.commands).toMatchObject([
      { number: 2, stage: "sent", outcome: null, meaning: "on its way; not final" },
      { number: 1, stage: "final", outcome: "unknown", on_behalf_of: "mqtt:scada" },
    ]);
    expect(all.commands[1]?.meaning).toMatch(/^the robot may have acted/);
    expect(await get("commands?robot=r2&source=opcua:plc1")).toMatchObject({ count: 1 });
    expect(await get("commands?outcome=none")).toMatchObject({ count: 1, commands: [{ number: 2 }] });
    expect(await get("commands?request_id=r1&operation=Other")).toMatchObject({ count: 0 });
  });

  it("describes each operation for a form", async () => {
    const { count, operations } = operationModels.operations.parse(await get("operations"));
    expect(count).toBe(21);
    const charge = operations.find(({ name }) => name === "ChargeRobot");
    expect(charge).toMatchObject({
      role: "operator",
      fields: [{ json_name: "robotId", type: "string", required: true }],
      robot_field: { path: ["robotId"], by: "id" },
    });
  });

  it("tells the state of its parts, and of those that connect it", async () => {
    expect(gatewayModels.health.parse(await get("health"))).toMatchObject({
      state: "degraded",
      gateway_id: "plant1",
      parts: { fleet: { figures: { streams_open: 3 } }, opcua: { since: null, detail: "full" } },
    });
    const { connections: found } = connections.parse(await get("connections"));
    expect(found.map(({ name, state }) => [name, state])).toEqual([
      ["control", "up"],
      ["fleet", "up"],
      ["opcua", "degraded"],
    ]);
  });

  it("tells who is connected to each part, what waits, and what will not last", async () => {
    harness.fleet.peers.push({
      kind: "session",
      name: "plc1",
      client: "S7-1500",
      address: "10.0.0.7",
      state: "lost",
      sinceMs: 1_000,
      detail: "gone",
    });
    const answer = connections.parse(await get("connections"));
    expect(answer.connections.find(({ name }) => name === "opcua")).toMatchObject({
      peer_count: 1,
      peers: [{ name: "plc1", state: "lost", since: "1970-01-01T00:00:01.000Z", detail: "gone" }],
    });
    expect(answer).toMatchObject({
      queues: [
        { name: "mqtt", figures: { events_dropped: 2 } },
        { name: "outbox", figures: { waiting: 3 } },
      ],
      disk: { path: "/data", free_bytes: 1_000, detail: "" },
      expiries: [
        { kind: "token", seconds_left: 600, path: null },
        { kind: "certificate", name: "opcua", path: "/data/own.pem", seconds_left: 86_400 },
      ],
    });
  });
});
