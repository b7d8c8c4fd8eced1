import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connections } from "../../../src/northbound/web/api/gateway.ts";
import type { Robot, Robots } from "../../../src/northbound/web/api/robot.ts";
import { MOST_STREAMS } from "../../../src/northbound/web/stream/readers.ts";
import { batteryEvent, missionEvent, rosterEvent } from "../../delivery/fleet-updates.ts";
import { alarmEvent, standingAlarm } from "../../support/test-alarms.ts";
import { type ControlHarness, createControlHarness } from "./control-harness.ts";
import { loggedCommand } from "./fleet-api-harness.ts";
import { readStream, type StreamReader } from "./stream-reader.ts";

let harness: ControlHarness;
const open: StreamReader[] = [];
beforeEach(async () => {
  harness = await createControlHarness();
});
afterEach(async () => {
  for (const reader of open.splice(0)) reader.close();
  await harness[Symbol.asyncDispose]();
});

/** Reads, and has the whole snapshot. */
async function follow(headers: Readonly<Record<string, string>> = {}, query = ""): Promise<StreamReader> {
  const reader = await readStream(harness, headers, query);
  open.push(reader);
  await reader.messages.first("the end of the snapshot", ({ name, body }) => name === "robots" && !body.more);
  return reader;
}

/** Robots as a page has them that has read all messages. */
function shown(reader: StreamReader): ReadonlyMap<string, Robot> {
  const robots = new Map<string, Robot>();
  for (const { name, body } of reader.messages.entries) {
    if (name === "robots") for (const robot of body.robots) robots.set(robot.robot_id, robot);
    if (name !== "change") continue;
    for (const change of body.robots ?? []) {
      const known = robots.get(change.robot_id);
      if (known !== undefined) robots.set(change.robot_id, { ...known, ...change } as Robot);
    }
  }
  return robots;
}

const withoutAges = (robots: Iterable<Robot>) =>
  JSON.parse(JSON.stringify([...robots], (key, value) => (/^(age|for)_ms$/.test(key) ? 0 : value)));

