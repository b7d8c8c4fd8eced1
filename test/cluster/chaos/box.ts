import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Pool } from "undici";
import { stringify } from "yaml";
import { protocolTimes } from "../../../src/cluster/protocol/times.ts";
import type { Endpoints } from "../../../src/simulator/simulator.ts";
import { type Daemon, type DaemonBuild, startDaemon } from "../../daemon/daemon.ts";
import { bareWire, type LateWire, startLateWire } from "./late-wire.ts";

/** How long etcd waits for a leader that is silent. */
export const LEASE_MS = 5_000;
export const CLUSTER = "chaos";
const CALL_MS = 3_000;
/** So long a successor seeks what became of a start. */
export const EVIDENCE_MS = 3_000;
/** For so long a robot takes no start after a takeover, if one of an earlier leader may still arrive. */
export const DOUBT_MS = protocolTimes({
  leaseMs: LEASE_MS,
  callDeadlineMs: CALL_MS,
  evidenceMs: EVIDENCE_MS,
}).doubtMs;
/** As in the unit. */
const RESTART_MS = 1_000;
/** The only code, beside that of a kill, with which a box of these rounds may end. */
const LEADERSHIP_LOST = 75;
/** A box that is paused takes connections and does not answer. */
const ANSWER_MS = 4_000;

/** A gateway on its own wires, which is started again when it has ended. */
export interface Box {
  readonly name: string;
  /** Of its control socket. */
  readonly socketPath: string;
  /** Requests to it. */
  readonly pool: Pool;
  readonly etcdWires: readonly LateWire[];
  readonly serviceWires: readonly LateWire[];
  /** Ends with a code that it may not end with, since this was asked last. It is not started again. */
  takeFaults(): readonly string[];
  /** The number of the process that runs, or ran last. */
  life(): number;
  /** Resolves when the process has ended that runs now, with the time on the monotonic clock. */
  ended(): Promise<number>;
  /** Of the process that runs; null: none does. */
  pid(): number | null;
  isLeading(): boolean;
  /** It tells of itself, and sees every robot. */
  isWhole(): Promise<boolean>;
  start(): void;
  /** As `kill -9`; it comes again. */
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  /** All that it has said. */
  said(): string;
  close(): Promise<void>;
}

export interface BoxParts {
  readonly name: string;
  readonly members: readonly string[];
  readonly folder: string;
  readonly fleet: Endpoints;
  readonly robots: readonly string[];
  readonly stations: object;
  /** The ports of etcd's members. */
  readonly etcdPorts: readonly number[];
  /** Its connections to etcd and to the service can go dead. */
  readonly isWired: boolean;
  readonly build: DaemonBuild;
  /**
   * Of its configuration, in place of those of the rounds; one that is undefined is left out. Of `cluster`
   * its keys are given.
   */
  readonly sections: (name: string) => Readonly<Record<string, unknown>>;
}

