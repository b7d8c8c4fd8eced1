import { hostname } from "node:os";
import { type Chance, createBackoff } from "../backoff.ts";
import { type Clock, sleep } from "../clock.ts";
import type { Component } from "../component.ts";
import { connectFaultText } from "../connect-fault.ts";
import { messageOf } from "../error-text.ts";
import type { Log } from "../log.ts";
import { onAbort } from "../on-abort.ts";
import { urlHost } from "../url-host.ts";
import { within } from "../within.ts";
import { journalLine, type SyslogMessage, syslogLine } from "./syslog-message.ts";
import { createSyslogQueue } from "./syslog-queue.ts";
import { openSyslogWire, type SyslogTarget, type SyslogWire } from "./syslog-wire.ts";

export interface SyslogParts {
  readonly target: SyslogTarget;
  /** The key of the configuration that names the target. */
  readonly key: string;
  /** The name of the sender. */
  readonly app: string;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly log: Log;
}

/** Copies messages to a target. */
export interface SyslogSender extends Component {
  /** Queues a message. Never throws and never waits; one that cannot wait is counted and logged. */
  send(message: SyslogMessage): void;
}

const OPEN_MS = 10_000;
/** A target that takes nothing for so long counts as away. */
const WRITE_MS = 30_000;
/** What a shutdown waits for the target to take the last messages. */
const LAST_WORDS_MS = 500;
/** A target that closes sooner does not reset the backoff: a server may accept and close at once. */
const STEADY_MS = 10_000;
const BACKOFF = { baseMs: 1_000, capMs: 30_000 };

/**
 * Sends in the order in which messages came. A message counts as sent when the kernel has taken it: syslog
 * has no answer. After a broken connection some may come twice.
 */
export function createSyslogSender(parts: SyslogParts): SyslogSender {
  const { target, app, clock, log } = parts;
  const where = targetText(target);
  const origin = { host: hostname(), app, pid: process.pid };
  const queue = createSyslogQueue();
  const backoff = createBackoff(BACKOFF, parts.chance);
  let sent = 0;
  let sequence = 0;
  let problem: string | null = null;
  let isFull = false;
  let wake = () => {};

  function failed(error: unknown): void {
    const reason = reasonOf(error, parts);
    if (problem === null) log.warn({ target: where, cause: reason }, "the audit log is not copied to syslog");
    problem = reason;
  }

  function works(): void {
    if (problem === null) return;
    problem = null;
    log.info({ target: where, lost: queue.lost() }, "the audit log is copied to syslog again");
  }

  /** Sends until the signal is aborted and nothing waits. Rejects when the way is gone. */
  async function serve(wire: SyslogWire, gone: () => Error | null, signal: AbortSignal, giveUp: AbortSignal) {
    if (wire.isAnswered || queue.length() === 0) works();
    for (;;) {
      const cause = gone();
      if (cause !== null) throw cause;
      if (queue.length() > 0) await handOver(wire, giveUp);
      else if (signal.aborted) return;
      else await woken(signal);
    }
  }

  function woken(signal: AbortSignal): Promise<void> {
    let stopListening = () => {};
    return new Promise<void>((resolve) => {
      wake = resolve;
      stopListening = onAbort(signal, resolve);
    }).finally(() => stopListening());
  }

  async function handOver(wire: SyslogWire, giveUp: AbortSignal): Promise<void> {
    const batch = queue.first();
    await within(giveUp, WRITE_MS, (until) => wire.write(batch, until));
    queue.remove(batch);
    sent += batch.length;
    if (queue.length() === 0) isFull = false;
    works();
  }

  async function attempt(signal: AbortSignal): Promise<void> {
    const giveUp = new AbortController();
    const stopListening = onAbort(signal, () => clock.after(LAST_WORDS_MS, () => giveUp.abort()));
    let wire: SyslogWire | null = null;
    let cause: Error | null = null;
    const beganAtMs = clock.monotonicMs();
    const onGone = (error: Error) => {
      cause = error;
      wake();
    };
    try {
      wire = await within(signal, OPEN_MS, (until) => openSyslogWire(target, app, until, onGone));
      await serve(wire, () => cause, signal, giveUp.signal);
    } catch (error) {
      if (!signal.aborted) failed(error);
    } finally {
      stopListening();
      wire?.close();
      if (wire !== null && clock.monotonicMs() - beganAtMs >= STEADY_MS) backoff.reset();
    }
  }

  return {
    name: "syslog",
    send(message) {
      sequence += 1;
      const line = target.kind === "journald" ? journalLine(message) : syslogLine(message, origin, sequence);
      if (!queue.push(line)) {
        if (!isFull)
          log.error({ target: where }, "too many lines wait for syslog: further ones are not copied");
        isFull = true;
      }
      wake();
    },
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        await attempt(signal);
        if (!signal.aborted) await sleep(clock, backoff.nextMs(), signal);
      }
      if (queue.length() > 0)
        log.warn({ target: where, left: queue.length() }, "lines were not copied to syslog");
    },
    health() {
      const figures = { sent, lost: queue.lost(), waiting: queue.length() };
      if (problem === null) return { state: "up", figures };
      const lost = queue.lost() === 0 ? "" : `, ${queue.lost()} were lost since the start`;
      return {
        state: "degraded",
        detail: `the audit log is not copied to ${where}: ${problem}; ${queue.length()} lines wait${lost}; the file has all`,
        figures,
      };
    },
  };
}

function targetText(target: SyslogTarget): string {
  return target.kind === "journald" ? "journald" : `${target.kind}://${urlHost(target.host)}:${target.port}`;
}

function reasonOf(error: unknown, { target, key, clock }: SyslogParts): string {
  if (target.kind === "journald") return messageOf(error);
  const peer = { key, host: target.host, port: target.port, caKey: null, certificateKey: null };
  return connectFaultText(error, peer, new Date(clock.nowMs()).toISOString(), messageOf(error));
}
