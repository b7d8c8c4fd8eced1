import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { generatedScenario } from "../../../src/simulator/scenario/generated-scenario.ts";
import {
  defaultScenario,
  loadScenario,
  parseScenario,
  readScenario,
  ScenarioError,
} from "../../../src/simulator/scenario/scenario.ts";
import { createWorld } from "../../../src/simulator/world/world.ts";
import { worldScenario } from "../world/world-harness.ts";

function problemsOf(attempt: () => unknown): readonly string[] {
  try {
    attempt();
    return [];
  } catch (error) {
    if (error instanceof ScenarioError) return error.problems;
    throw error;
  }
}

describe("the default scenario", () => {
  const scenario = defaultScenario();
  const world = createWorld(scenario.world, 0, 10);

  it("has three carts, two serve robots and a base robot of acme at plant-1, and one robot of globex", () => {
    const robots = [...world.robots.values()].map(({ id, family, distributor, location }) => [
      id,
      family,
      distributor,
      location,
    ]);
    expect(robots).toEqual([
      ["cart-01", "cart", "acme", "plant-1"],
      ["cart-02", "cart", "acme", "plant-1"],
      ["cart-03", "cart", "acme", "plant-1"],
      ["serve-01", "serve", "acme", "plant-1"],
      ["serve-02", "serve", "acme", "plant-1"],
      ["base-01", "base", "acme", "plant-1"],
      ["globex-01", "cart", "globex", "globex-plant"],
    ]);
  });

  it("has a key for each distributor, without secrets in the open", () => {
    expect(scenario.apiKeys).toEqual([
      { apiKey: "acme-gateway", scope: "acme", secret: undefined },
      { apiKey: "acme-second-client", scope: "acme", secret: undefined },
      { apiKey: "globex-gateway", scope: "globex", secret: undefined },
    ]);
  });

  it("leads from every place of its map to every other over its edges", () => {
    const map = world.maps.get(1);
    if (map === undefined) throw new Error("no map 1");
    for (const from of map.vertices) {
      for (const to of map.vertices) {
        const route = map.route(from, to);
        expect(route.at(-1)).toBe(to);
        if (from.code === "ST-A" && to.code === "ST-C")
          expect(route.map((point) => map.vertexAt(point)?.code)).toEqual(["WP-1", "WP-2", "WP-3", "ST-C"]);
      }
    }
  });

  it("has the default of each key that others may leave out", () => {
    const { distributors, locations, maps, robots } = parse(
      readFileSync("config/scenarios/plant.yaml", "utf8"),
    );
    expect(readScenario({ distributors, locations, maps, robots })).toEqual(scenario);
  });
});

describe("a generated scenario", () => {
  it.each([1, 50, 51, 1_000])("of %i robots has so many of acme, three in ten of them carts", (robots) => {
    const world = createWorld(generatedScenario({ robots, lively: "none", seed: 1 }).world, 0, 10);
    const acme = [...world.robots.values()].filter(({ distributor }) => distributor === "acme");
    expect(acme).toHaveLength(robots);
    if (robots === 1_000) {
      expect(acme.filter(({ family }) => family === "cart")).toHaveLength(300);
      expect(acme.filter(({ family }) => family === "base")).toHaveLength(200);
    }
    expect(world.robots.get("globex-01")?.distributor).toBe("globex");
  });

  it("on patrols makes about two mission messages a second for each robot, and outlasts its batteries", () => {
    const { world: spec } = generatedScenario({ robots: 100, lively: "patrols", seed: 1 });
    const drained = { ...spec, rules: { ...spec.rules, drivingPercentPerHour: 600 } };
    const world = createWorld(drained, 0, 10);
    let messages = 0;
    const moving = new Set<string>();
    world.onChange((change) => {
      if (change.kind !== "mission") return;
      messages += 1;
      moving.add(change.robot.id);
    });
    world.advance(10_000);
    const rate = (seconds: number) => {
      const before = messages;
      world.advance(world.nowMs() + seconds * 1_000);
      return (messages - before) / seconds;
    };
    expect(rate(60)).toBeGreaterThan(180);
    expect(rate(60)).toBeLessThan(210);
    world.advance(world.nowMs() + 20 * 60_000);
    moving.clear();
    expect(rate(60)).toBeGreaterThan(180);
    expect(moving.size).toBe(101);
  });
});

describe("a scenario file", () => {
  it("that is not YAML, not an object or not there is refused", async () => {
    expect(problemsOf(() => parseScenario("robots: [unclosed"))).toHaveLength(1);
    expect(problemsOf(() => parseScenario("just words"))).toHaveLength(1);
    await expect(loadScenario("/nonexistent/scenario.yaml")).rejects.toThrow("/nonexistent/scenario.yaml");
  });

  it("names every malformed part with its path at once", () => {
    const input = { ...worldScenario(), typo: 1, timeFactor: "fast", rules: { dockMs: -1 } };
    const problems = problemsOf(() => readScenario(input)).join("\n");
    expect(problems).toContain("typo");
    expect(problems).toContain("timeFactor");
    expect(problems).toContain("rules.dockMs");
  });

  it("names what does not exist, what is there twice and what has another owner", () => {
    const base = worldScenario();
    const [cart] = base.robots;
    if (cart === undefined) throw new Error("no robot");
    const problems = problemsOf(() =>
      readScenario({
        ...base,
        locations: [...base.locations, { id: "elsewhere", distributor: "nobody" }],
        robots: [
          cart,
          { ...cart, home: "NOWHERE" },
          { ...cart, id: "b", amrId: 2, dock: "S-A" },
          { ...cart, id: "c", amrId: 3, map: 7 },
          { ...cart, id: "d", amrId: 4, location: "nowhere" },
        ],
        incidents: [{ afterMs: 1, incident: { kind: "offline", robotId: "ghost" } }],
      }),
    );
    expect(problems).toEqual([
      "robots: cart is there twice",
      "robots (amrId): 1 is there twice",
      "locations.1.distributor: there is no distributor nobody",
      "robots.1 (cart).home: map 1 has no vertex NOWHERE",
      "robots.2 (b).dock: map 1 has no charger S-A",
      "robots.3 (c).map: there is no map 7",
      "robots.4 (d).location: there is no location nowhere",
      "incidents.0.incident.robotId: there is no robot ghost",
    ]);
  });

  it("keeps the secrets that it gives", () => {
    const [key] = readScenario({
      ...worldScenario(),
      distributors: [{ id: "acme", apiKeys: [{ apiKey: "k", secret: "12345678" }] }],
    }).apiKeys;
    expect(key).toEqual({ apiKey: "k", scope: "acme", secret: "12345678" });
  });
});