describe("the stream", () => {
  it("is listed with those who read it, under their names, until they leave", async () => {
    const readers = async () => {
      const { body } = await harness.ask("GET", "/api/v1/connections");
      return connections.parse(body).connections.find(({ name }) => name === "control")?.peers;
    };
    const reader = await follow({ "fleetgate-user": "eva", "user-agent": "browser" });
    expect(await readers()).toMatchObject([
      { kind: "reader", name: "cli:eva", client: "browser", state: "connected" },
    ]);
    reader.close();
    await expect.poll(readers).toEqual([]);
  });

  it("begins with all that there is, and ticks each second", async () => {
    harness.fleet.receive(missionEvent("r1", ["m1:RUNNING"]), missionEvent("r2", []));
    harness.fleet.tell({ changes: [{ kind: "alarms", alarms: [standingAlarm("DISK_FULL", "")] }] });
    const reader = await follow();
    expect(reader.response.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store",
    });
    expect(reader.messages.entries.slice(0, 2)).toMatchObject([
      {
        name: "snapshot",
        body: {
          session_id: "s1",
          gateway_id: "plant1",
          poll_ms: 2_000,
          robot_count: 2,
          alarms: { count: 1 },
        },
      },
      { name: "robots", body: { robots: [{ robot_id: "r1" }, { robot_id: "r2" }], more: false } },
    ]);
    harness.fleet.receive(rosterEvent(["r1"]));
    await harness.clock.settle(3_000);
    await reader.messages.first(
      "the third tick",
      ({ name, body }) => name === "tick" && body.id === "s1.3000",
    );
    expect(reader.all("tick")).toMatchObject([{ id: "s1.1000" }, { id: "s1.2000" }, { id: "s1.3000" }]);
    expect(reader.all("tick").at(-1)).toMatchObject({ fleet_link_up: true, poll_age_ms: expect.any(Number) });
  });

  it("says in snapshots and ticks that another configuration was loaded", async () => {
    const reader = await follow();
    await harness.clock.settle(1_000);
    harness.fleet.configuration.now = 1;
    await harness.clock.settle(1_000);
    await reader.messages.first(
      "the second tick",
      ({ name, body }) => name === "tick" && body.id === "s1.2000",
    );
    expect(reader.all("tick")).toMatchObject([{ configuration: 0 }, { configuration: 1 }]);
    expect((await follow()).all("snapshot")).toMatchObject([{ configuration: 1 }]);
  });

  it("repeats the last tick at the end of a snapshot, with what is true then", async () => {
    harness.fleet.receive(missionEvent("r1", []));
    expect((await follow()).all("tick")).toEqual([]);
    await harness.clock.settle(1_500);
    const reader = await follow();
    await reader.messages.first("a tick", ({ name }) => name === "tick");
    expect(reader.all("tick")).toMatchObject([{ id: "s1.1000", at: "2026-01-01T00:00:01.500Z" }]);
    expect(reader.messages.entries.map(({ name }) => name)).toEqual(["snapshot", "robots", "tick"]);
  });

  it("does not tick while the values are not kept true, and ticks again", async () => {
    harness.fleet.receive(missionEvent("r1", []));
    const reader = await follow();
    await harness.clock.settle(1_000);
    await reader.next("tick");
    harness.fleet.hanging.part = "quality";
    await harness.clock.settle(3_000);
    const late = await follow();
    harness.fleet.hanging.part = null;
    await harness.clock.settle(1_000);
    await reader.messages.first(
      "a tick after the hang",
      ({ name, body }) => name === "tick" && body.id === "s1.5000",
    );
    await late.next("tick");
    expect([reader.all("tick"), late.all("tick")]).toMatchObject([
      [{ id: "s1.1000" }, { id: "s1.5000" }],
      [{ id: "s1.5000" }],
    ]);
  });

  it("tells all of a robot that is new, as a later snapshot has it", async () => {
    const reader = await follow();
    harness.fleet.receive(missionEvent("r9", []));
    await harness.clock.settle(250);
    await reader.next("change");
    const [change] = reader.all("change");
    const { body } = await harness.ask("GET", "/api/v1/robots");
    expect(withoutAges((change?.robots ?? []) as readonly Robot[])).toEqual(
      withoutAges((body as Robots).robots),
    );
  });

  it("merges the changes of a robot, four times a second, and sends what has changed alone", async () => {
    const { fleet, clock } = harness;
    fleet.receive(missionEvent("r1", []), missionEvent("r2", []));
    const reader = await follow();
    await clock.settle(1_000);
    await reader.next("tick");
    const from = reader.messages.entries.length;
    for (const charge of [80, 79, 78]) fleet.receive(batteryEvent("r1", charge));
    await clock.settle(1_000);
    const change = await reader.next("change", from);
    expect(change.robots).toMatchObject([
      { robot_id: "r1", battery: { state: { battery_state: { charge_percent: 78 } } } },
    ]);
    expect(Object.keys(change.robots?.[0] ?? {})).toEqual(["robot_id", "battery"]);
    await reader.next("tick", from);
    expect(reader.messages.entries.slice(from).filter(({ name }) => name === "change")).toHaveLength(1);
  });

  it("shows a page what GET answers, also when robots change while the snapshot is under way", async () => {
    const { fleet, clock } = harness;
    const ids = Array.from({ length: 300 }, (_, at) => `robot-${at}`);
    for (const id of ids) fleet.receive(missionEvent(id, ["m1:RUNNING"]));
    const reader = await readStream(harness);
    open.push(reader);
    await reader.next("robots");
    for (let round = 0; round < 5; round += 1) {
      for (const id of ids) fleet.receive(batteryEvent(id, round * 10));
      await clock.settle(250);
    }
    await reader.messages.first("the end", ({ name, body }) => name === "robots" && !body.more);
    await clock.settle(1_000);
    await reader.messages.first(
      "the second tick",
      ({ name, body }) => name === "tick" && body.id === "s1.2000",
    );
    const { body } = await harness.ask("GET", "/api/v1/robots");
    const robots = new Map((body as Robots).robots.map((robot) => [robot.robot_id, robot]));
    const byId = [...shown(reader)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, robot]) => robot);
    expect(withoutAges(byId)).toEqual(withoutAges(robots.values()));
  });

  it("tells that a robot is not on the newest list, though nothing else of it has changed", async () => {
    const { fleet, clock } = harness;
    fleet.receive(missionEvent("r1", []), rosterEvent(["r1"]));
    const reader = await follow();
    await clock.settle(1_000);
    await reader.next("tick");
    const from = reader.messages.entries.length;
    fleet.receive({ kind: "roster", atMs: 0, robots: [], unread: ["r1"] });
    await clock.settle(1_000);
    expect((await reader.next("change", from)).robots).toMatchObject([
      { robot_id: "r1", place: { listed: false } },
    ]);
  });

  it("tells of stations, maps, holds, leases, permits, alarms and commands", async () => {
    const { fleet, clock } = harness;
    fleet.receive(missionEvent("r1", []));
    const reader = await follow();
    const from = reader.messages.entries.length;
    fleet.receive({ kind: "map", mapId: 1, map: { readAtMs: 0, json: "{}", bytes: 2 } });
    const hold = { isHeld: true, by: ["opcua:plc1 (all)"], isStored: true };
    fleet.tell({
      changes: [
        { kind: "hold_all", hold },
        { kind: "alarms", alarms: [standingAlarm("DISK_FULL", "")] },
        { kind: "station_removed", station: "Dock" },
      ],
    });
    fleet.reach(loggedCommand(1, { finalAtMs: null, ending: null }));
    fleet.reach(loggedCommand(1));
    await clock.settle(1_000);
    expect(await reader.next("change", from)).toMatchObject({
      maps: [{ map_id: 1 }],
      maps_removed: [],
      hold: { held: true },
      alarms: { count: 1 },
      stations_removed: ["Dock"],
      commands: [{ number: 1, outcome: "unknown" }],
    });
  });

  it("tells a page where it lists alarms no further, and counts all", async () => {
    const alarms = Array.from({ length: 300 }, () => standingAlarm("ROBOT_LOST", "r1"));
    harness.fleet.tell({ changes: [{ kind: "alarms", alarms }] });
    const [snapshot] = (await follow()).all("snapshot");
    expect([snapshot?.alarms.count, snapshot?.alarms.alarms.length]).toEqual([300, 200]);
  });
});

