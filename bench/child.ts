import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Linux counts processor time in hundredths of a second for every program (`man 5 proc`, USER_HZ). */
const TICKS_PER_SECOND = 100;
const STAT_FIELDS_BEFORE_UTIME = 11;
const END_GRACE_MS = 8_000;
const ERRORS_KEPT = 4_000;

const endWithParent = join(dirname(fileURLToPath(import.meta.url)), "end-with-parent.js");

/** How a child is started beyond its script and arguments. */
export interface ChildOptions {
  /** Modules that it loads before its script. */
  readonly preload?: readonly string[];
  /** The Node.js that runs it; the bench's own without it. */
  readonly program?: string;
  /** Node's own options. */
  readonly nodeOptions?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A program of the bench. It does not outlive the bench. */
export class Child {
  readonly name: string;
  /** Rejects when the program ends though nobody has told it to. */
  readonly failure: Promise<never>;
  readonly #process: ChildProcess;
  readonly #gone: Promise<unknown>;
  readonly #messages = new Inbox<unknown>();
  readonly #lines = new Inbox<string>();
  #errors = "";
  #isEnding = false;

  constructor(name: string, script: string, args: readonly string[], options: ChildOptions = {}) {
    this.name = name;
    const preload = [endWithParent, ...(options.preload ?? [])];
    const imports = preload.flatMap((path) => ["--import", pathToFileURL(path).href]);
    const program = options.program ?? process.execPath;
    this.#process = spawn(program, [...(options.nodeOptions ?? []), ...imports, script, ...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      env: { ...process.env, ...options.env },
    });
    this.#gone = once(this.#process, "exit");
    this.#process.on("message", (message) => this.#messages.put(message));
    if (this.#process.stdout !== null) {
      createInterface(this.#process.stdout).on("line", (line) => this.#lines.put(line));
    }
    this.#process.stderr?.on("data", (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-ERRORS_KEPT);
    });
    this.failure = new Promise((_, reject) => {
      this.#process.once("exit", (code, signal) => {
        if (this.#isEnding) return;
        reject(new Error(`${name} ended with ${signal ?? `code ${code}`}:\n${this.#errors}`));
      });
    });
    // `guard` races with it; a rejection that nobody awaits would end the bench.
    this.failure.catch((error: Error) => this.#messages.fail(error));
  }

  send(message: object): void {
    this.#process.send?.(message);
  }

  /** The next message of the child, in the order they came. Rejects when none comes in time. */
  next<T>(timeoutMs: number): Promise<T> {
    return this.#messages.take(timeoutMs, this.name) as Promise<T>;
  }

  /** Calls `listener` with every message from now on, instead of keeping them for `next`. */
  onMessage<T>(listener: (message: T) => void): void {
    this.#messages.listen((message) => listener(message as T));
  }

  /** The next line of its standard output. */
  line(timeoutMs: number): Promise<string> {
    return this.#lines.take(timeoutMs, this.name);
  }

  /** Resolves when it has said this on its standard error. */
  async says(text: string, timeoutMs: number): Promise<void> {
    const stderr = this.#process.stderr;
    if (stderr === null) throw new Error(`${this.name} has no standard error`);
    const signal = AbortSignal.timeout(timeoutMs);
    while (!this.#errors.includes(text)) await Promise.race([once(stderr, "data", { signal }), this.failure]);
  }

  get errors(): string {
    return this.#errors;
  }

  /** User and system time that the process has used, in microseconds; 0 once it is gone. */
  cpuMicros(): number {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return 0;
    return cpuMicrosOf(Number(this.#process.pid));
  }

  /** Anonymous memory in megabytes: file mappings are the disk cache's, not the process's. */
  rssAnonMb(): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, "latin1");
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  }

  /** What the kernel has to write to disks for it so far. */
  writtenBytes(): number {
    const io = readFileSync(`/proc/${this.#process.pid}/io`, "latin1");
    return Number(/^write_bytes: (\d+)$/m.exec(io)?.[1]);
  }

  /** Stops the child as it is, or lets it go on. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process.kill(signal);
  }

  /** Ends the child and waits until it is gone. */
  async end(signal: "SIGTERM" | "SIGKILL" = "SIGTERM"): Promise<void> {
    this.#isEnding = true;
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill(signal);
    const force = setTimeout(() => this.#process.kill("SIGKILL"), END_GRACE_MS);
    await this.#gone;
    clearTimeout(force);
  }
}

/** User and system time of a process, in microseconds; 0 once it is gone. */
export function cpuMicrosOf(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return 0;
  const stat = readFileSync(path, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[STAT_FIELDS_BEFORE_UTIME]) + Number(fields[STAT_FIELDS_BEFORE_UTIME + 1]);
  return (ticks / TICKS_PER_SECOND) * 1e6;
}

/** Keeps what comes until somebody asks for it. */
class Inbox<T> {
  #kept: T[] = [];
  #taker: { resolve(value: T): void; reject(error: Error): void } | undefined;
  #listener: ((value: T) => void) | undefined;
  #error: Error | undefined;

  put(value: T): void {
    if (this.#listener !== undefined) this.#listener(value);
    else if (this.#taker !== undefined) this.#taker.resolve(value);
    else this.#kept.push(value);
  }

  fail(error: Error): void {
    this.#error = error;
    this.#taker?.reject(error);
  }

  listen(listener: (value: T) => void): void {
    for (const value of this.#kept.splice(0)) listener(value);
    this.#listener = listener;
  }

  async take(timeoutMs: number, from: string): Promise<T> {
    if (this.#kept.length > 0) return this.#kept.shift() as T;
    if (this.#error !== undefined) throw this.#error;
    let timer: NodeJS.Timeout | undefined;
    try {
      return await new Promise<T>((resolve, reject) => {
        this.#taker = { resolve, reject };
        timer = setTimeout(
          () => reject(new Error(`${from} said nothing for ${timeoutMs / 1000} s`)),
          timeoutMs,
        );
      });
    } finally {
      clearTimeout(timer);
      this.#taker = undefined;
    }
  }
}
