import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second for every program (`man 5 proc`, USER_HZ). */
const TICKS_PER_SECOND = 100;
const STAT_FIELDS_BEFORE_UTIME = 11;

/** A child of the bench that is ended with it. Its standard error is shown when it fails. */
export class Child {
  readonly #process: ChildProcess;
  readonly #name: string;
  #errors = "";
  #ending = false;

  constructor(name: string, script: string, args: readonly string[]) {
    this.#name = name;
    this.#process = spawn(process.execPath, [script, ...args], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    });
    this.#process.stderr?.on("data", (chunk) => {
      this.#errors = (this.#errors + chunk).slice(-4_000);
    });
    this.#process.once("exit", (code) => {
      if (this.#ending) return;
      console.error(`${name} ended with code ${code}:\n${this.#errors}`);
      process.exit(1);
    });
  }

  send(message: object): void {
    this.#process.send?.(message);
  }

  /** The next message of the child. */
  next<T>(): Promise<T> {
    return new Promise((resolve) => {
      this.#process.once("message", (message) => resolve(message as T));
    });
  }

  /** User and system time that the process has used, in microseconds. */
  cpuMicros(): number {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const ticks = Number(fields[STAT_FIELDS_BEFORE_UTIME]) + Number(fields[STAT_FIELDS_BEFORE_UTIME + 1]);
    return (ticks / TICKS_PER_SECOND) * 1e6;
  }

  /** Anonymous memory in megabytes: file mappings are the disk cache's, not the process's. */
  rssAnonMb(): number {
    const status = readFileSync(`/proc/${this.#process.pid}/status`, "latin1");
    return Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1]) / 1024;
  }

  /** Ends the child and waits until it is gone. */
  async end(): Promise<void> {
    this.#ending = true;
    const gone = new Promise<void>((resolve) => {
      this.#process.once("exit", () => resolve());
    });
    if (this.#process.exitCode !== null) return;
    this.#process.kill("SIGTERM");
    const force = setTimeout(() => this.#process.kill("SIGKILL"), 5_000);
    await gone;
    clearTimeout(force);
  }

  get name(): string {
    return this.#name;
  }
}