describe("events", () => {
  const happen = (...ids: readonly string[]) =>
    harness.fleet.tell({ events: ids.map((id) => alarmEvent(id, "r1")) });

  it("come with ids, and resume behind the last one that was seen", async () => {
    const reader = await follow();
    happen("e1", "e2", "e3");
    await harness.clock.settle(1_000);
    await reader.messages.first("e3", ({ name, body }) => name === "event" && body.event_id === "e3");
    const second = reader.messages.entries.find(({ body }) => "event_id" in body && body.event_id === "e2");
    expect(second).toMatchObject({ name: "event", id: "s1.2", body: { kind: "alarm", code: "ROBOT_LOST" } });
    for (const again of [
      await follow({ "last-event-id": "s1.2" }),
      await follow({}, "?last_event_id=s1.2"),
    ]) {
      expect(await again.next("event")).toMatchObject({ event_id: "e3" });
      expect(again.all("gap")).toEqual([]);
    }
    expect((await follow()).all("event")).toEqual([]);
  });

  it("say what is missing", async () => {
    happen(...Array.from({ length: 1_010 }, (_, at) => `e${at + 1}`));
    await harness.clock.settle(1_000);
    const late = await follow({ "last-event-id": "s1.5" });
    expect(await late.next("gap")).toMatchObject({ missing: 5 });
    await late.messages.first(
      "the newest",
      ({ name, body }) => name === "event" && body.event_id === "e1010",
    );
    expect(late.all("event")).toHaveLength(1_000);
    for (const id of ["s0.7", "nonsense", "s1.99999", "s1.x"]) {
      const other = await follow({ "last-event-id": id });
      expect(await other.next("gap")).toMatchObject({ missing: null });
      expect(await other.next("event")).toMatchObject({ event_id: "e11" });
    }
  });
});

