import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { createEtcdClient, type EtcdClient, type EtcdClientParts } from "../../src/cluster/etcd/client.ts";
import type { ReadOutcome, WriteOutcome } from "../../src/cluster/etcd/outcome.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { silentLog } from "../../src/platform/log.ts";
import { freePorts } from "../support/free-ports.ts";

/** Whether the tests that need etcd can run. */
export const hasEtcd = spawnSync("etcd", ["--version"]).status === 0;
/** Debian's `etcd-client`. */
export const hasEtcdctl = spawnSync("etcdctl", ["version"]).status === 0;
if (!hasEtcd) {
  if (process.env.CI) throw new Error("etcd is not installed, and CI must run its tests");
  process.stderr.write("etcd is not installed: its tests are skipped\n");
}

export interface TestMember {
  readonly endpoint: string;
  /** Of its process, which runs. */
  pid(): number;
  /** As `kill -9`. */
  kill(): Promise<void>;
  /** It keeps its connections, and does nothing until it is resumed. Resolves when no thread of it runs. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it on its data, and resolves when it serves. */
  start(): Promise<void>;
}

export interface TestEtcd {
  readonly members: readonly TestMember[];
  readonly endpoints: readonly string[];
  /** A client that is closed with the cluster. */
  client(options?: Partial<Pick<EtcdClientParts, "endpoints" | "tls" | "deadlineMs" | "clock">>): EtcdClient;
  close(): Promise<void>;
}

export interface EtcdOptions {
  readonly members?: 1 | 3;
  /** Further options of the program. */
  readonly options?: readonly string[];
  readonly scheme?: "http" | "https";
  /** For the data, which is removed when it closes. In memory without it. */
  readonly folder?: string;
  /** The ports at which members reach each other, in the order of those at which they listen for that. */
  readonly peerPorts?: (listening: readonly number[]) => Promise<readonly number[]>;
}

/** A crash of a process loses nothing on a tmpfs, and to sync costs nothing there. */
const memory = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
const READY = "ready to serve client requests";

export async function startEtcd({
  members: count = 1,
  options = [],
  scheme = "http",
  folder: parent = memory,
  peerPorts = async (listening) => listening,
}: EtcdOptions = {}): Promise<TestEtcd> {
  const folder = mkdtempSync(join(parent, "fleetgate-etcd-"));
  const base = await freePorts(2 * count);
  const ports = Array.from({ length: count }, (_, index) => base + 2 * index);
  const advertised = await peerPorts(ports.map((port) => port + 1));
  const peers = advertised.map((port) => `http://127.0.0.1:${port}`);
  const cluster = ports.map((port, index) => `m${port}=${peers[index]}`).join(",");
  const members = ports.map((port, index) => {
    const client = `${scheme}://127.0.0.1:${port}`;
    const peer = `http://127.0.0.1:${port + 1}`;
    const advertisedPeer = peers[index] ?? peer;
    return createTestMember(`127.0.0.1:${port}`, [
      ...["--name", `m${port}`, "--data-dir", join(folder, String(port))],
      ...["--listen-client-urls", client, "--advertise-client-urls", client],
      ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", advertisedPeer],
      ...["--initial-cluster", cluster, "--initial-cluster-token", folder],
      ...["--heartbeat-interval", "50", "--election-timeout", "500"],
      ...options,
    ]);
  });
  const clients: EtcdClient[] = [];
  const endpoints = members.map(({ endpoint }) => endpoint);
  const close = async () => {
    for (const client of clients) client.close();
    await Promise.all(members.map((member) => member.kill()));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all(members.map((member) => member.start()));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    members,
    endpoints,
    client(given = {}) {
      const client = createEtcdClient({
        endpoints: given.endpoints ?? endpoints,
        tls: given.tls ?? null,
        deadlineMs: given.deadlineMs ?? 3_000,
        clock: given.clock ?? systemClock,
        random: Math.random,
        log: silentLog,
      });
      clients.push(client);
      return client;
    },
    close,
  };
}

function createTestMember(endpoint: string, options: readonly string[]): TestMember {
  let child: ChildProcess | null = null;
  return {
    endpoint,
    pid: () => Number(child?.pid),
    async kill() {
      if (child === null || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    async pause() {
      child?.kill("SIGSTOP");
      // The signal reaches one thread after the other. Until then the member answers.
      while (statesOfThreads(child?.pid).some((state) => state !== "T")) await wait(5);
    },
    resume: () => void child?.kill("SIGCONT"),
    async start() {
      const started = spawn("etcd", options, {
        stdio: ["ignore", "ignore", "pipe"],
        env: { PATH: process.env.PATH },
      });
      child = started;
      let said = "";
      await new Promise<void>((resolve, reject) => {
        started.stderr.on("data", (bytes) => {
          if (said.length < 100_000) said += String(bytes);
          if (said.includes(READY)) resolve();
        });
        started.on("error", reject);
        started.on("exit", () => reject(new Error(`etcd has ended: ${said.slice(-2_000)}`)));
      });
    },
  };
}

function statesOfThreads(pid: number | undefined): readonly string[] {
  const folder = `/proc/${pid}/task`;
  return readdirSync(folder).map((thread) => {
    const stat = readFileSync(join(folder, thread, "stat"), "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] ?? "";
  });
}

/** The value and the header of an outcome that must be good. */
export function done<Value>(outcome: ReadOutcome<Value> | WriteOutcome<Value>) {
  if (outcome.kind !== "done") throw new Error(`${outcome.kind}: ${outcome.fault.message}`);
  return outcome;
}

export const bytes = (text: string): Uint8Array => Buffer.from(text);
export const text = (value: Uint8Array): string => Buffer.from(value).toString();
