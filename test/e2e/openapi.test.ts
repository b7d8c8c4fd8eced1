import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { readStream } from "../northbound/web/stream-reader.ts";
import { type RunningSimulator, startSimulator } from "../support/simulator.ts";
import { type RunningGateway, startGateway } from "./e2e-harness.ts";

/** What this test reads of an OpenAPI document. */
interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Route>>>>;
}
interface Route {
  readonly description?: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;

const charge = { operation: "ChargeRobot", expires_in_ms: 60_000 };

/** Requests of a client that knows the document alone. A body null: none. */
const requests: ReadonlyArray<
  readonly [method: string, path: string, address: string, body: object | null, statuses: readonly number[]]
> = [
  ["get", "/robots", "/robots", null, [200]],
  ["get", "/robots", "/robots?limit=2", null, [200]],
  ["get", "/robots", "/robots?limit=none", null, [400]],
  ["get", "/robots", "/robots?colour=red", null, [400]],
  ["get", "/robots/{robot}", "/robots/cart-01", null, [200]],
  ["get", "/robots/{robot}", "/robots/nobody", null, [404]],
  ["get", "/robots/{robot}/pause", "/robots/cart-01/pause", null, [200]],
  ["get", "/robots/{robot}/pause", "/robots/nobody/pause", null, [404]],
  ["get", "/maps", "/maps", null, [200]],
  ["get", "/maps/{map}", "/maps/1", null, [200]],
  ["get", "/maps/{map}", "/maps/none", null, [404]],
  ["get", "/maps/{map}/drawing", "/maps/1/drawing", null, [404]],
  ["get", "/floor", "/floor", null, [200]],
  ["get", "/robots/{robot}/battery-trend", "/robots/cart-01/battery-trend", null, [200]],
  ["get", "/command-latency", "/command-latency", null, [200]],
  ["get", "/stations", "/stations", null, [200]],
  ["get", "/alarms", "/alarms", null, [200]],
  ["put", "/alarms/{id}/acknowledgement", "/alarms/none/acknowledgement", null, [404]],
  ["put", "/alarms/{id}/comment", "/alarms/none/comment", { comment: "seen" }, [404]],
  ["get", "/operations", "/operations", null, [200]],
  ["put", "/commands/{id}", "/commands/read", { operation: "GetOnlineRobots", request: {} }, [200]],
  ["put", "/commands/{id}", "/commands/read", { operation: "GetMap", request: { mapId: 1 } }, [200]],
  ["put", "/commands/{id}", "/commands/c1", { ...charge, request: { robotId: "cart-01" } }, [200]],
  ["put", "/commands/{id}", "/commands/c1", { ...charge, request: { robot_id: "cart-01" } }, [200]],
  ["put", "/commands/{id}", "/commands/c1", { ...charge, request: { robotId: "cart-02" } }, [409]],
  ["put", "/commands/{id}", "/commands/none", { operation: "Dance", request: {} }, [400]],
  ["put", "/commands/{id}", "/commands/start", { operation: "ChargeRobot", request: {} }, [400]],
  ["get", "/commands", "/commands", null, [200]],
  ["get", "/commands", "/commands?outcome=refused", null, [200]],
  ["put", "/hold", "/hold", { hold: "yes" }, [400]],
  ["put", "/robots/{robot}/hold", "/robots/cart-01/hold", { hold: true }, [200]],
  ["put", "/robots/{robot}/hold", "/robots/cart-01/hold", { hold: false }, [200]],
  // Until the gateway has heard of all robots, it holds any name.
  ["put", "/robots/{robot}/hold", "/robots/nobody/hold", { hold: true }, [200, 404]],
  ["delete", "/robots/{robot}/lease", "/robots/cart-01/lease", null, [200, 403]],
  ["get", "/connections", "/connections", null, [200]],
  ["get", "/health", "/health", null, [200]],
  ["get", "/tags", "/tags?limit=20", null, [200]],
  ["get", "/certificates", "/certificates", null, [200]],
  ["put", "/certificates/{thumbprint}", "/certificates/none", {}, [400, 403, 404, 409]],
  ["get", "/rights", "/rights?robot=cart-01", null, [200]],
  ["post", "/check", "/check", { operation: "ChargeRobot", request: { robotId: "cart-01" } }, [200]],
  ["post", "/check", "/check", { operation: 7 }, [400]],
  ["get", "/openapi.json", "/openapi.json", null, [200]],
  ["get", "/session", "/session", null, [200]],
  ["post", "/session", "/session", { user: "anna", password: "secret" }, [409]],
  ["delete", "/session", "/session", null, [204]],
];
/** What this gateway's web listener does not have. */
const elsewhere = ["On the control socket only.", "In the demo only."];
/** It is read by a test of its own. */
const notHere = ["get /stream"];

describe("a client that knows the OpenAPI document alone", () => {
  let folder: string;
  let simulator: RunningSimulator;
  let gateway: RunningGateway;
  let described: Described;
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fleetgate-openapi-"));
    simulator = await startSimulator({ dataDir: join(folder, "fleet"), seed: 7, timeFactor: 5 });
    gateway = await startGateway(folder, simulator.endpoints, {
      rights: [{ source: { protocol: "web", name: "*" }, role: "operator" }],
    });
    const { hostname: host, port } = new URL(gateway.webUrl);
    const reader = await readStream({ host, port: Number(port) });
    await reader.messages.first("a robot with a place", () =>
      [...reader.all("robots"), ...reader.all("change")].some(({ robots = [] }) =>
        robots.some(({ robot_id, place }) => robot_id === "cart-01" && place?.listed === true),
      ),
    );
    reader.close();
    described = (await (await fetch(`${gateway.webUrl}/api/v1/openapi.json`)).json()) as Described;
    ajv.addSchema(described, "openapi.json");
    return async () => {
      await gateway.stop();
      await simulator.stop();
      await rm(folder, { recursive: true });
    };
  });