describe("the bounds of the stream", () => {
  it("close a reader that leaves 256 kB unread, and no other", async () => {
    const { fleet, clock, server } = harness;
    const ids = Array.from({ length: 400 }, (_, at) => `robot-${at}`);
    for (const id of ids) fleet.receive(missionEvent(id, []));
    const reader = await follow();
    const idle = connect({ path: harness.socketPath });
    await once(idle, "connect");
    idle.pause().on("error", () => {});
    idle.write("GET /api/v1/stream HTTP/1.1\r\nHost: x\r\n\r\n");
    const connections = () => server.health().figures?.connections ?? 0;
    while (connections() < 2) await clock.settle(0);
    let rounds = 0;
    for (; connections() > 1 && rounds < 200; rounds += 1) {
      const from = reader.messages.entries.length;
      for (const id of ids) fleet.receive(missionEvent(id, [`m${rounds}:RUNNING`]));
      await clock.settle(250);
      await reader.messages.first("the change", ({ name }) => name === "change", from);
    }
    expect(connections()).toBe(1);
    expect(reader.response.destroyed).toBe(false);
    idle.destroy();
  });

  it("keep a reader that reads, though one message is larger than what may wait", async () => {
    const { fleet, clock } = harness;
    const ids = Array.from({ length: 1_500 }, (_, at) => `robot-${at}`);
    for (const id of ids) fleet.receive(missionEvent(id, []));
    const reader = await follow();
    for (let round = 0; round < 6; round += 1) {
      const from = reader.messages.entries.length;
      for (const id of ids) fleet.receive(missionEvent(id, [`m${round}:RUNNING`, "next:DEFAULT"]));
      await clock.settle(250);
      const last = (body: object) => JSON.stringify(body).includes(`"m${round}"`);
      const change = await reader.messages.first(
        `round ${round}`,
        ({ name, body }) => name === "change" && last(body),
        from,
      );
      expect(JSON.stringify(change.body).length).toBeGreaterThan(256 * 1_024);
    }
    expect(reader.response.destroyed).toBe(false);
  });

  it("end the oldest of the user with most when too many read, and no other's", async () => {
    const other = await follow({ "fleetgate-user": "eva" });
    const [first, second] = [await follow(), await follow()];
    for (let index = 3; index < MOST_STREAMS; index += 1) await follow();
    await follow({ "fleetgate-user": "ben" });
    expect(await first.next("closed")).toMatchObject({ code: "replaced", reconnect: false });
    await follow();
    expect(await second.next("closed")).toMatchObject({ reason: expect.stringContaining("64 readers") });
    expect([other.all("closed"), harness.server.health().state]).toEqual([[], "up"]);
  });

  it("let so many read, and tell the next one when each user has one", async () => {
    for (let index = 0; index < MOST_STREAMS; index += 1) await follow({ "fleetgate-user": `user${index}` });
    expect(await harness.ask("GET", "/api/v1/stream")).toMatchObject({
      status: 503,
      body: { detail: expect.stringContaining(`${MOST_STREAMS} readers`) },
    });
    open.shift()?.close();
    const isFree = () => harness.server.health().figures?.connections ?? 0;
    while (isFree() >= MOST_STREAMS) await harness.clock.settle(0);
    await follow();
  });

  it("tell readers that the gateway stops", async () => {
    const reader = await follow();
    await harness.stop();
    expect(await reader.next("closed")).toMatchObject({ code: "stopping", reconnect: true });
    await reader.ended;
  });
});
