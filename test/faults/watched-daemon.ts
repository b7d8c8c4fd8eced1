import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { createChronicle } from "../support/chronicle.ts";

/** The built gateway as a process of its own, of which every word is kept. */
export interface WatchedDaemon {
  readonly pid: number;
  /** All that it wrote to standard output and standard error so far. */
  said(): string;
  /** Resolves when it has said this. */
  says(what: string, is: (line: string) => boolean): Promise<string>;
  /** Has Node write a diagnostic report, and resolves with it. */
  report(): Promise<string>;
  /** Has it crash by an exception that nobody catches. Resolves with its own report of the crash. */
  crash(): Promise<string>;
  kill(): Promise<void>;
}

const main = fileURLToPath(new URL("../../dist/main.js", import.meta.url));
const PATIENCE_MS = 30_000;
const REPORT_SIGNAL = "SIGUSR2";
const CRASH_SIGNAL = "SIGWINCH";

/** On a signal, an exception is thrown that nobody catches. */
const crasher = `process.on("${CRASH_SIGNAL}", () => { throw new Error("planted by the test"); });`;

/**
 * Starts `fleetgate` with these arguments. Its diagnostic reports go to `folder`, its warnings show where
 * they come from.
 */
export function watchDaemon(folder: string, ...args: readonly string[]): WatchedDaemon {
  const child: ChildProcess = spawn(
    process.execPath,
    [
      "--report-on-signal",
      `--report-signal=${REPORT_SIGNAL}`,
      "--report-on-fatalerror",
      `--report-directory=${folder}`,
      "--trace-warnings",
      "--trace-uncaught",
      "--import",
      `data:text/javascript,${encodeURIComponent(crasher)}`,
      main,
      ...args,
    ],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
  );
  if (child.pid === undefined) throw new Error("fleetgate could not be started");
  const lines = createChronicle<string>((line) => line, PATIENCE_MS);
  let said = "";
  let begun = "";
  const receive = (chunk: Buffer) => {
    const text = chunk.toString("utf8");
    said += text;
    const whole = (begun + text).split("\n");
    begun = whole.pop() ?? "";
    for (const line of whole) lines.add(line);
  };
  child.stdout?.on("data", receive);
  child.stderr?.on("data", receive);
  const gone = once(child, "close");

  async function reportAfter(signal: NodeJS.Signals): Promise<string> {
    const before = new Set(await reports(folder));
    const from = lines.entries.length;
    child.kill(signal);
    await lines.first("a diagnostic report", (line) => line.includes("Node.js report completed"), from);
    const [name] = (await reports(folder)).filter((file) => !before.has(file));
    if (name === undefined) throw new Error("there is no report");
    return readFile(join(folder, name), "utf8");
  }

  return {
    pid: child.pid,
    said: () => said,
    says: (what, is) => lines.first(what, is),
    report: () => reportAfter(REPORT_SIGNAL),
    async crash() {
      const from = lines.entries.length;
      child.kill(CRASH_SIGNAL);
      const line = await lines.first("a crash", (each) => each.includes("the gateway crashes"), from);
      await gone;
      return readFile((JSON.parse(line) as { readonly report: string }).report, "utf8");
    },
    async kill() {
      child.kill("SIGKILL");
      await gone;
    },
  };
}

async function reports(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("report.") && name.endsWith(".json"));
}

/** Every file under a folder, by its path in it, as bytes in latin1. */
export async function filesUnder(folder: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // A file that is replaced meanwhile is found under its own name.
    const text = await readFile(path, "latin1").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return null;
      throw error;
    });
    if (text !== null) found.set(relative(folder, path), text);
  }
  return found;
}
