import { afterAll, beforeAll, expect, test } from "vitest";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
beforeAll(async () => {
  folder = await createConfigFolder();
});
afterAll(() => folder[Symbol.asyncDispose]());

const mqtt = 'mqtt: { broker: "mqtts://b", commands: { enabled: false }';
const station = "destinations: [Dock 1]";

test("placement, aliases and places come from their sections", async () => {
  const config = await folder.config(
    `${minimal}${mqtt}, placement: { robot: "acme/munich/{alias}", station: "acme/munich/{place}/{station}" } }
opcua: { insecureLoopback: {}, robots: { cart-1: { alias: AMR01 } } }
stations: { dock: { ${station}, place: assembly/line3/cell7 } }
`,
  );
  expect(config.mqtt?.placement).toEqual({
    robot: "acme/munich/{alias}",
    station: "acme/munich/{place}/{station}",
    robots: [{ robotId: "cart-1", alias: "AMR01" }],
    stations: [{ name: "dock", place: "assembly/line3/cell7" }],
  });
});

test("without it, robots and stations are under the base", async () => {
  const config = await folder.config(`${minimal}${mqtt} }\nstations: { dock: { ${station} } }\n`);
  expect(config.mqtt?.placement).toEqual({
    robot: null,
    station: null,
    robots: [{ robotId: "cart-1", alias: null }],
    stations: [{ name: "dock", place: null }],
  });
});

test.each([
  [
    `${mqtt}, placement: { robot: acme/munich } }\n`,
    'f:8: mqtt.placement.robot: "acme/munich" must have {robot}, or {alias}, each once',
  ],
  [
    `${mqtt}, placement: { station: "acme/{place}/{station}" } }\nstations: { dock: { ${station} } }\n`,
    "f:9: stations.dock.place: is missing: mqtt.placement.station has {place}",
  ],
  [
    `${mqtt} }\nstations: { dock: { ${station}, place: line3 } }\n`,
    "f:9: stations.dock.place: does nothing: mqtt.placement.station does not have {place}",
  ],
  [
    `${mqtt} }\nstations: { dock: { ${station}, place: "line3//cell7" } }\n`,
    "f:9: stations.dock.place: use levels of a topic, as assembly/line3/cell7, without + # { } and empty ones",
  ],
  [
    `${mqtt}, placement: { robots: "a/{robot}" } }\n`,
    'f:8: mqtt.placement.robots: unknown key; the nearest known one is "robot"',
  ],
])("%j is a mistake", async (text, problem) => {
  expect(await folder.problems(minimal + text)).toEqual([problem]);
});

test("what works at most brokers only is warned of", async () => {
  const deep = `${mqtt}, placement: { robot: "a/b/c/d/e/f/g/{robot}" } }\n`;
  expect(await folder.warnings(minimal + deep)).toEqual([
    "f:8: mqtt.placement.robot: tag: has 12 levels; some brokers take no more than 10, or 8",
  ]);
  const placed = `${minimal}opcua: { insecureLoopback: {} }\nstations: { dock: { ${station}, place: line3 } }\n`;
  expect(await folder.warnings(placed)).toEqual([
    "f:9: stations.dock.place: does nothing: it is a part of topics, and there is no section mqtt",
  ]);
});
