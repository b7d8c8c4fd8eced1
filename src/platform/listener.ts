import { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { isCode } from "./error-text.ts";

/** A listener could not have its port, because another program has it. */
export class PortTaken extends Error {
  readonly port: number;
  /** The listener of ours, as `web` or `mqtt`. */
  readonly listener: string;

  constructor(listener: string, port: number, options?: ErrorOptions) {
    super(`port ${port}, wanted for ${listener}, is taken by another program`, options);
    this.name = "PortTaken";
    this.listener = listener;
    this.port = port;
  }
}

/** The system refuses a listener its address. */
export class PortRefused extends Error {
  readonly port: number;
  readonly listener: string;
  readonly code: RefusalCode;

  constructor(listener: string, port: number, code: RefusalCode, options?: ErrorOptions) {
    super(`port ${port}, wanted for ${listener}, is refused (${code})`, options);
    this.name = "PortRefused";
    this.listener = listener;
    this.port = port;
    this.code = code;
  }
}

/** EACCES: a privilege is missing; EADDRNOTAVAIL: no address of this machine. */
type RefusalCode = "EACCES" | "EADDRNOTAVAIL";

/** The error of a failed `listen`, by its reason if that is known; otherwise the error as it came. */
export function listenError(error: unknown, listener: string, port: number): unknown {
  const code = listenCode(error);
  if (code === "EADDRINUSE") return new PortTaken(listener, port, { cause: error });
  return code === null ? error : new PortRefused(listener, port, code, { cause: error });
}

type ListenCode = RefusalCode | "EADDRINUSE";

/** Why a `listen` failed; null: not known. */
export function listenCode(error: unknown): ListenCode | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EACCES" || code === "EADDRNOTAVAIL" || code === "EADDRINUSE" ? code : null;
}

/**
 * What to do when the system refuses a listener its address.
 *
 * @param option the option or key that sets the port
 */
export function refusalAdvice(code: ListenCode, port: number, option: string): string {
  if (code === "EADDRINUSE")
    return `another program has it: end that program (ss -ltnp shows it), or choose another ${option}`;
  if (code === "EADDRNOTAVAIL")
    return "no network of this machine has the address: bring that network up, or write an address that it has, or 0.0.0.0 for all";
  return `a low port needs a privilege: choose one from 1024 on with ${option}, or allow it to all programs with sysctl net.ipv4.ip_unprivileged_port_start=${port}`;
}

/** Connections of one kind, such as the idle ones of a listener, with a bound for all of them. */
interface BoundedConnections {
  /**
   * Adds a connection. Beyond the bound, the oldest connection of the address with the most is closed. So an
   * address that opens connections without end costs no other address its own.
   */
  add(socket: Socket): void;
  /** The connection is no longer of this kind. */
  remove(socket: Socket): void;
  figures(): { readonly open: number; readonly closed: number };
}

/**
 * @param limit how many there may be now
 * @param onClose is called for each connection that was closed for another
 */
export function createBoundedConnections(
  limit: () => number,
  onClose: (address: string) => void,
): BoundedConnections {
  const byAddress = new Map<string, Set<Socket>>();
  const addresses = new Map<Socket, string>();
  /** Connections join and leave this kind again and again. */
  const watched = new WeakSet<Socket>();
  let closed = 0;

  function remove(socket: Socket): void {
    const address = addresses.get(socket);
    if (address === undefined) return;
    addresses.delete(socket);
    const others = byAddress.get(address);
    others?.delete(socket);
    if (others?.size === 0) byAddress.delete(address);
  }

  function closeOne(): void {
    let largest: ReadonlySet<Socket> = new Set();
    for (const sockets of byAddress.values()) if (sockets.size > largest.size) largest = sockets;
    const [oldest] = largest;
    if (oldest === undefined) return;
    const address = addresses.get(oldest) ?? "";
    remove(oldest);
    closed += 1;
    oldest.destroy();
    onClose(address);
  }

  return {
    add(socket) {
      if (socket.destroyed) return;
      // Unix sockets have no address: they count as one.
      const { remoteAddress = "" } = socket;
      remove(socket);
      addresses.set(socket, remoteAddress);
      byAddress.set(remoteAddress, (byAddress.get(remoteAddress) ?? new Set()).add(socket));
      if (!watched.has(socket)) socket.once("close", () => remove(socket));
      watched.add(socket);
      if (addresses.size > limit()) closeOne();
    },
    remove,
    figures: () => ({ open: addresses.size, closed }),
  };
}

/** Bytes that arrive for longer than this are not read any more. */
const READ_ON_MS = 1_000;

/**
 * Answers bytes that are no HTTP request, and closes the connection. It reads and ignores what the client
 * still sends: a connection that is closed with unread bytes is reset, and the client loses the answer. A
 * connection in its TLS handshake is closed without an answer (docs/internals/decisions.md, Each protocol of
 * the web listener has a server).
 *
 * @param text the whole HTTP answer
 */
export function answerLast(connection: Duplex, text: string): void {
  // Each further piece is reported as an error too.
  if (!connection.writable) return;
  // Inside of the answer to an earlier request, the client would read it as a part of that answer.
  if (isAnswering(connection)) return void connection.destroy();
  // Null until the handshake is finished.
  if (connection instanceof TLSSocket && connection.alpnProtocol === null) return void connection.destroy();
  connection.end(text);
  const timer = setTimeout(() => connection.destroy(), READ_ON_MS);
  timer.unref();
  connection.once("close", () => clearTimeout(timer));
}

/** Whether an answer has begun. Node keeps it with the connection, and looks there for the same purpose. */
function isAnswering(connection: Duplex): boolean {
  const message: unknown = Reflect.get(connection, "_httpMessage");
  return message instanceof ServerResponse && message.headersSent;
}

/**
 * Whether a process listens on the Unix socket at `path`. Only a refused connection shows that none does:
 * after any other error one may be there.
 */
export function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error) => resolve(!isCode(error, "ECONNREFUSED") && !isCode(error, "ENOENT")));
  });
}
