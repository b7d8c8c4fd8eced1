import { type ChildProcess, spawn } from "node:child_process";
import { writeSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import type { Clock } from "../platform/clock.ts";
import { describeError } from "../platform/error-text.ts";
import type { Log } from "../platform/log.ts";

/** A notice about the service for systemd: `man sd_notify`. */
export type Notice = "READY=1" | "STOPPING=1" | "WATCHDOG=1" | `STATUS=${string}`;

/** Sends a notice. After the last one the process may end. */
export type SendNotice = (notice: Notice, isLast: boolean) => void;

/** Calls systemd-notify for each line of its input. */
const HELPER = 'while read -r notice; do systemd-notify "$notice"; done';
/** How soon a busy systemd is tried again. */
const RETRY_MS = 200;
const MOST_WAITING = 20;

/**
 * Node.js cannot open a datagram socket (docs/internals/decisions.md, systemd is told through a socket that
 * Perl opens). If the package's start has not opened one, a helper process sends the notices.
 */
export function createNoticeSender(env: Environment, clock: Clock, log: Log): SendNotice {
  const fd = Number(env.FLEETGATE_NOTIFY_FD ?? Number.NaN);
  return Number.isInteger(fd) ? socketSender(fd, clock, log) : helperSender(log);
}

/** Each write to the socket is one notice. It does not block: systemd may be busy for seconds. */
function socketSender(fd: number, clock: Clock, log: Log): SendNotice {
  const waiting: Notice[] = [];
  let isRetrying = false;
  let hasFailed = false;

  function flush(): void {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      try {
        writeSync(fd, next);
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "EAGAIN") {
          retry();
          return;
        }
        if (!hasFailed)
          log.warn({ cause: describeError(error) }, "systemd cannot be told how the gateway is");
        hasFailed = true;
      }
      waiting.shift();
    }
  }

  function retry(): void {
    if (isRetrying) return;
    isRetrying = true;
    clock.after(RETRY_MS, () => {
      isRetrying = false;
      flush();
    });
  }

  return (notice) => {
    if (waiting.length < MOST_WAITING || notice === "READY=1") waiting.push(notice);
    flush();
  };
}

/**
 * A separate shell calls systemd-notify: each fork of the gateway would copy the page tables of its memory.
 */
function helperSender(log: Log): SendNotice {
  let helper: ChildProcess | null = null;
  const begin = () => {
    const child = spawn("sh", ["-c", HELPER], { stdio: ["pipe", "ignore", "inherit"] });
    child.on("error", (error) => log.warn({ err: error }, "systemd cannot be told how the gateway is"));
    // It ends if somebody kills it: the next notice starts another one.
    child.on("exit", () => {
      if (helper === child) helper = null;
    });
    child.stdin.on("error", () => {});
    child.unref();
    return child;
  };
  return (notice, isLast) => {
    helper ??= begin();
    helper.stdin?.write(`${notice}\n`);
    // An open pipe would keep the process alive.
    if (isLast) helper.stdin?.end();
  };
}
