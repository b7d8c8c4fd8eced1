import { createSocket, type Socket as Datagrams } from "node:dgram";
import { lookup } from "node:dns/promises";
import { createConnection, type Socket } from "node:net";
import { onAbort } from "../on-abort.ts";

/** Where a copy of the audit log goes: the machine's journal, or a syslog server. */
export type SyslogTarget =
  | { readonly kind: "journald"; readonly path: string }
  | { readonly kind: "udp" | "tcp"; readonly host: string; readonly port: number };

/** An open way to a target. */
export interface SyslogWire {
  /** Resolves when the kernel has taken all of them; rejects when the way is gone, or the signal aborted. */
  write(messages: readonly string[], signal: AbortSignal): Promise<void>;
  /** Whether somebody is known to be at the other end before anything was written. */
  readonly isAnswered: boolean;
  close(): void;
}

/** Called once, when the way is gone. */
type OnGone = (cause: Error) => void;

/** Opens a way to the target. */
export function openSyslogWire(
  target: SyslogTarget,
  app: string,
  signal: AbortSignal,
  onGone: OnGone,
): Promise<SyslogWire> {
  switch (target.kind) {
    case "udp":
      return openUdp(target.host, target.port, onGone);
    case "tcp": {
      const { host, port } = target;
      return openStream(createConnection({ host, port }), signal, onGone, octetCounted);
    }
    case "journald": {
      // The journal ends its side at once.
      const { path } = target;
      return openJournal(createConnection({ path, allowHalfOpen: true }), app, signal, onGone);
    }
  }
}

/** Each message has its length before it (RFC 6587, 3.4.1): a line break in it would end no message. */
function octetCounted(message: string): string {
  return `${Buffer.byteLength(message)} ${message}`;
}

/**
 * The stream of systemd's journal, which `systemd-cat` uses too: a header, then lines with a priority each
 * (sd_journal_stream_fd in systemd's journal-send.c).
 */
async function openJournal(
  socket: Socket,
  app: string,
  signal: AbortSignal,
  onGone: OnGone,
): Promise<SyslogWire> {
  const wire = await openStream(socket, signal, onGone, (line) => `${line}\n`);
  const [noUnit, notice, hasPriorities, noForwarding] = ["", "5", "1", "0"];
  const header = [app, noUnit, notice, hasPriorities, noForwarding, noForwarding, noForwarding];
  socket.write(`${header.join("\n")}\n`);
  return wire;
}

const KEEPALIVE_MS = 60_000;

async function openStream(
  socket: Socket,
  signal: AbortSignal,
  onGone: OnGone,
  frame: (message: string) => string,
): Promise<SyslogWire> {
  const end = createEnd(onGone);
  socket.on("error", end.came);
  socket.on("close", () => end.came(new Error("the other side has closed the connection")));
  // Nothing is expected; unread bytes would hide that the other side has gone.
  socket.resume();
  socket.unref();
  const destroy = () => socket.destroy();
  await end.unless(signal, destroy, (done) => socket.on("connect", () => done(null)));
  socket.setKeepAlive(true, KEEPALIVE_MS);
  return {
    isAnswered: true,
    write: (messages, until) =>
      end.unless(until, destroy, (done) => {
        socket.write(messages.map(frame).join(""), (error) => done(error ?? null));
      }),
    close: () => socket.destroySoon(),
  };
}

/** A target that nothing listens at says so within this time, where it says it at all. */
const REFUSAL_MS = 50;

async function openUdp(host: string, port: number, onGone: OnGone): Promise<SyslogWire> {
  const { address, family } = await lookup(host);
  const socket = createSocket(family === 6 ? "udp6" : "udp4");
  const end = createEnd(onGone);
  socket.on("error", end.came);
  socket.unref();
  await new Promise<void>((resolve) => socket.connect(port, address, resolve));
  return {
    isAnswered: false,
    async write(messages, until) {
      await Promise.all(messages.map((message) => send(socket, message)));
      await end.unless(
        until,
        () => {},
        (done) => void setTimeout(() => done(null), REFUSAL_MS).unref(),
      );
    },
    close: () => socket.close(),
  };
}

function send(socket: Datagrams, message: string): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message, (error) => (error === null ? resolve() : reject(error)));
  });
}

type Done = (error: Error | null) => void;

/** The end of a connection, and the writes that it makes fail. */
function createEnd(onGone: OnGone) {
  let cause: Error | null = null;
  const waiting = new Set<Done>();
  return {
    came(error: Error): void {
      if (cause !== null) return;
      cause = error;
      for (const done of [...waiting]) done(error);
      onGone(error);
    },
    /** Resolves when `start` says that it is done; rejects at the end of the way, or when aborted. */
    unless(signal: AbortSignal, giveUp: () => void, start: (done: Done) => void): Promise<void> {
      return new Promise((resolve, reject) => {
        const done: Done = (error) => {
          if (!waiting.delete(done)) return;
          stopListening();
          if (error === null) resolve();
          else reject(error);
        };
        waiting.add(done);
        let stopListening = () => {};
        stopListening = onAbort(signal, () => {
          done(signal.reason);
          giveUp();
        });
        if (cause !== null) done(cause);
        else start(done);
      });
    },
  };
}
