import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { type FastifyInstance, fastify } from "fastify";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import type { AlarmView } from "../../../src/models/alarm.ts";
import { acknowledgement } from "../../../src/northbound/web/api/alarm.ts";
import { type Command, commandRequest, commands } from "../../../src/northbound/web/api/command.ts";
import {
  type FleetMap,
  type FloorSettings,
  floorSettings,
  map,
  type Station,
} from "../../../src/northbound/web/api/floor.ts";
import { endedLease, holdRequest, type Robot } from "../../../src/northbound/web/api/robot.ts";
import {
  type Check,
  check,
  type Rights,
  rights,
  type SessionFacts,
  session,
} from "../../../src/northbound/web/api/session.ts";
import {
  faultRequest,
  type SimulatedFaultState,
  simulatedFaults,
} from "../../../src/northbound/web/api/simulator.ts";
import { type StreamMessages, streamMessages } from "../../../src/northbound/web/api/stream.ts";
import { batteryTrend, type LatencyTrend, latencyTrend } from "../../../src/northbound/web/api/trend.ts";
import { addConsole } from "../../../src/northbound/web/console-files.ts";
import { addOperationRoutes } from "../../../src/northbound/web/resources/commands.ts";

/** The console's own server, with an API that says what a test wants, when it wants it. */
export interface FakeGateway extends AsyncDisposable {
  readonly url: string;
  /** Streams that are open now. */
  open(): number;
  /** Streams that were ever opened. */
  opened(): number;
  /** Sends a message to every stream. */
  send<Name extends keyof StreamMessages>(name: Name, message: StreamMessages[Name]): void;
  /** Ticks each second from now on, or stops: a gateway that hangs keeps its connections. */
  tick(isTicking: boolean): void;
  /** Cuts every stream. New ones are refused until it is called with false. */
  cut(isCut: boolean): void;
  /** Requests of this kind are answered when it hangs no more, though their senders have left. */
  hang(what: Hung): void;
  /** What pauses a robot. */
  pause: ReadonlyArray<{ readonly operation: string; readonly request: object }>;
  /** The requests for commands so far. */
  readonly asked: AskedFor[];
  /** How the next requests for commands are answered; null: not at all. */
  answer: { readonly status: number; readonly body: object } | null;
  /** The only map. */
  map: FleetMap;
  /** What the configuration says of the floor, and the drawing of its map. */
  floor: FloorSettings;
  drawing: Buffer;
  /** What the user may send, besides everything. */
  rights: Partial<Rights>;
  /** What checks are answered with, and their requests so far. */
  check: Check;
  readonly checked: unknown[];
  /** The holds that were asked for, on a robot and on all. */
  readonly held: unknown[];
  readonly heldAll: unknown[];
  /** The stations of snapshots, and the robots whose leases were ended. */
  stations: Station[];
  readonly leasesEnded: string[];
  /** The alarms that were acknowledged. */
  readonly acknowledged: string[];
  /** The number of the configuration, in snapshots and ticks. */
  configuration: number;
  robots: Robot[];
  alarms: AlarmView[];
  commands: Command[];
  isOpen: boolean;
  /** Who is logged in; null: nobody. Counts unless it is open. */
  user: string | null;
  hasSimulator: boolean;
  /** The charge of every robot over the last steps of half a minute, and how long commands took. */
  charges: Array<number | null>;
  latency: LatencyTrend["steps"];
  /** The faults of the simulated service that last. */
  faults: SimulatedFaultState[];
  /** The requests for faults so far: name and body. */
  readonly faultsAsked: Array<readonly [string, unknown]>;
  pollMs: number | null;
  /** Of the newest online list, as each tick says. */
  pollAgeMs: number;
  /** Since when the service sends no list, as `Date.now` has it; null: it does. */
  silentSinceMs: number | null;
  isFleetLinkUp: boolean;
}

export type Hung = "nothing" | "commands" | "all";

/** The tick in the answer to what pauses a robot; those of the stream are numbers. */
export const PRESS_TICK = "press";

export interface AskedFor {
  readonly id: string;
  readonly body: unknown;
}

/** Of every user. */
export const PASSWORD = "a-word-of-a-test";

const catalogue = createCatalogue();
const built = fileURLToPath(new URL("../../../dist/console", import.meta.url));

const floorMap: FleetMap = {
  map_id: 1,
  name: "Hall 1",
  read_at: "2026-01-02T03:04:05.000Z",
  bytes: 100,
  points: [
    { id: 1, code: "P1", alias: "Station A", x: 0, y: 0, theta: 0, type: 1 },
    { id: 2, code: "P2", alias: "", x: 20, y: 10, theta: 0, type: 1 },
  ],
};

