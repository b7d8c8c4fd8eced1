import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { dirname } from "node:path";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { FenceControl, HandoverControl } from "../../contracts/cluster.ts";
import type { ReloadConfiguration } from "../../contracts/reload.ts";
import { quoted } from "../../domain/foreign-text.ts";
import { holderName } from "../../domain/hold.ts";
import type { Clock } from "../../platform/clock.ts";
import { aborted, type Component, type Health } from "../../platform/component.ts";
import { isCode, messageOf } from "../../platform/error-text.ts";
import { makeFolder } from "../../platform/folder.ts";
import { isListenedOn } from "../../platform/listener.ts";
import { closedPort } from "../../platform/liveness.ts";
import { logLevels as knownLevels, type Log, type LogLevel, type LogLevels } from "../../platform/log.ts";
import type { Recorder } from "../../platform/recorder/recorder.ts";
import { addActRoutes } from "./acts.ts";
import { addFenceRoute, addHandoverRoutes } from "./cluster-routes.ts";
import { addCommandRoute, type CheckTick, type WebCommands } from "./commands.ts";
import { createWebConnections, listenerBounds } from "./connections.ts";
import type { FleetApi } from "./fleet-api.ts";
import { addMethodCheck } from "./host-check.ts";
import { createHttpServer, listenerHealth, logFailures } from "./http-server.ts";
import { addMonitoringRoutes, type Monitoring } from "./monitoring.ts";
import type { ControlOptions } from "./options.ts";
import { sendProblem } from "./problem.ts";
import { addJsonBodies, readBody } from "./request-body.ts";
import { addRightsRoutes } from "./rights.ts";
import { senderOfSocket } from "./sender.ts";
import { type StatusFacts, statusReport } from "./status-report.ts";

/** Means all components. */
const ALL = "*";

/**
 * `GET /api/v1/log-level` answers 200 with `{"levels":{…}}` by component. `PUT` with `{"component"?,"level"}`
 * sets one, or all (without a component, or with `*`), and answers the same.
 */
function addLogLevelRoutes(server: FastifyInstance, logLevels: LogLevels | null): void {
  if (logLevels === null) return;
  const answer = (reply: FastifyReply) => reply.send({ levels: logLevels.list() });

  server.get("/api/v1/log-level", async (_request, reply) => answer(reply));
  server.put("/api/v1/log-level", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    const asked = readLevel(request.body);
    if (typeof asked === "string") return sendProblem(reply, 400, asked);
    if (logLevels.set(asked.component, asked.level, holderName(source))) return answer(reply);
    const known = Object.keys(logLevels.list()).join(", ");
    return sendProblem(reply, 404, `component: ${quoted(asked.component ?? ALL)} is not one of ${known}`);
  });
}

interface Asked {
  /** Null: all. */
  readonly component: string | null;
  readonly level: LogLevel;
}

/** The level that a body asks for, or a sentence with what is wrong with it. */
function readLevel(body: unknown): Asked | string {
  const read = readBody(body, ["component", "level"]);
  if (!read.ok) return read.reason;
  const { component = ALL, level } = read.object;
  const known = knownLevels.find((each) => each === level);
  if (known === undefined) return `level: must be one of ${knownLevels.join(", ")}`;
  if (typeof component !== "string") return "component: must be text; * stands for all";
  return { component: component === ALL ? null : component, level: known };
}

/** The socket cannot be used; the message gives the reason and what to do. */
class SocketRefused extends Error {
  override readonly name = "SocketRefused";
}

/** The routes that are for users of the machine. */
interface MachineControls {
  readonly statusFacts: () => Promise<StatusFacts>;
  /** Null: the program that runs the gateway keeps the levels. */
  readonly logLevels: LogLevels | null;
  /** Null: it is switched off. */
  readonly recorder: Pick<Recorder, "save"> | null;
  readonly reload: ReloadConfiguration;
  /** Null: the gateway is no member of a cluster. */
  readonly handover: HandoverControl | null;
  /** The same. */
  readonly fence: FenceControl | null;
}

