import { expect, test } from "vitest";
import type { StateChange } from "../../../src/domain/change.ts";
import type { Quality } from "../../../src/domain/observed.ts";
import { createTagWriter } from "../../../src/northbound/mqtt/tags.ts";
import { underBase } from "../../../src/northbound/mqtt/topic-templates.ts";
import { createTopics } from "../../../src/northbound/mqtt/topics.ts";
import { createValueWriter } from "../../../src/northbound/mqtt/values.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { base, stamp } from "./mqtt-harness.ts";

const robots = [{ robotId: "robot-17", alias: "AMR01" }];
const placement = { ...underBase, robot: `${base}/amr/{alias}`, robots };

function openWriter() {
  const clock = createManualClock();
  const shown = new Map<string, string>();
  const received: string[] = [];
  const publish = (topic: string, payload: string) => {
    received.push(topic.slice(base.length + 1));
    shown.set(topic.slice(base.length + 1), payload);
  };
  const topics = createTopics(base, placement);
  const tags = createTagWriter(topics, publish, new Map(), clock);
  const parts = { topics, sessionId: "s1", publish, remove: () => {}, tags, robots: () => robots };
  const writer = createValueWriter(parts);
  const json = (topic: string): unknown => JSON.parse(shown.get(topic) ?? "null");
  return { ...writer, clock, shown, received, json };
}

function robot(robotId: string, family: "cart" | "unknown" = "cart"): StateChange {
  return { kind: "robot", robotId, family, quality: "good" };
}

function presence(robotId: string, quality: Quality = "good", coordinate: unknown = undefined): StateChange {
  const info = { coordinate: coordinate ?? { x: 1.5, y: -2, theta: 0.25 } };
  const value = { amrId: 7, mapId: 1, position: "A", stateId: "idle", taskChainId: 0, info };
  return { kind: "presence", robotId, observed: { value, stamp, quality } };
}

function conveyor(robotId: string, index: number): StateChange {
  const value = {
    index,
    operation: "OPERATION_STATE_IDLE",
    payload: "PAYLOAD_STATE_EMPTY",
    health: "HEALTH_STATE_OK",
    installation: "INSTALLATION_STATE_INSTALLED",
  } as const;
  return { kind: "conveyor", robotId, observed: { value, stamp, quality: "good" } } as unknown as StateChange;
}

test("the info of a robot says its id, alias, family, conveyors and map, once for all that is new", () => {
  const { write, flush, received, json } = openWriter();
  for (const change of [
    robot("robot-17"),
    conveyor("robot-17", 1),
    conveyor("robot-17", 0),
    presence("robot-17"),
  ])
    write(change);
  flush();
  flush();
  expect(received.filter((topic) => topic === "amr/AMR01/info")).toHaveLength(1);
  expect(json("amr/AMR01/info")).toEqual({
    robot_id: "robot-17",
    alias: "AMR01",
    family: "cart",
    conveyors: [0, 1],
    map_id: 1,
    session_id: "s1",
  });
  write(presence("robot-17", "stale"));
  flush();
  expect(received.filter((topic) => topic === "amr/AMR01/info")).toHaveLength(1);
  write(presence("robot-17", "lost"));
  flush();
  expect(json("amr/AMR01/info")).toMatchObject({ map_id: null });
});

test("the list names every robot, and where its info is, when no more robots come", () => {
  const { write, tick, received, json } = openWriter();
  write(robot("robot-17"));
  tick();
  write(robot("r2", "unknown"));
  tick();
  expect(received).not.toContain("robots");
  tick();
  tick();
  expect(received.filter((topic) => topic === "robots")).toHaveLength(1);
  expect(json("robots")).toEqual({
    session_id: "s1",
    robots: [
      { robot_id: "robot-17", alias: "AMR01", family: "cart", info: `${base}/amr/AMR01/info` },
      { robot_id: "r2", alias: null, family: "unknown", info: `${base}/amr/r2/info` },
    ],
  });
  write(robot("r2"));
  tick();
  expect(json("robots")).toMatchObject({ robots: [{}, { family: "cart" }] });
});

test("a list that grows without end is published all the same", () => {
  const { write, tick, received } = openWriter();
  for (let count = 0; count < 20; count += 1) {
    write(robot(`r${count}`));
    tick();
  }
  expect(received.filter((topic) => topic === "robots").length).toBeGreaterThanOrEqual(3);
});

test("the place of a robot is flat tags, and its age grows while it is not good", () => {
  const { write, tick, clock, shown } = openWriter();
  const tag = (name: string) => shown.get(`amr/AMR01/tags/presence/${name}`);
  write(presence("robot-17"));
  expect(["x", "y", "heading", "age_seconds", "valid"].map(tag)).toEqual(["1.5", "-2", "0.25", "0", "true"]);
  clock.advance(60_000);
  tick();
  expect(tag("age_seconds")).toBe("0");
  write(presence("robot-17", "stale"));
  clock.advance(3_500);
  tick();
  expect([tag("age_seconds"), tag("x"), tag("valid")]).toEqual(["3", "1.5", "false"]);
  write(presence("robot-17", "lost"));
  clock.advance(3_000);
  tick();
  expect(["x", "heading", "age_seconds"].map(tag)).toEqual(["", "", ""]);
  write(presence("robot-17"));
  expect(tag("age_seconds")).toBe("0");
});

test("a place without coordinates has no such tags", () => {
  const { write, shown } = openWriter();
  write(presence("robot-17", "good", { x: 3, y: "?", theta: null }));
  const tag = (name: string) => shown.get(`amr/AMR01/tags/presence/${name}`);
  expect(["x", "y", "heading", "position"].map(tag)).toEqual(["3", "", "", "A"]);
});

test("a map is what GetMap answered, its size where it is too large, and cleared when it is gone", () => {
  const { write, json, shown } = openWriter();
  const readAtMs = Date.UTC(2026, 0, 2);
  write({ kind: "map", mapId: 1, map: { readAtMs, json: '{"vertexes":[]}', bytes: 15 } });
  expect(json("maps/1")).toEqual({
    map_id: 1,
    read_at: "2026-01-02T00:00:00.000Z",
    bytes: 15,
    session_id: "s1",
    state: { vertexes: [] },
  });
  write({ kind: "map", mapId: 1, map: { readAtMs, json: null, bytes: 999_999 } });
  expect(json("maps/1")).toMatchObject({ bytes: 999_999, state: null });
  write({ kind: "map", mapId: 1, map: null });
  expect(shown.get("maps/1")).toBe("");
});
