import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Child, type ChildOptions, cpuMicrosOf } from "./child.ts";
import type { PlantBroker } from "./plant-broker.ts";

/** Where the compiled bench is. */
export const benchFolder = dirname(fileURLToPath(import.meta.url));

/** How long a program may take to say what it is waited for. */
export const REPLY_TIMEOUT_MS = 60_000;

const END_TOLD_MS = 300;

/** Everything that a section of the bench opens, so that all of it is closed whatever happens. */
export class SectionRun {
  /** A folder of its own, removed when the run ends. */
  readonly folder = mkdtempSync(join(tmpdir(), "fleetgate-bench-"));
  readonly #children: Child[] = [];
  readonly #closers: (() => Promise<void>)[] = [];
  /** Further processes that are the bench's own, by their ids. */
  #others: () => readonly number[] = () => [];
  /** Where CPU profiles of the gateway go; null: none are made. */
  readonly profiles: string | null;
  /** Programs that ended though nobody had told them to. */
  readonly #ended: Error[] = [];
  #fail: (error: unknown) => void = () => {};
  readonly #failure = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  constructor(profiles: string | null) {
    this.profiles = profiles;
  }

  start(name: string, script: string, args: readonly string[] = [], options: ChildOptions = {}): Child {
    const child = new Child(name, script, args, options);
    this.#children.push(child);
    child.failure.catch((error: Error) => {
      this.#ended.push(error);
      this.#fail(error);
    });
    return child;
  }

  /** The processes with these ids are the bench's own too. */
  counts(pids: () => readonly number[]): void {
    this.#others = pids;
  }

  /** Processor time of its own processes that run, in microseconds. */
  cpuMicros(): number {
    const children = this.#children.map((child) => child.cpuMicros());
    return [...children, ...this.#others().map(cpuMicrosOf)].reduce((sum, micros) => sum + micros, 0);
  }

  /** Closed when the run ends, the last first. */
  onEnd(close: () => Promise<void>): void {
    this.#closers.push(close);
  }

  /** The result of `work`; rejects as soon as one of the programs fails. */
  async guard<T>(work: Promise<T>): Promise<T> {
    try {
      return await Promise.race([work, this.#failure]);
    } catch (error) {
      // What one program complains of is often another's end, which is told a moment later.
      await pause(END_TOLD_MS);
      const ended = this.#ended.filter((each) => each !== error);
      throw ended.length === 0 ? error : new AggregateError([error, ...ended], textOf([error, ...ended]));
    }
  }

  /** Makes `guard` reject. */
  fail(error: Error): void {
    this.#fail(error);
  }

  async end(): Promise<void> {
    for (const close of this.#closers.reverse()) await close();
    await Promise.all(this.#children.map((child) => child.end()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function textOf(errors: readonly unknown[]): string {
  return errors.map((error) => (error instanceof Error ? error.message : String(error))).join("\n");
}

/** The broker, in a process of its own: its cost is nobody's. Gives its port. */
export async function startBroker(run: SectionRun): Promise<number> {
  const broker = run.start("broker", join(benchFolder, "broker.js"));
  return (await broker.next<{ port: number }>(REPLY_TIMEOUT_MS)).port;
}

/** The broker of a plant, where it is installed: for what a plant's users wait for. */
export async function startPlantBroker(run: SectionRun): Promise<PlantBroker> {
  const broker = run.start("broker", join(benchFolder, "plant-broker.js"), [run.folder]);
  return broker.next<PlantBroker>(REPLY_TIMEOUT_MS);
}

/** Below the ports that the system gives to connections, which would take them before a program listens. */
const FIRST_PORT = 12_000;
const LAST_PORT = 30_000;

/** Two ports in a row that were free a moment ago; the first one. */
export async function freePorts(): Promise<number> {
  for (;;) {
    const first = randomInt(FIRST_PORT, LAST_PORT);
    if ((await isFree(first)) && (await isFree(first + 1))) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Waits until `met` says so, looking every `everyMs`; rejects after `withinMs`. */
export async function until(
  what: string,
  met: () => boolean | Promise<boolean>,
  withinMs: number,
  everyMs = 20,
): Promise<void> {
  const endMs = performance.now() + withinMs;
  while (!(await met())) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${withinMs / 1000} s`);
    await pause(everyMs);
  }
}
