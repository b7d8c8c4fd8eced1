import { createConnection, type Socket } from "node:net";
import { type Clock, sleep } from "./clock.ts";
import type { Component } from "./component.ts";
import { messageOf } from "./error-text.ts";
import type { Log } from "./log.ts";
import { onAbort } from "./on-abort.ts";

export interface JournalStreamOptions {
  /** The path of systemd's journal: `JOURNAL_PATH`, except in tests. */
  readonly path: string;
  /** The name of the lines in the journal. */
  readonly identifier: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Copies lines to systemd's journal. */
export interface JournalStream extends Component {
  /** Queues a line. Never throws and never waits; a line beyond the bound is lost, counted and logged. */
  send(priority: keyof typeof priorities, line: string): void;
}

export const JOURNAL_PATH = "/run/systemd/journal/stdout";

/** As `man sd-daemon` has them. */
const priorities = { warning: 4, notice: 5 } as const;
const MOST_WAITING = 2_000;
const MOST_WAITING_BYTES = 4_000_000;
const RETRY_MS = 5_000;
/** How long a shutdown waits until the journal has the last lines. */
const LAST_LINES_MS = 500;

/**
 * Writes to the stream that `systemd-cat` uses too: a header, then lines with a priority each
 * (sd_journal_stream_fd in systemd's journal-send.c). A line counts as sent when the kernel has taken it.
 * After a broken connection some may come twice.
 */
export function createJournalStream({ path, identifier, clock, log }: JournalStreamOptions): JournalStream {
  const waiting: string[] = [];
  let waitingBytes = 0;
  /** The open connection, and how many of the waiting lines were written to it. */
  let open: { readonly socket: Socket; written: number } | null = null;
  let sent = 0;
  let lost = 0;
  let problem: string | null = null;

  function write(): void {
    const to = open;
    if (to === null) return;
    for (; to.written < waiting.length; to.written += 1) {
      to.socket.write(`${waiting[to.written]}\n`, (error) => {
        if (error !== null && error !== undefined) return;
        to.written -= 1;
        waitingBytes -= waiting.shift()?.length ?? 0;
        sent += 1;
      });
    }
  }

  /**
   * Resolves with the reason when the connection is lost, or when the signal is aborted and all is written.
   */
  function connection(signal: AbortSignal): Promise<string> {
    return new Promise((resolve) => {
      let reason = "the journal has closed the connection";
      // The journal ends its own side at once.
      const socket = createConnection({ path, allowHalfOpen: true });
      socket.resume();
      socket.unref();
      const stopListening = onAbort(signal, () => {
        if (open === null) socket.destroy();
        else socket.end(() => socket.destroy());
        clock.after(LAST_LINES_MS, () => socket.destroy());
      });
      socket.on("error", (error) => {
        reason = messageOf(error);
      });
      socket.on("connect", () => {
        const [noUnit, hasPriorities, noForwarding] = ["", "1", "0"];
        const header = [identifier, noUnit, priorities.notice, hasPriorities];
        socket.write(`${[...header, noForwarding, noForwarding, noForwarding].join("\n")}\n`);
        open = { socket, written: 0 };
        if (problem !== null) log.info({ lost }, "the audit log is copied to journald again");
        problem = null;
        write();
      });
      socket.on("close", () => {
        stopListening();
        open = null;
        resolve(reason);
      });
    });
  }

  return {
    name: "journald",
    send(priority, line) {
      if (waiting.length >= MOST_WAITING || waitingBytes + line.length > MOST_WAITING_BYTES) {
        if (lost === 0) log.error({}, "too many lines wait for journald: further ones are not copied");
        lost += 1;
        return;
      }
      const text = `<${priorities[priority]}>${line}`;
      waiting.push(text);
      waitingBytes += text.length;
      write();
    },
    async run(signal, ready) {
      ready();
      while (!signal.aborted) {
        const cause = await connection(signal);
        if (signal.aborted) break;
        if (problem === null) log.warn({ cause }, "the audit log is not copied to journald");
        problem = cause;
        await sleep(clock, RETRY_MS, signal);
      }
      if (waiting.length > 0) log.warn({ left: waiting.length }, "lines were not copied to journald");
    },
    health() {
      const figures = { sent, lost, waiting: waiting.length };
      if (problem === null) return { state: "up", figures };
      const losses = lost === 0 ? "" : `, ${lost} were lost since the start`;
      return {
        state: "degraded",
        detail: `the audit log is not copied to journald: ${problem}; ${waiting.length} lines wait${losses}; the file has all`,
        figures,
      };
    },
  };
}