export async function createBox(parts: BoxParts): Promise<Box> {
  const { name, fleet } = parts;
  const folder = join(parts.folder, name);
  await mkdir(folder);
  const socketPath = join(folder, "c.sock");
  const startWire = parts.isWired ? startLateWire : bareWire;
  const etcdWires = await Promise.all(parts.etcdPorts.map(startWire));
  const [grpc, https] = [Number(fleet.grpc.split(":").at(-1)), Number(new URL(fleet.https).port)];
  const serviceWires = await Promise.all([grpc, https].map(startWire));
  const config = join(folder, "fleetgate.yaml");
  const ports = [...etcdWires, ...serviceWires].map((wire) => wire.port);
  const [usual, own] = [configuration(parts, socketPath, ports), parts.sections(name)];
  const document = { ...usual, ...own, ...withUsual("cluster", usual.cluster, own) };
  await writeFile(config, stringify(document), { mode: 0o600 });
  const pool = new Pool("http://localhost", {
    ...{ socketPath, connections: 80, pipelining: 1 },
    ...{ headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS, keepAliveTimeout: 1_000 },
  });
  const faults: string[] = [];
  const earlier: string[] = [];
  let daemon: Daemon | null = null;
  let life = 0;
  let isOver = false;
  let ended: Promise<number> = Promise.reject(new Error("it was not started"));
  ended.catch(() => {});

  function start(): void {
    life += 1;
    const started = startDaemon(config, [], parts.build);
    daemon = started;
    ended = started.ended.then(() => performance.now());
    void started.ended.then(async (code) => {
      earlier.push(`${started.said()}--- life ${life} of ${name} has ended: ${code}\n`);
      daemon = null;
      if (isOver) return;
      if (code !== null && code !== LEADERSHIP_LOST) {
        faults.push(`${name} ended with ${code}: ${started.said().slice(-1_000)}`);
        return;
      }
      await wait(RESTART_MS);
      if (!isOver) start();
    });
  }

  return {
    name,
    socketPath,
    pool,
    etcdWires,
    serviceWires,
    takeFaults: () => faults.splice(0),
    life: () => life,
    ended: () => ended,
    pid: () => daemon?.pid ?? null,
    isLeading() {
      const said = daemon?.said() ?? "";
      const last = said.lastIndexOf('"msg":"the cluster"');
      return last >= 0 && said.slice(said.lastIndexOf("\n", last) + 1, last).includes('"isActive":true');
    },
    async isWhole() {
      try {
        const answer = await pool.request({ method: "GET", path: "/api/v1/status" });
        const { robots } = (await answer.body.json()) as {
          readonly robots: { readonly by_quality: { readonly good: number } };
        };
        return robots.by_quality.good === parts.robots.length;
      } catch {
        return false;
      }
    },
    start,
    kill: async () => void (await daemon?.kill()),
    pause: () => signal(daemon, "SIGSTOP"),
    resume: () => signal(daemon, "SIGCONT"),
    said: () => earlier.join("") + (daemon?.said() ?? ""),
    async close() {
      isOver = true;
      await daemon?.kill();
      await pool.destroy();
      await Promise.all([...etcdWires, ...serviceWires].map((wire) => wire.close()));
    },
  };
}

/** Keys of a section that is given, beside the usual ones. */
function withUsual(section: string, usual: object, own: Readonly<Record<string, unknown>>) {
  const given = own[section];
  return given instanceof Object ? { [section]: { ...usual, ...given } } : {};
}

function signal(daemon: Daemon | null, name: "SIGSTOP" | "SIGCONT"): void {
  if (daemon !== null) process.kill(daemon.pid, name);
}

function configuration(
  { name, members, fleet, robots, stations, etcdPorts }: BoxParts,
  socketPath: string,
  ports: readonly number[],
) {
  const [grpc, https] = ports.slice(etcdPorts.length);
  return {
    gateway: { id: CLUSTER, dataDir: "data" },
    fleet: {
      grpc: { address: `localhost:${grpc}` },
      https: `https://localhost:${https}`,
      ca: fleet.ca,
      credentials: fleet.credentials,
      robots,
      times: { rosterPollMs: 1_000, connectMs: 1_000, backoffBaseMs: 20, backoffCapMs: 500 },
    },
    stations,
    control: { socket: socketPath },
    // A robot in doubt is locked for 1.25 times the deadline and L: a round must see what follows.
    commands: { callDeadlineMs: CALL_MS, evidenceMs: EVIDENCE_MS, settleMs: 200, pollMs: 300, drainMs: 500 },
    rights: ["cli", "mqtt", "opcua"].map((protocol) => ({
      source: { protocol, name: "*" },
      role: "engineer",
    })),
    cluster: {
      name: CLUSTER,
      member: name,
      members: Object.fromEntries(members.map((each) => [each, { opcuaUri: `urn:${each}:fleetgate` }])),
      etcd: { endpoints: ports.slice(0, etcdPorts.length).map((port) => `127.0.0.1:${port}`) },
      leaseSeconds: LEASE_MS / 1_000,
    },
  };
}
