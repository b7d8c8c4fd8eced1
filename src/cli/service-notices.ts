import { type ChildProcess, spawn } from "node:child_process";
import { writeSync } from "node:fs";
import type { Environment } from "../config/environment.ts";
import { clip } from "../domain/foreign-text.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import { describeError } from "../platform/error-text.ts";
import type { Hang } from "../platform/liveness.ts";
import type { Log } from "../platform/log.ts";

/** The content of the notices. */
export interface ServiceFacts {
  health(): Readonly<Record<string, Health>>;
  hang(): Hang | null;
}

/** Notifies systemd about the service. */
export interface ServiceNotices {
  /** From now on systemd gets these facts. */
  watch(facts: ServiceFacts): void;
  ready(): void;
}

/** systemd advises half of the time. With three, one notice may be late. */
const NOTICES_IN_WATCHDOG_TIME = 3;
/** Each status may need a process of its own. */
const STATUS_PERIOD_MS = 5_000;

/**
 * Notifies systemd of the service's state, of its stop, and that its components live, until the signal is
 * aborted. Does nothing if systemd does not listen.
 */
export function noticesOf(env: Environment, clock: Clock, log: Log, stop: AbortSignal): ServiceNotices {
  if (env.NOTIFY_SOCKET === undefined) return { watch() {}, ready() {} };
  const notify = createNoticeSender(env, clock, log);
  let facts: ServiceFacts = { health: () => ({}), hang: () => null };
  let sent = "";

  function notifyStatus(): void {
    const text = statusText(facts.health());
    if (text === sent) return;
    sent = text;
    notify(`STATUS=${text}`, false);
  }

  const notifyAlive = livenessNotifier(
    () => facts.hang(),
    log,
    () => notify("WATCHDOG=1", false),
  );
  const watchdogMs = Number(env.WATCHDOG_USEC ?? 0) / 1_000;
  if (watchdogMs > 0) every(clock, watchdogMs / NOTICES_IN_WATCHDOG_TIME, stop, notifyAlive);
  every(clock, STATUS_PERIOD_MS, stop, notifyStatus);
  stop.addEventListener(
    "abort",
    () => {
      notify("STATUS=Stopping", false);
      notify("STOPPING=1", true);
    },
    { once: true },
  );
  return {
    watch(those) {
      facts = those;
      if (!stop.aborted) notifyStatus();
    },
    ready() {
      if (stop.aborted) return;
      notify("READY=1", false);
      notifyStatus();
    },
  };
}

/**
 * @returns a function that reports that the components live, unless one is stalled; the log names it, once
 */
function livenessNotifier(hang: () => Hang | null, log: Log, notify: () => void): () => void {
  let hanging: string | null = null;
  return () => {
    const found = hang();
    if (found === null) {
      if (hanging !== null) log.info({ part: hanging }, "the part works again");
      hanging = null;
      return notify();
    }
    if (hanging !== found.part)
      log.error(
        { ...found },
        "a part hangs: systemd is not told that the gateway lives, and starts it again",
      );
    hanging = found.part;
  };
}

/** As much as a terminal shows without a pager. */
const LONGEST = 400;
const LONGEST_DETAIL = 120;
/** What an operator looks for first. */
const links = ["fleet", "mqtt", "opcua"];

/**
 * One sentence for `systemctl status`: the robots, the links, and the problems. It has no line breaks and no
 * control characters, and its length is bounded: it goes through a shell that reads lines, and to a terminal.
 */
export function statusText(health: Readonly<Record<string, Health>>): string {
  const figures = health.state?.figures;
  if (figures === undefined) return "Opening the stores";
  const { robots = 0, robotsGood = 0 } = figures;
  const shown = Object.entries(health).filter(
    ([name, { state }]) => links.includes(name) || !["up", "starting"].includes(state),
  );
  const parts = shown.map(([name, { state, detail }]) =>
    state === "up" || detail === undefined
      ? `${name} ${state}`
      : `${name} ${state} (${clip(detail, LONGEST_DETAIL)})`,
  );
  const text = [`${robotsGood} of ${robots} robots good`, ...parts].join("; ");
  return clip(text.replace(/[\s\p{C}]+/gu, " "), LONGEST);
}

/** A notice about the service for systemd: `man sd_notify`. */
type Notice = "READY=1" | "STOPPING=1" | "WATCHDOG=1" | `STATUS=${string}`;

/** Sends a notice. After the last one the process may end. */
type SendNotice = (notice: Notice, isLast: boolean) => void;

/** Calls systemd-notify for each line of its input. */
const HELPER = 'while read -r notice; do systemd-notify "$notice"; done';
/** How soon a busy systemd is tried again. */
const RETRY_MS = 200;
const MOST_WAITING = 20;

/**
 * Node.js cannot open a datagram socket (docs/internals/decisions.md, systemd is told through a socket that
 * Perl opens). If the package's start has not opened one, a helper process sends the notices.
 */
function createNoticeSender(env: Environment, clock: Clock, log: Log): SendNotice {
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
