import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { countObjects } from "./heap-objects.ts";
import { allocatorOptions, nodeOptions } from "./node-options.ts";

/** What the gateway's process has used, and how its event loop did, since the figures before. */
export interface Figures {
  /** By how much timers were late. */
  readonly delayP50Ms: number;
  readonly delayP99Ms: number;
  readonly delayMaxMs: number;
  /** The longest turn of the loop, in processor time of its thread. */
  readonly longestTurnMs: number;
  /** What the same work took on that thread each time, on average, in processor time. */
  readonly fixedWorkMs: number;
  /** The part of the time in which the loop did not wait, from 0 to 1. */
  readonly utilization: number;
  /** Processor time a second, of all threads: 1 is a whole processor. */
  readonly cpu: number;
  readonly rssBytes: number;
  /** Without mapped files; null where the system does not say. */
  readonly rssAnonBytes: number | null;
  /** After a collection. */
  readonly heapBytes: number;
  readonly externalBytes: number;
}

/** The built gateway as a process of its own, which tells its figures. */
export interface MeasuredDaemon {
  /**
   * Collects garbage and resolves with the figures since the last call. Rejects when the daemon has ended.
   */
  figures(): Promise<Figures>;
  /** How many objects there are of each class, by its name, after a collection. */
  objects(): Promise<ReadonlyMap<string, number>>;
  /** Holds the loop up for one turn of so much processor time. */
  occupy(ms: number): Promise<void>;
  readonly pid: number;
  /** Rejects when it has ended, and tells what it said last. */
  readonly lost: Promise<never>;
  /** Lines of its log for which `isKept` held. */
  readonly kept: readonly string[];
  /** Ends it as systemd would. Resolves with its exit code; null: a signal ended it. */
  stop(): Promise<number | null>;
}

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
/** Lines of the log that the reader of a failure gets. */
const SHOWN = 8;
const probe = new URL("./figures-probe.mjs", import.meta.url);

/**
 * Starts `fleetgate run` with this configuration. Resolves when it is ready; rejects when it ends before.
 *
 * @param isKept which lines of the log are kept
 */
export async function startMeasuredDaemon(
  configPath: string,
  isKept: (line: string) => boolean,
): Promise<MeasuredDaemon> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...nodeOptions, "--expose-gc", "--import", probe.href, main, "run", "--config", configPath],
    { stdio: ["ignore", "ignore", "pipe", "ipc"], env: { ...process.env, ...allocatorOptions } },
  );
  const gone = once(child, "close").then(([code]) => code as number | null);
  const kept: string[] = [];
  const newest: string[] = [];
  if (child.stderr === null) throw new Error("fleetgate has no standard error");
  const lines = createInterface({ input: child.stderr });
  const lost = gone.then((code): never => {
    throw new Error(`fleetgate ended with ${code}: ${newest.join("\n")}`);
  });
  await new Promise<void>((resolve, reject) => {
    lines.on("line", (line) => {
      newest.push(line);
      if (newest.length > SHOWN) newest.shift();
      if (isKept(line)) kept.push(line);
      if (line.includes('"msg":"ready"')) resolve();
    });
    lost.catch(reject);
  });
  const { pid } = child;
  if (pid === undefined) throw new Error("fleetgate has no process");
  async function ask(question: { readonly heapTo?: string; readonly workMs?: number }): Promise<unknown> {
    const answer = once(child, "message");
    child.send(question);
    const [answered] = await Promise.race([answer, lost]);
    return answered;
  }
  return {
    lost,
    kept,
    pid,
    figures: async () => (await ask({})) as Figures,
    occupy: async (ms) => void (await ask({ workMs: ms })),
    async objects() {
      const folder = await mkdtemp(join(tmpdir(), "fleetgate-heap-"));
      const path = join(folder, "daemon.heapsnapshot");
      await ask({ heapTo: path });
      const counts = await countObjects(path);
      await rm(folder, { recursive: true, force: true });
      return counts;
    },
    stop() {
      child.kill("SIGTERM");
      return gone;
    },
  };
}