/** @param addRoutes gives the API what the test needs besides */
export async function openFakeGateway(
  robots: readonly Robot[],
  addRoutes: (server: FastifyInstance) => void = () => {},
): Promise<FakeGateway> {
  const streams = new Set<ServerResponse>();
  let [opened, isCut, number]: [number, boolean, number] = [0, false, 0];
  let ticking: NodeJS.Timeout | undefined;
  const server = fastify({ forceCloseConnections: true });
  let hung: Hung = "nothing";
  let release = () => {};
  let released = Promise.resolve();
  server.addHook("onRequest", async ({ url }) => {
    if (hung === "all" || (hung === "commands" && url.startsWith("/api/v1/commands/"))) await released;
  });
  addConsole(server, built, true);
  addRoutes(server);
  server.get("/api/v1/stream", (request, reply) => {
    if (isCut) return reply.code(503).send({ detail: "it stops" });
    if (isLoggedOut()) return reply.code(401).send({ detail: "log in" });
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, { "content-type": "text/event-stream" });
    streams.add(raw);
    opened += 1;
    raw.on("close", () => streams.delete(raw));
    write(raw, "snapshot", snapshot());
    write(raw, "robots", { robots: gateway.robots, more: false });
    if (ticking !== undefined) write(raw, "tick", tick());
    return request;
  });
  server.get("/api/v1/session", (_request, reply) =>
    isLoggedOut() ? reply.code(401).send({ detail: "log in" }) : reply.send(session.parse(facts())),
  );
  server.post<{ Body: { user: string; password: string } }>("/api/v1/session", (request, reply) => {
    const { user, password } = request.body;
    if (password !== PASSWORD) return reply.code(401).send({ detail: "user or password is wrong" });
    gateway.user = user;
    return reply.send(session.parse(facts()));
  });
  server.delete("/api/v1/session", (_request, reply) => {
    gateway.user = null;
    for (const stream of streams) stream.destroy();
    return reply.code(204).send();
  });
  server.get("/api/v1/maps/1", async () => map.parse(gateway.map));
  server.get("/api/v1/commands", async ({ headers }, reply) => {
    const all = commands.parse({ count: gateway.commands.length, next: null, commands: gateway.commands });
    if (headers.accept !== "application/x-ndjson") return all;
    return reply
      .type("application/x-ndjson")
      .send(all.commands.map((each) => `${JSON.stringify(each)}\n`).join(""));
  });
  server.get("/api/v1/floor", async () => floorSettings.parse(gateway.floor));
  server.get("/api/v1/maps/1/drawing", (_request, reply) => reply.type("image/png").send(gateway.drawing));
  addOperationRoutes(server, catalogue);
  server.get("/api/v1/rights", async () => {
    const operations = [...catalogue.keys()].map((name) => ({ name, refused: null }));
    const own = { user: "web:anna", robot: null, moves: null, lift: "no engineer", lift_all: "no engineer" };
    return rights.parse({ ...own, operations, ...gateway.rights });
  });
  server.post("/api/v1/check", async ({ body }) => {
    gateway.checked.push(body);
    return check.parse(gateway.check);
  });
  const hold = (all: unknown[], body: unknown) => {
    all.push(holdRequest.parse(body));
    return { held: true, by: ["web:anna"] };
  };
  server.put("/api/v1/robots/:robot/hold", async ({ body }) => hold(gateway.held, body));
  server.put("/api/v1/hold", async ({ body }) => hold(gateway.heldAll, body));
  server.delete<{ Params: { robot: string } }>(
    "/api/v1/robots/:robot/lease",
    async ({ params: { robot } }) => {
      gateway.leasesEnded.push(robot);
      return endedLease.parse({ station: "dock", owner: "opcua:line1" });
    },
  );
  server.get("/api/v1/robots/:robot/pause", async () => ({
    commands: gateway.pause,
    tick: PRESS_TICK,
  }));
  server.put<{ Params: { id: string } }>("/api/v1/commands/:id", ({ params, body }, reply) => {
    const asked = commandRequest.parse(body);
    if (isLoggedOut()) return reply.code(401).send({ detail: "log in" });
    if (asked.asked_by !== undefined && asked.asked_by !== gateway.user)
      return reply.code(400).send({ detail: "asked_by: this log-in is another's" });
    gateway.asked.push({ id: params.id, body: asked });
    if (gateway.answer === null) return reply.raw.destroy();
    return reply.code(gateway.answer.status).send(gateway.answer.body);
  });
  server.put<{ Params: { id: string } }>("/api/v1/alarms/:id/acknowledgement", async ({ params: { id } }) => {
    gateway.acknowledged.push(id);
    return acknowledgement.parse({ id, acknowledged_by: "web:open" });
  });
  const stepsOf = (count: number, stepMs: number) => {
    const first = new Date(Date.now() - count * stepMs).toISOString();
    return { since: first, first_at: first, step_ms: stepMs };
  };
  server.get<{ Params: { robot: string } }>("/api/v1/robots/:robot/battery-trend", async ({ params }) =>
    batteryTrend.parse({
      robot_id: params.robot,
      ...stepsOf(gateway.charges.length, 30_000),
      charge_percent: gateway.charges,
    }),
  );
  server.get("/api/v1/command-latency", async () =>
    latencyTrend.parse({ ...stepsOf(gateway.latency.length, 300_000), steps: gateway.latency }),
  );
  const faultStates = () => simulatedFaults.parse({ at: new Date().toISOString(), active: gateway.faults });
  server.get("/api/v1/simulator/faults", async () => faultStates());
  server.put<{ Params: { fault: string } }>("/api/v1/simulator/faults/:fault", async ({ params, body }) => {
    gateway.faultsAsked.push([params.fault, body]);
    const { active, robot_id: robotId = null } = faultRequest.parse(body);
    const fault = params.fault as SimulatedFaultState["fault"];
    const others = gateway.faults.filter((each) => each.fault !== fault || each.robot_id !== robotId);
    gateway.faults = active ? [...others, { fault, robot_id: robotId, active_for_ms: 0 }] : others;
    return faultStates();
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });

  const isLoggedOut = () => !gateway.isOpen && gateway.user === null;
  const facts = (): SessionFacts =>
    gateway.isOpen
      ? { open: true, name: null, role: null, robots: null, expires_at: null }
      : { open: false, name: gateway.user, role: "operator", robots: null, expires_at: null };

  function snapshot(): StreamMessages["snapshot"] {
    const { points: _, ...summary } = gateway.map;
    return {
      at: new Date().toISOString(),
      session_id: "s1",
      gateway_id: "plant1",
      version: "1.0.0",
      configuration: gateway.configuration,
      open: gateway.isOpen,
      has_simulator: gateway.hasSimulator,
      poll_ms: gateway.pollMs,
      robot_count: gateway.robots.length,
      maps: [summary],
      stations: gateway.stations,
      alarms: { count: gateway.alarms.length, alarms: gateway.alarms },
      hold: { held: false, by: [], stored: true },
    };
  }

  function tick(): StreamMessages["tick"] {
    number += 1;
    const at = new Date().toISOString();
    const { configuration, isFleetLinkUp, pollAgeMs, silentSinceMs } = gateway;
    const ageMs = pollAgeMs + (silentSinceMs === null ? 0 : Date.now() - silentSinceMs);
    return { at, id: `${number}`, configuration, fleet_link_up: isFleetLinkUp, poll_age_ms: ageMs };
  }

  const gateway: FakeGateway = {
    pause: [],
    asked: [],
    answer: null,
    map: floorMap,
    floor: { point_types: [], drawings: [] },
    drawing: Buffer.alloc(0),
    rights: {},
    check: { outcome: "checked", code: "OK", message: "", effect: "moves", robot_id: "cart-1" },
    checked: [],
    held: [],
    heldAll: [],
    stations: [],
    leasesEnded: [],
    acknowledged: [],
    configuration: 0,
    robots: [...robots],
    alarms: [],
    commands: [],
    isOpen: false,
    user: "ann",
    hasSimulator: false,
    charges: [],
    latency: [],
    faults: [],
    faultsAsked: [],
    pollMs: 1_000,
    pollAgeMs: 200,
    silentSinceMs: null,
    isFleetLinkUp: true,
    url,
    open: () => streams.size,
    opened: () => opened,
    send(name, message) {
      for (const stream of streams) write(stream, name, message);
    },
    tick(isTicking) {
      clearInterval(ticking);
      ticking = undefined;
      if (!isTicking) return;
      const all = () => gateway.send("tick", tick());
      ticking = setInterval(all, 1_000);
      all();
    },
    cut(isCutNow) {
      isCut = isCutNow;
      if (isCut) for (const stream of streams) stream.destroy();
    },
    hang(what) {
      release();
      hung = what;
      released = new Promise((resolve) => {
        release = resolve;
      });
    },
    async [Symbol.asyncDispose]() {
      release();
      gateway.tick(false);
      await server.close();
    },
  };
  return gateway;
}

function write<Name extends keyof StreamMessages>(
  stream: ServerResponse,
  name: Name,
  message: StreamMessages[Name],
): void {
  // What the page is told is what the gateway may say.
  const data = JSON.stringify(streamMessages[name].parse(message));
  stream.write(`event: ${name}\ndata: ${data}\n\n`);
}
