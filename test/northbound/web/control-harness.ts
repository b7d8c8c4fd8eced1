import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingHttpHeaders, request as sendRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import type { ActTargets } from "../../../src/commands/acts/performers.ts";
import type { RefusalAudit, RefusedRequest } from "../../../src/contracts/commander.ts";
import type { RobotLease } from "../../../src/contracts/stations.ts";
import type { Alarm } from "../../../src/domain/alarm.ts";
import type { Source } from "../../../src/domain/command.ts";
import type { Outcome } from "../../../src/domain/outcome.ts";
import { type ControlParts, createControlServer } from "../../../src/northbound/web/control-server.ts";
import type { StatusFacts } from "../../../src/northbound/web/status-report.ts";
import type { Component } from "../../../src/platform/component.ts";
import { isCode } from "../../../src/platform/error-text.ts";
import { createLog, silentLog } from "../../../src/platform/log.ts";
import { allowedRights } from "../../support/allowed-rights.ts";
import { createTestActs, noLeases } from "../../support/fake-acts.ts";
import { createFakeHolds, type FakeHolds } from "../../support/fake-holds.ts";
import { fakeMonitoring } from "../../support/fake-monitoring.ts";
import { createManualClock, type ManualClock } from "../../support/manual-clock.ts";
import { createFakeCommander, type FakeCommander, fakeCatalogue } from "../opcua/fake-commands.ts";
import { createTestApi, type TestApi } from "./fleet-api-harness.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON. */
  readonly body: unknown;
}

