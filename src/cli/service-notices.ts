import { type ChildProcess, spawn } from "node:child_process";
import type { Environment } from "../config/named-files.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";

/** What systemd is told about the service: `man sd_notify`. */
type Notice = "READY=1" | "STOPPING=1" | "WATCHDOG=1";

/** Calls systemd-notify for each line that it is given. */
const HELPER = 'while read -r notice; do systemd-notify "$notice"; done';
/** systemd advises half of the time. One notice may be late then. */
const NOTICES_IN_WATCHDOG_TIME = 3;

/**
 * Tells systemd that the service stops, and that its event loop turns, until the signal is aborted. Does
 * nothing where systemd does not listen.
 *
 * @returns what the service calls when it is ready
 */
export function noticesOf(env: Environment, clock: Clock, log: Log, stop: AbortSignal): () => void {
  if (env.NOTIFY_SOCKET === undefined) return () => {};
  const tell = teller(log);
  const watchdogMs = Number(env.WATCHDOG_USEC ?? 0) / 1_000;
  if (watchdogMs > 0)
    every(clock, watchdogMs / NOTICES_IN_WATCHDOG_TIME, stop, () => tell("WATCHDOG=1", false));
  stop.addEventListener("abort", () => tell("STOPPING=1", true), { once: true });
  return () => tell("READY=1", false);
}

/**
 * Node.js has no datagram sockets. A small shell of its own calls systemd-notify, because each fork of the
 * gateway would copy the tables of its memory.
 */
function teller(log: Log): (notice: Notice, isLast: boolean) => void {
  let helper: ChildProcess | null = null;
  const begin = () => {
    const child = spawn("sh", ["-c", HELPER], { stdio: ["pipe", "ignore", "inherit"] });
    child.on("error", (error) => log.warn({ err: error }, "systemd cannot be told how the gateway is"));
    // It ends when somebody kills it: the next notice begins another.
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
