import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import type { Endpoints } from "../../src/simulator/simulator.ts";

/** The built gateway as a process of its own. */
export interface Daemon {
  readonly pid: number;
  /** Resolves with its exit code, null when a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Ends it as a power cut would, and resolves when it is gone. */
  kill(): Promise<void>;
  /** Ends it as systemd would. Resolves with its exit code. */
  stop(): Promise<number | null>;
  /** What it said on standard error so far. */
  said(): string;
  /** Resolves when it has said this on standard error; rejects when it ends before. */
  says(text: string): Promise<void>;
}

/** How long the daemon seeks evidence. */
export const evidenceMs = 1_500;

/**
 * What it says when it has begun: a loaded machine may take longer to load it than a test waits for anything
 * else.
 */
export const READY = '"msg":"ready"';

/**
 * Writes a configuration whose times suit a test, for commands of anybody. `sections` are the file's other
 * ones, by name. @returns its path.
 */
export async function writeConfiguration(
  folder: string,
  id: string,
  fleet: Endpoints,
  robots: readonly string[],
  brokerUrl: string,
  sections: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const path = join(folder, "fleetgate.yaml");
  const file = {
    gateway: { id, dataDir: "data" },
    fleet: {
      grpc: { address: fleet.grpc },
      https: fleet.https,
      ca: fleet.ca,
      credentials: fleet.credentials,
      robots,
      times: { rosterPollMs: 300, connectMs: 1_000, backoffBaseMs: 20, backoffCapMs: 200 },
    },
    mqtt: { broker: brokerUrl, protocolVersion: 4, commands: { brokerEnforcesClientNames: true } },
    commands: { evidenceMs, settleMs: 200, pollMs: 300, drainMs: 500 },
    rights: ["mqtt", "opcua"].map((protocol) => ({ source: { protocol, name: "*" }, role: "engineer" })),
    ...sections,
  };
  await writeFile(path, stringify(file), { mode: 0o600 });
  return path;
}

/** A built program, and how its Node.js is started. */
export interface DaemonBuild {
  readonly script: string;
  readonly nodeOptions: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** That of this tree. */
export const builtHere: DaemonBuild = { script: "dist/main.js", nodeOptions: [], env: {} };

/** @param nodeOptions of its Node.js, beside those of the build */
export function startDaemon(
  configPath: string,
  nodeOptions: readonly string[] = [],
  build: DaemonBuild = builtHere,
): Daemon {
  const command = [...build.nodeOptions, ...nodeOptions, build.script, "run", "--config", configPath];
  const child: ChildProcess = spawn(process.execPath, command, {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...build.env },
  });
  let said = "";
  const received = new Set<() => void>();
  child.stderr?.on("data", (chunk: Buffer) => {
    said += chunk.toString("utf8");
    for (const look of received) look();
  });
  // `close` comes when all that it said was read, too.
  const gone = once(child, "close").then(([code]) => code as number | null);
  if (child.pid === undefined) throw new Error("fleetgate could not be started");
  return {
    pid: child.pid,
    ended: gone,
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
    stop() {
      child.kill("SIGTERM");
      return gone;
    },
    said: () => said,
    says(text) {
      return new Promise((resolve, reject) => {
        const look = () => {
          if (!said.includes(text)) return;
          received.delete(look);
          resolve();
        };
        received.add(look);
        look();
        void gone.then((code) => reject(new Error(`it ended with ${code} and did not say ${text}: ${said}`)));
      });
    },
  };
}
