import { Ajv2020 } from "ajv/dist/2020.js";
import { fastify } from "fastify";
import { describe, expect, it } from "vitest";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { createAccess } from "../../../src/northbound/web/access/access.ts";
import { addControlRoutes } from "../../../src/northbound/web/control-server.ts";
import type { WebSimulator } from "../../../src/northbound/web/simulator-routes.ts";
import { missionEvent, rosterEvent } from "../../delivery/fleet-updates.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createControlHarness } from "./control-harness.ts";
import { describedApi, describedRoutes } from "./described-api.ts";
import { openAccess, webParts } from "./web-harness.ts";

const catalogue = createCatalogue();
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(describedApi, "openapi.json");
const checks = new Map<string, ReturnType<typeof ajv.compile>>();

/** What is wrong with a value by a schema of the document. */
function validate(name: string, value: unknown): readonly string[] {
  const check = checks.get(name) ?? ajv.compile({ $ref: `openapi.json#/components/schemas/${name}` });
  checks.set(name, check);
  return check(value) ? [] : (check.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
}

/** The routes under /api/v1, as the document writes them. */
async function routesOf(add: (server: ReturnType<typeof fastify>) => void): Promise<readonly string[]> {
  const server = fastify();
  const found: string[] = [];
  server.addHook("onRoute", ({ method, url }) => {
    if (method !== "HEAD" && url.startsWith("/api/v1"))
      found.push(`${method} ${url.replace(/:(\w+)/g, "{$1}")}`);
  });
  add(server);
  await server.ready();
  await server.close();
  return found.sort();
}

/** The routes of a web listener, with a simulator or without. */
function webRoutes(more: { readonly simulator?: WebSimulator }): Promise<readonly string[]> {
  const clock = createManualClock();
  const { api, gatewayId, audit, log } = webParts(clock, more).parts;
  const access = createAccess(() => openAccess, { gatewayId, isTls: false, audit, clock, log });
  return routesOf((server) => {
    access.addTo(server);
    api.addRoutes(server, access, () => null);
  });
}

const described = (listener: "web" | "demo" | "socket") =>
  describedRoutes(listener)
    .flatMap(({ path, methods }) => methods.map((method) => `${method} ${path}`))
    .sort();

describe("the OpenAPI document", () => {
  it("has each route of the control socket, and no other", async () => {
    await using harness = await createControlHarness();
    const { parts } = harness;
    const routes = await routesOf((server) => void addControlRoutes(server, parts));
    expect(routes).toEqual(described("socket"));
  });

  it("has each route of the web listener, and says which it does not have", async () => {
    expect(await webRoutes({})).toEqual(described("web"));
  });

  it("has the routes of the demo, whose fleet service is a simulated one", async () => {
    const faults = { active: () => [], begin: () => null, end: () => null };
    const simulator = { faults, audit: { refused: () => {}, fault: () => {} } };
    const routes = await webRoutes({ simulator });
    expect(routes).toEqual(described("demo"));
    expect(routes).toContain("PUT /api/v1/simulator/faults/{fault}");
  });

  it("refers to schemas that there are, and each of them can be used", () => {
    const { schemas } = describedApi.components;
    const names = Array.from(
      JSON.stringify(describedApi).matchAll(/#\/components\/schemas\/(\w+)/g),
      ([, name]) => name,
    );
    expect(names.filter((name) => !Object.hasOwn(schemas, name ?? ""))).toEqual([]);
    for (const name of Object.keys(schemas)) expect(() => validate(name, {})).not.toThrow();
    expect(Object.keys(schemas).length).toBeGreaterThan(40);
  });

  it("takes each example of each operation, in a command, and no other operation or field", () => {
    let examples = 0;
    for (const { name, examples: all } of catalogue.values()) {
      for (const { request } of all) {
        examples += 1;
        expect([
          name,
          validate("CommandRequest", { operation: name, request, expires_in_ms: 5_000 }),
        ]).toEqual([name, []]);
      }
    }
    expect(examples).toBeGreaterThan(20);
    expect(validate("CommandRequest", { operation: "Dance", request: {} })).not.toEqual([]);
    expect(validate("CommandRequest", { operation: "GetOnlineRobots", force: true })).not.toEqual([]);
    expect(validate("CommandRequest", { operation: "CreateMission" })).not.toEqual([]);
    expect(validate("CommandRequest", { operation: "ChargeRobot", request: { robotId: 7 } })).not.toEqual([]);
  });

  it("is what the gateway answers by, which answers with it too", async () => {
    await using harness = await createControlHarness();
    harness.fleet.receive(missionEvent("r1", ["m1:RUNNING"]), rosterEvent(["r1"]));
    const body = async (path: string) => (await harness.ask("GET", `/api/v1${path}`)).body;
    expect(validate("Robots", await body("/robots"))).toEqual([]);
    expect(validate("Robot", await body("/robots/r1"))).toEqual([]);
    expect(validate("Health", await body("/health"))).toEqual([]);
    expect(validate("Problem", await body("/robots/nobody"))).toEqual([]);
    expect(validate("Robot", { ...((await body("/robots/r1")) as object), quality: "fine" })).not.toEqual([]);
    expect(await body("/openapi.json")).toEqual(describedApi);
  });
});
