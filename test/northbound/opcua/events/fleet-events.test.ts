import { constructEventFilter, ofType, resolveNodeId } from "node-opcua";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import type { FleetEvent } from "../../../../src/domain/event.ts";
import { unknownSight } from "../../../../src/domain/station-sight.ts";
import { noCounters, type VisibleStation } from "../../../../src/domain/station-visits.ts";
import { eventModels } from "../../../../src/models/event.ts";
import { namedValues } from "../../../../src/northbound/opcua/events/fleet-events.ts";
import {
  commandEventType,
  eventTypes,
  missionEventType,
} from "../../../../src/northbound/opcua/model/events.ts";
import { lineage, type ObjectModel } from "../../../../src/northbound/opcua/model/member.ts";
import { robotChange } from "../changes.ts";
import { type Caller, openSession, type RunningServer, startServer } from "../opcua-harness.ts";
import { type Listener, listen } from "./event-listener.ts";

let running: RunningServer;
let scada: Caller;
const listeners: Listener[] = [];

beforeAll(async () => {
  running = await startServer({
    robots: [{ robotId: "r1", alias: "AMR01", number: 1, family: "cart", conveyorIndexes: [1] }],
    stations: [{ name: "dock", needsPermit: false, load: null }],
  });
  running.server.write({ changes: [robotChange("r2", "good")], events: [] });
  scada = await openSession(running.url);
});
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.stop();
});
afterAll(async () => {
  await scada.close();
  await running.stop();
});

const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const command = { source: { protocol: "mqtt", name: "mes" }, requestId: "7" } as const;

function missionEvent(robotId: string, to: Extract<FleetEvent, { kind: "mission" }>["to"]): FleetEvent {
  const mission = { missionId: "m-1", from: null, to, owner: "api", command } as const;
  return { kind: "mission", eventId: `${robotId}/m-1/${to}`, robotId, atMs, ...mission };
}

type CommandEvent = Extract<FleetEvent, { kind: "command" }>;

function commandEvent(robotId: string, from: CommandEvent["from"] = "sent"): FleetEvent {
  return {
    kind: "command",
    eventId: "c-1",
    robotId,
    atMs,
    command,
    operation: "CreateMission",
    from,
    outcome: {
      outcome: "unknown",
      code: "FLEET_UNREACHABLE",
      message: "no answer",
      retrySafe: false,
      responseJson: null,
      missionId: null,
      evidence: null,
      duplicate: false,
    },
  };
}

async function hear(nodeId: string, ...fields: readonly string[]): Promise<Listener> {
  const listener = await listen(scada, nodeId, fields);
  listeners.push(listener);
  return listener;
}
const raise = (...events: readonly FleetEvent[]) => running.server.write({ changes: [], events });
const id = (path: string) => `ns=2;s=${path}`;
const field = (name: string) => `2:${name}`;

describe("a mission's transition", () => {
  it("is an event of its robot, with the id, time and fields of the same event on MQTT", async () => {
    const names = ["MissionId", "From", "To", "Owner", "CommandId", "CommandProtocol", "CommandUser"].map(
      field,
    );
    const standard = ["EventId", "EventType", "SourceNode", "SourceName", "Time", "Message", "Severity"];
    const { events } = await hear(id("Robots.AMR01"), ...standard, ...names, field("RobotId"), "LocalTime");
    raise(missionEvent("r1", "STATE_FAILED"));
    await expect.poll(() => events.length).toBe(1);
    expect(events[0]).toMatchObject({
      EventId: Buffer.from("r1/m-1/STATE_FAILED"),
      EventType: { value: "MissionEventType" },
      SourceNode: { value: "Robots.AMR01" },
      SourceName: "AMR01",
      Time: new Date(atMs),
      Message: { text: "mission m-1: STATE_FAILED" },
      Severity: 600,
      "2:RobotId": "r1",
      "2:MissionId": "m-1",
      "2:From": null,
      "2:To": 6,
      "2:Owner": "api",
      "2:CommandProtocol": "mqtt",
      "2:CommandUser": "mes",
      LocalTime: null,
    });
  });

  it("is received at Server, at Robots and at the robot, and at no other robot", async () => {
    const fields = ["EventId"];
    const [atServer, atRobots, atRobot, atOther] = [
      await hear("i=2253", ...fields),
      await hear(id("Robots"), ...fields),
      await hear(id("Robots.AMR01"), ...fields),
      await hear(id("Robots.r2"), ...fields),
    ];
    raise(missionEvent("r1", "STATE_RUNNING"), missionEvent("r2", "STATE_RUNNING"));
    await expect.poll(() => atServer.events.length).toBe(2);
    await expect.poll(() => atRobots.events.length).toBe(2);
    await expect.poll(() => [atRobot.events.length, atOther.events.length]).toEqual([1, 1]);
  });

  it("of a number without a name has that number", async () => {
    const { events } = await hear(id("Robots.r2"), field("To"), "Message");
    raise(missionEvent("r2", { kind: "unrecognised", raw: 42 }));
    await expect
      .poll(() => events)
      .toMatchObject([{ "2:To": 42, Message: { text: "mission m-1: state 42" } }]);
  });
});

