import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Chronicle, createChronicle } from "../support/chronicle.ts";
import { nodeOptions } from "../support/node-options.ts";

/** A loaded machine takes its time to start Node several times. */
export const TEST_TIMEOUT_MS = 90_000;
const LINE_TIMEOUT_MS = 45_000;

/** How a program ended. */
interface Ending {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** `fleetgate` as a process of its own, as built into dist/. */
export interface Program {
  readonly pid: number;
  /** Lines of standard output, and of standard error. */
  readonly out: Chronicle<string>;
  readonly err: Chronicle<string>;
  /** Resolves when it has ended and all that it wrote was read. */
  readonly ended: Promise<Ending>;
  send(signal: NodeJS.Signals): void;
}

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const children = new Set<ChildProcess>();
const folders = new Set<string>();

/** Runs `fleetgate` in a folder. */
export function fleetgate(folder: string, ...args: readonly string[]): Program {
  const child = spawn(process.execPath, [...nodeOptions, main, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const out = createChronicle<string>((line) => line, LINE_TIMEOUT_MS);
  const err = createChronicle<string>((line) => line, LINE_TIMEOUT_MS);
  createInterface(child.stdout).on("line", out.add);
  createInterface(child.stderr).on("line", err.add);
  const ended = new Promise<Ending>((resolve) => {
    child.once("close", (code, signal) => {
      children.delete(child);
      resolve({ code, signal });
    });
  });
  if (child.pid === undefined) throw new Error("fleetgate could not be started");
  return { pid: child.pid, out, err, ended, send: (signal) => void child.kill(signal) };
}

/** An empty folder. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-cli-"));
  folders.add(folder);
  return folder;
}

/** Ends what still runs, and removes the folders. For `afterEach` or `afterAll`. */
export async function endPrograms(): Promise<void> {
  for (const child of children) {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  folders.clear();
}

/** What `--json` prints when all is ready. */
export interface Ready {
  readonly event: string;
  readonly fleet: {
    readonly grpc: string;
    readonly https: string;
    readonly ca: string;
    readonly credentials: string;
    readonly otherCredentials: string;
    readonly locations: readonly string[];
  };
  readonly mqtt: string;
  readonly opcua: string;
  readonly web: string;
}

/** Waits for the line of `--json`. */
export async function ready(program: Program): Promise<Ready> {
  const line = program.out.first("the ready line", () => true);
  const ended = program.ended.then(({ code }) => {
    throw new Error(`it ended with ${code} before it was ready:\n${program.err.entries.join("\n")}`);
  });
  return JSON.parse(await Promise.race([line, ended])) as Ready;
}
