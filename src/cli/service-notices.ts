import type { Environment } from "../config/environment.ts";
import { clip } from "../domain/clip.ts";
import { type Clock, every } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import type { Hang } from "../platform/liveness.ts";
import type { Log } from "../platform/log.ts";
import { createNoticeSender } from "./notice-sender.ts";

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