describe("a command's outcome", () => {
  it("is an event of its robot, or of the gateway", async () => {
    const fields = ["SourceName", "Severity", "Message", field("Operation"), field("To"), field("RetrySafe")];
    const { events } = await hear("i=2253", ...fields);
    raise(commandEvent("r1"), commandEvent(""), commandEvent("a robot without nodes"));
    await expect.poll(() => events.length).toBe(3);
    expect(events.map(({ SourceName }) => SourceName)).toEqual(["AMR01", "Gateway", "Gateway"]);
    expect(events[0]).toMatchObject({
      Severity: 600,
      Message: { text: "CreateMission: unknown: no answer" },
      "2:Operation": "CreateMission",
      "2:To": 6,
      "2:RetrySafe": false,
    });
  });

  it("has the states before and after in the numbers of Outcome", async () => {
    const { events } = await hear(id("Robots.AMR01"), field("From"), field("To"));
    for (const from of ["received", "accepted", "sent", "unknown"] as const) raise(commandEvent("r1", from));
    await expect.poll(() => events.length).toBe(4);
    expect(events.map((event) => [event["2:From"], event["2:To"]])).toEqual([
      [0, 6],
      [1, 6],
      [2, 6],
      [6, 6],
    ]);
  });
});

describe("a visit of a station", () => {
  const counters = noCounters(0);
  const here = (
    robotId: string | null,
    changed: Partial<VisibleStation["counters"]> = {},
  ): VisibleStation => ({
    sight: {
      ...unknownSight,
      quality: "good",
      here: robotId === null ? null : { robotId, hasArrived: true },
    },
    counters: { ...counters, ...changed },
  });
  const show = (shown: VisibleStation) =>
    running.server.write({ changes: [{ kind: "station", station: "dock", shown }], events: [] });

  it("is an event when it begins and when it ends, with its times", async () => {
    const fields = ["SourceName", ...["Station", "Visit", "CycleSeconds", "RobotId"].map(field)];
    const { events } = await hear(id("Stations.dock"), ...fields);
    show(here("r1"));
    show(here("r1", { waitingLastMs: 1 }));
    show(here("r2", { cycles: 1, cycleLastMs: 2_500 }));
    show(here(null, { cycles: 1, cycleLastMs: 2_500, aborted: 1 }));
    await expect.poll(() => events.length).toBe(4);
    const seen = events.map((event) => [event["2:RobotId"], event["2:Visit"], event["2:CycleSeconds"]]);
    expect(seen).toEqual([
      ["r1", 1, null],
      ["r1", 2, 2.5],
      ["r2", 1, null],
      ["r2", 3, null],
    ]);
    expect(events[0]).toMatchObject({ SourceName: "dock", "2:Station": "dock" });
  });
});

describe("the types of events", () => {
  it("can be filtered by", async () => {
    const filter = constructEventFilter(["EventId"], ofType(resolveNodeId(id("CommandEventType"))));
    const commands = await listen(scada, "i=2253", ["EventId"], filter);
    const ofFleet = constructEventFilter(["EventId"], ofType(resolveNodeId(id("FleetEventType"))));
    const all = await listen(scada, "i=2253", ["EventId"], ofFleet);
    listeners.push(commands, all);
    raise(missionEvent("r1", "STATE_RUNNING"), commandEvent("r1"));
    await expect.poll(() => all.events.length).toBe(2);
    expect(commands.events).toEqual([{ EventId: Buffer.from("c-1") }]);
  });

  it.each([
    ["mission", missionEventType],
    ["command", commandEventType],
  ] as const)("have the fields of the same event in other protocols: %s", (kind, type) => {
    // The fields of BaseEventType have these.
    const ofBase = ["EventId", "At", "Message"];
    const published = namesOf(eventModels[kind]).filter((name) => !ofBase.includes(name));
    // An event that waited for a broker: a subscriber of OPC UA receives each at once.
    const own = published.filter((name) => name !== "Historical");
    expect(
      lineage(type)
        .flatMap(({ tags }) => Object.keys(tags))
        .toSorted(),
    ).toEqual(own.toSorted());
  });

  it("have no field that a base type has: node-opcua would lose it", () => {
    const names = (model: ObjectModel) => lineage(model).flatMap(({ tags }) => Object.keys(tags));
    for (const type of eventTypes) expect(new Set(names(type)).size, type.name).toBe(names(type).length);
  });
});

/** The names of a schema's values, as `namedValues` names those of an event. */
function namesOf(schema: z.ZodObject): readonly string[] {
  const sample = (part: unknown): unknown => {
    if (part instanceof z.ZodNullable || part instanceof z.ZodOptional) return sample(part.unwrap());
    if (!(part instanceof z.ZodObject)) return 0;
    return Object.fromEntries(Object.entries(part.shape).map(([key, each]) => [key, sample(each)]));
  };
  const { shape } = schema;
  return Object.entries(shape).flatMap(([key, part]) =>
    namedValues("", { [key]: sample(part) }).map(([name]) => name),
  );
}
