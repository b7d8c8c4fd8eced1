import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from "vitest";
import type { Config, RunningConfig } from "../../src/config/load.ts";
import { type Differences, differencesOf, runningConfig } from "../../src/config/running-config.ts";
import { createLive } from "../../src/platform/live.ts";
import { nowOf } from "../support/live.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

let folder: ConfigFolder;
const plant = `${minimal.replace("robots: [cart-1]", "locations: [hall-1]")}
log: { level: info }
opcua: { users: { line1: { password: one, role: operator } }, robots: { r1: { alias: AMR01 } } }
mqtt: { broker: embedded, users: { hmi: { password: two } } }
stations: { S1: { destinations: [A], users: [line1] } }
rights: [{ source: { protocol: mqtt, name: hmi }, role: operator }]
`;

beforeEach(async () => {
  folder = await createConfigFolder();
  await folder.write("one", "password one");
  await folder.write("two", "password two");
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

async function settings(text: string) {
  const loaded = await folder.load(text);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.settings;
}

/** What differs once a text of the file is another. */
async function changed(from: string, to: string): Promise<Differences> {
  expect(plant).toContain(from);
  return differencesOf(await settings(plant), await settings(plant.replace(from, to)));
}

describe("what differs between two configurations", () => {
  it("is nothing for the same file, and for one that names a default", async () => {
    expect(await changed("", "")).toEqual({ live: [], needRestart: [] });
    expect(await changed("log: { level: info }", "log: {}")).toEqual({ live: [], needRestart: [] });
  });

  it.each<[string, string, string, string[], string[]]>([
    ["a value", "level: info", "level: debug", ["log.level"], []],
    ["a list", "name: hmi }, role: operator", "name: hmi }, role: engineer", ["rights"], []],
    ["a user's key", "one, role: operator", "one, role: engineer", ["opcua.users.line1.role"], []],
    ["an entry", "{ line1:", "{ hmi: { password: two, role: observer }, line1:", ["opcua.users.hmi"], []],
    ["a name with a dot", "{ hmi:", '{ "a.b": { password: two }, hmi:', ['mqtt.users["a.b"]'], []],
    ["a station's users", ", users: [line1]", "", ["stations.S1.users"], []],
    [
      "a station",
      "{ S1:",
      "{ S2: { destinations: [B], permit: required, users: [line1] }, S1:",
      ["stations.S2"],
      [],
    ],
    ["an alias of a new robot", "{ r1:", "{ r2: { alias: AMR02 }, r1:", ["opcua.robots.r2"], []],
    ["another alias", "AMR01", "AMR02", [], ["opcua.robots.r1.alias"]],
    ["a robot that is gone", "r1: { alias: AMR01 }", "", [], ["opcua.robots.r1"]],
    ["a section", "log:", "web: {}\nlog:", [], ["web"]],
    [
      "both kinds",
      "level: info }",
      "level: warn }\nquality: { holdMs: 9000 }",
      ["log.level"],
      ["quality.holdMs"],
    ],
  ])("is named by path: %s", async (_what, from, to, live, needRestart) => {
    expect(await changed(from, to)).toEqual({ live, needRestart });
  });

  it("is a file whose text is another, and nothing of the text is kept", async () => {
    const before = await settings(plant);
    await folder.write("one", "another password");
    const after = await settings(plant);
    expect(differencesOf(before, after)).toEqual({ live: ["opcua.users.line1.password"], needRestart: [] });
    expect(JSON.stringify([...after])).not.toContain("another password");
  });
});

describe("a running configuration", () => {
  it("shows at once what was replaced, and keeps the rest", async () => {
    const first = await folder.config(plant);
    const live = createLive(first);
    const config = runningConfig(live);
    expect(nowOf(config)).toEqual(first);
    const text = plant
      .replace("level: info", "level: warn")
      .replace("{ hmi: { password: two } }", "{ hmi: { password: one } }")
      .replace("one, role: operator", "one, role: engineer")
      .replace("[A], users: [line1]", "[B], heartbeatMs: 2000, load: CW")
      .replace("mqtt: {", "mqtt: { placement: { robot: 'site/{robot}' },")
      .replace("opcua: {", "opcua: { destinations: { 1: A },")
      .replace("rights:", "alarms: { battery: { low: 30 } }\nrights:");
    const next = await folder.config(text);
    live.replace(next);
    expect(nowOf(config)).toEqual(next);
    expect(config.opcua?.users.now()[0]?.role).toBe("engineer");
    expect(config.stations.now()[0]).toMatchObject({ heartbeatMs: 2_000, users: undefined });
    expect(config.alarms.battery.now().low).toBe(30);
  });

  it("is no configuration, nor is a copy of a section: the type check finds what would freeze a value", async () => {
    const config = runningConfig(createLive(await folder.config(plant)));
    const { mqtt, opcua } = config;
    // @ts-expect-error the copy has live values
    const frozen: Config = { ...config };
    expect(frozen.rights).toBe(config.rights);
    type Section<K extends keyof Config> = NonNullable<Config[K]>;
    if (mqtt?.broker.kind !== "embedded" || opcua === null) throw new Error("a section is missing");
    expectTypeOf({ ...mqtt }).not.toExtend<Section<"mqtt">>();
    expectTypeOf({ ...mqtt.broker }).not.toExtend<Section<"mqtt">["broker"]>();
    expectTypeOf({ ...opcua }).not.toExtend<Section<"opcua">>();
    expectTypeOf<NonNullable<RunningConfig["web"]>>().not.toExtend<Section<"web">>();
    // @ts-expect-error the list is read by `now()`
    expect(() => opcua.users.map(({ name }) => name)).toThrow();
    // @ts-expect-error a spread of it has no entries
    expect(() => [...config.stations]).toThrow();
  });
});