  /** What is wrong with a value, by the schema that a content of the document names. */
  function faults(content: Content | undefined, type: string, value: unknown): readonly string[] {
    const ref = content?.[type]?.schema.$ref;
    if (ref === undefined) return [`no schema of ${type}`];
    const check = ajv.getSchema(`openapi.json${ref}`);
    if (check === undefined) return [`no schema ${ref}`];
    return check(value) ? [] : (check.errors ?? []).map((each) => `${each.instancePath} ${each.message}`);
  }

  it("finds each route of the web listener tried here", () => {
    const routes = Object.entries(described.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { description = "" }]) => !elsewhere.includes(description))
        .map(([method]) => `${method} ${path.replace("/api/v1", "")}`),
    );
    const tried = requests.map(([method, path]) => `${method} ${path}`);
    expect(routes.filter((route) => !tried.includes(route) && !notHere.includes(route))).toEqual([]);
  });

  it.each(requests)("is answered as described: %s %s: %s", async (method, path, address, body, statuses) => {
    const route = described.paths[`/api/v1${path}`]?.[method];
    if (route === undefined) throw new Error("the document lacks it");
    const response = await fetch(`${gateway.webUrl}/api/v1${address}`, {
      method: method.toUpperCase(),
      ...(body === null
        ? {}
        : { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
    expect(statuses).toContain(response.status);
    const answer = route.responses[response.status] ?? route.responses.default;
    if (response.status === 204)
      return expect([answer?.content, await response.text()]).toEqual([undefined, ""]);
    const type = response.headers.get("content-type")?.split(";")[0] ?? "";
    expect(type).toBe(response.ok ? "application/json" : "application/problem+json");
    const value: unknown = await response.json();
    expect(faults(answer?.content, type, value)).toEqual([]);
    // What is wrong, and where or what would be right.
    if (!response.ok) expect((value as { detail: string }).detail.length).toBeGreaterThan(15);
  });
});