/** A control server that runs in a folder of its own. */
export interface ControlHarness extends AsyncDisposable {
  readonly socketPath: string;
  /** What the server is made of. */
  readonly parts: ControlParts;
  readonly commander: FakeCommander;
  /** The fleet that the API shows. */
  readonly fleet: TestApi;
  readonly clock: ManualClock;
  /** What the audit log was told of refusals. */
  readonly told: Array<RefusedRequest & Pick<Outcome, "code" | "message">>;
  readonly holds: FakeHolds;
  /** What the status is made of; a test puts others here. */
  readonly facts: { now: StatusFacts };
  /** Why acknowledgements are not on the disk. */
  readonly storeProblem: { now: string | null };
  /** Lines of a log with the component fleet. */
  readonly logged: readonly string[];
  readonly server: Component;
  /** Sends a request; an object as body goes as JSON, text as it is. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** `PUT /api/v1/commands/{id}`. */
  put(id: string, body: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A connection for bytes of a test's own. */
  open(): Promise<Socket>;
  /** One more server on the same socket. */
  another(): Component;
  stop(): Promise<void>;
}

export async function createControlHarness(): Promise<ControlHarness> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-control-"));
  const socketPath = join(folder, "control.sock");
  const commander = createFakeCommander();
  const clock = createManualClock();
  const told: ControlHarness["told"] = [];
  const refused: RefusalAudit["refused"] = ({ origin: _none, ...request }, { code, message }) =>
    void told.push({ ...request, code, message });
  commander.serve({ catalogue: fakeCatalogue(), clock, refused });
  const holds = createFakeHolds();
  const facts = { now: wellFacts };
  const fleet = createTestApi(clock, () => facts.now.alarms);
  const storeProblem: ControlHarness["storeProblem"] = { now: null };
  const logged: string[] = [];
  const log = createLog("info", { write: (line) => void logged.push(line) });
  log.child({ part: "fleet" });
  const parts: ControlParts = {
    api: fleet.api,
    commands: {
      commander,
      records: commander,
      catalogue: fakeCatalogue(),
      rights: allowedRights,
      acts: createTestActs({
        holds,
        stations: createFakeStations(),
        userRights: { rules, accounts: [] },
        alarms: {
          find: (alarmId) => facts.now.alarms.find(({ id }) => id === alarmId),
          acknowledge(alarmId, by) {
            const standing = facts.now.alarms.find(({ id }) => id === alarmId);
            if (standing !== undefined) acknowledge(facts, standing, by);
          },
          comment(alarmId, by, text) {
            facts.now = {
              ...facts.now,
              alarms: facts.now.alarms.map((alarm) =>
                alarm.id === alarmId ? { ...alarm, comment: { text, by, atMs: 0 } } : alarm,
              ),
            };
          },
        },
        storeProblem: async () => storeProblem.now,
        refused,
      }),
    },
    machine: {
      statusFacts: async () => facts.now,
      logLevels: log.levels,
      recorder: {
        save: async (cause) => {
          logged.push(cause);
          if (facts.now.disk.freeBytes === 0) throw new Error("the disk is full");
          return { path: "/data/records/saved/user-1.fgrec", bytes: 12, fromMs: 0 };
        },
      },
      reload: async (by) => ({ applied: [by], refused: [], warnings: [], hash: "c0ffee" }),
      handover: null,
      fence: null,
    },
    monitoring: fakeMonitoring(),
    clock,
    log: silentLog,
  };
  const create = () => createControlServer({ socketPath }, parts);
  const server = create();
  const stop = await start(server);
  const ask: ControlHarness["ask"] = (method, path, body, headers = {}) =>
    new Promise((resolve, reject) => {
      const sent = typeof body === "string" || body === undefined ? body : JSON.stringify(body);
      const type = sent === undefined ? {} : { "content-type": "application/json" };
      const isChunked = sent === undefined || "transfer-encoding" in headers;
      const length = isChunked ? {} : { "content-length": Buffer.byteLength(sent) };
      const options = { socketPath, method, path, headers: { ...type, ...length, ...headers }, agent: false };
      const request = sendRequest(options, (response) => {
        text(response).then(
          (read) =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              body: read === "" ? null : (JSON.parse(read) as unknown),
            }),
          reject,
        );
      });
      request.on("error", reject).end(sent);
    });
  return {
    socketPath,
    parts,
    commander,
    fleet,
    clock,
    told,
    holds,
    facts,
    storeProblem,
    logged,
    server,
    ask,
    put: (id, body, headers) => ask("PUT", `/api/v1/commands/${encodeURIComponent(id)}`, body, headers),
    open: () => openSocket(socketPath),
    another: create,
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** A gateway with one robot, where all is well. */
export const wellFacts: StatusFacts = {
  gatewayId: "plant1",
  version: "1.2.3",
  sessionId: "s1",
  health: {
    fleet: { state: "up", detail: "3 of 3 streams are open", figures: { token_seconds_left: 3_000 } },
    commands: { state: "up", figures: { inHand: 2, waiting: 1 } },
    queues: { state: "up", figures: { "opcua.eventsQueued": 4, "opcua.eventsDropped": 0 } },
    process: { state: "up", figures: { rssBytes: 2e8, heapBytes: 9e7, uptimeSeconds: 90_061 } },
  },
  stateSinceMs: () => 1_000,
  robots: [{ robotId: "r1", family: "cart", quality: "good" }],
  isOutOfService: () => false,
  holds: [],
  alarms: [],
  certificates: [],
  disk: { path: "/data", freeBytes: 12e9 },
  waitingClients: [],
};

function acknowledge(facts: { now: StatusFacts }, alarm: Alarm, by: Source): void {
  const alarms = facts.now.alarms.map((each) =>
    each === alarm ? { ...each, acknowledged: each.acknowledged ?? { by, atMs: 0 } } : each,
  );
  facts.now = { ...facts.now, alarms };
}

/** "ann" may only read; "bob" and others are operators, and "chief" is an engineer. */
const rules = [
  { source: { protocol: "cli", name: "ann" }, role: "observer" },
  { source: { protocol: "cli", name: "chief" }, role: "engineer" },
  ...["bob", "eve", "local"].map(
    (name) => ({ source: { protocol: "cli", name }, role: "operator" }) as const,
  ),
] as const;

/** Station Dock leases r1 for a PLC. */
function createFakeStations(): ActTargets["stations"] {
  let lease: RobotLease | null = { station: "Dock", owner: { protocol: "opcua", name: "plc" }, sinceMs: 0 };
  return {
    ...noLeases,
    leaseOf: (robotId) => (robotId === "r1" ? lease : null),
    override(_source, robotId) {
      if (robotId === "r1") lease = null;
      return null;
    },
  };
}

/** Resolves when the component is ready, with what stops it; rejects when it cannot start. */
export async function start(component: Component): Promise<() => Promise<void>> {
  const stopping = new AbortController();
  let ended: Promise<void> = Promise.resolve();
  await new Promise<void>((resolve, reject) => {
    ended = component.run(stopping.signal, resolve);
    ended.catch(reject);
  });
  return () => {
    stopping.abort();
    return ended;
  };
}

/** Tries again while as many clients as the socket takes at once wait for the server to accept them. */
async function openSocket(path: string): Promise<Socket> {
  while (true) {
    const socket = connect({ path });
    const failed = await new Promise<Error | null>((resolve) => {
      socket.once("connect", () => resolve(null)).once("error", resolve);
    });
    if (failed === null) return socket.on("error", () => {});
    if (!isCode(failed, "EAGAIN")) throw failed;
    await setImmediate();
  }
}