export interface ControlParts {
  readonly api: FleetApi;
  readonly commands: WebCommands;
  readonly monitoring: Monitoring;
  readonly machine: MachineControls;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * The control socket: the HTTP API for programs of this machine. There is no login: a process that can open
 * the file runs as the gateway's own user or as root. The TCP listener lacks the routes that are for users of
 * the machine. `run` rejects with SocketRefused if the socket cannot be used.
 */
export function createControlServer({ socketPath }: ControlOptions, parts: ControlParts): Component {
  const { api, clock, log } = parts;
  const connections = createWebConnections(listenerBounds, clock, log);
  let state: Health["state"] = "starting";
  let waiting = () => 0;
  let listener: Server | null = null;
  let leave = () => {};
  return {
    name: "control",
    health: () => listenerHealth({ state, figures: { waiting: waiting() } }, connections),
    hang: () => closedPort(listener),
    async run(signal, ready) {
      const server = createHttpServer(connections, log);
      waiting = addControlRoutes(server, parts).waiting;
      await makeFolder(dirname(socketPath));
      await clearSocket(socketPath);
      await server.ready();
      try {
        await listenPrivately(server.server, socketPath);
        listener = server.server;
        logFailures(server, log);
        state = "up";
        leave = api.open();
        ready();
        await aborted(signal);
      } finally {
        state = "down";
        listener = null;
        leave();
        const closed = server.close();
        server.server.closeAllConnections();
        await closed;
      }
    },
  };
}

/** All routes of the socket. */
export function addControlRoutes(
  server: FastifyInstance,
  { api, commands, monitoring, machine, clock }: ControlParts,
): { waiting(): number } {
  const { commander, records, acts, rights, catalogue } = commands;
  const senderOf = senderOfSocket;
  addMethodCheck(server);
  addJsonBodies(server);
  addMonitoringRoutes(server, monitoring);
  addActRoutes(server, acts, senderOf);
  addRightsRoutes(server, { rights, catalogue, commander, senderOf, refusedMoves: () => null });
  addStatusRoute(server, machine.statusFacts, clock);
  addLogLevelRoutes(server, machine.logLevels);
  addReloadRoute(server, machine.reload);
  addRecordingRoute(server, machine.recorder);
  addHandoverRoutes(server, machine.handover);
  addFenceRoute(server, machine.fence);
  api.addRoutes(server, { part: "control", senderOf });
  // Programs of this machine have no page that could have slept: a tick is checked only if one is given.
  const checkTick: CheckTick = (tick) => (tick === null ? {} : api.stream.ticks.check(tick));
  return addCommandRoute(server, { commander, records, senderOf, checkTick, clock });
}

/**
 * Removes the socket that a killed gateway left behind. Rejects with SocketRefused if another gateway answers
 * on it, or if the file is no socket.
 */
async function clearSocket(path: string): Promise<void> {
  const kind = await kindOf(path);
  if (kind === "none") return;
  if (kind === "other")
    throw new SocketRefused(`${path} is no socket: move it away, or give control.socket another path`);
  if (await isListenedOn(path))
    throw new SocketRefused(
      `another gateway answers on ${path}: end it, or give this one a gateway.dataDir of its own`,
    );
  await unlink(path);
}

async function kindOf(path: string): Promise<"none" | "socket" | "other"> {
  try {
    return (await lstat(path)).isSocket() ? "socket" : "other";
  } catch (error) {
    if (isCode(error, "ENOENT")) return "none";
    throw new SocketRefused(`${path} cannot be used: ${String(error)}`, { cause: error });
  }
}

/** Listens on a socket that only this process's user and root may open, from its first moment on. */
function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) =>
      reject(new SocketRefused(`no socket at ${path}: ${error.message}`, { cause: error })),
    );
    // `listen` binds the name before it returns, so nothing else runs under this mask.
    const before = process.umask(0o177);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
}

/** `GET /api/v1/status` answers 200 with all that a person asks first, even if everything is down. */
function addStatusRoute(
  server: FastifyInstance,
  statusFacts: MachineControls["statusFacts"],
  clock: Clock,
): void {
  server.get("/api/v1/status", async (_request, reply) =>
    reply.send(statusReport(await statusFacts(), clock.nowMs())),
  );
}

/**
 * `POST /api/v1/reload` reads the configuration again. 200 with the applied keys; 409 if it was refused, and
 * nothing has changed. It needs no right: every user who reaches the socket may signal the process too.
 */
function addReloadRoute(server: FastifyInstance, reload: ReloadConfiguration): void {
  server.post("/api/v1/reload", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    const result = await reload(holderName(source));
    return reply.code(result.refused.length === 0 ? 200 : 409).send(result);
  });
}

/**
 * `POST /api/v1/recordings` saves the last minutes: 201 with the file, 404 while the recorder is off, 503 if
 * the disk takes no file. It needs no right: every user who reaches the socket may read the data folder.
 */
function addRecordingRoute(server: FastifyInstance, recorder: MachineControls["recorder"]): void {
  server.post("/api/v1/recordings", async (request, reply) => {
    const [source, wrongSender] = senderOfSocket(request);
    if (wrongSender !== null) return sendProblem(reply, 400, wrongSender);
    if (recorder === null) return sendProblem(reply, 404, "recorder.enabled is false: nothing is recorded");
    try {
      const { path, bytes, fromMs } = await recorder.save(`asked by ${holderName(source)}`);
      return reply.code(201).send({ path, bytes, from: new Date(fromMs).toISOString() });
    } catch (error) {
      return sendProblem(reply, 503, `the recording was not saved: ${messageOf(error)}`);
    }
  });
}
