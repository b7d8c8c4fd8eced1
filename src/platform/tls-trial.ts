import { isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { within } from "./clock.ts";
import { lateError } from "./connect-fault.ts";

/** A server that speaks TLS. PEM texts. */
interface TlsServer {
  readonly host: string;
  readonly port: number;
  /** The trusted CAs; null: the system's. */
  readonly ca: string | null;
  readonly client: { readonly certificate: string; readonly key: string } | null;
  /** The application protocols to offer; empty: none. */
  readonly protocols: readonly string[];
  /** A tunnel to the server; null: connect. */
  readonly tunnel: Socket | null;
}

/** The server to try. */
export interface TlsTrialOptions extends TlsServer {
  /** Whether to ask for the page `/` without any credentials, to read the Date of its answer. */
  readonly asksDate: boolean;
}

/** The result, once TLS was spoken. */
export interface TlsTrial {
  /** Why the certificate is not accepted, with the certificate in `cert`; null: it is accepted. */
  readonly distrust: Error | null;
  /** The protocol that was agreed on; null: none. */
  readonly protocol: string | null;
  /** The Date of the answer, and whether there was an answer of HTTP at all. */
  readonly date: string | null;
  readonly speaksHttp: boolean;
  /** Monotonic milliseconds at which the request had left. */
  readonly askedAtMs: number;
}

const LONGEST_HEAD = 16_384;

/**
 * Makes one TLS connection to a server and closes it. A certificate that is not accepted does not end the
 * trial: the server's Date shows whether a clock is the reason. Sends no secret. Rejects if no TLS is spoken.
 */
export function tryTls(options: TlsTrialOptions, limitMs: number, signal: AbortSignal): Promise<TlsTrial> {
  return within(signal, limitMs, async (bounded) => {
    const socket = await openTls(options, { rejectUnauthorized: false }, bounded);
    try {
      const protocol = socket.alpnProtocol === false ? null : socket.alpnProtocol;
      const distrust = distrustOf(socket);
      const askedAtMs = performance.now();
      const head = options.asksDate ? await readHead(socket, options.host, bounded) : "";
      return {
        distrust,
        protocol,
        date: /^date:[ \t]*(.*?)\r?$/im.exec(head)?.[1] ?? null,
        speaksHttp: head.startsWith("HTTP/1."),
        askedAtMs,
      };
    } finally {
      socket.destroy();
    }
  });
}

/** Resolves when TLS is spoken. The socket is destroyed when the signal is aborted, then or later. */
export function openTls(
  { host, port, ca, client, protocols, tunnel }: TlsServer,
  { rejectUnauthorized }: Required<Pick<ConnectionOptions, "rejectUnauthorized">>,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const settings: ConnectionOptions = {
    // Also through a proxy's tunnel: the certificate is checked for this name.
    host,
    rejectUnauthorized,
    // RFC 6066 allows no IP address as the server's name.
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
    ...(tunnel === null ? { port } : { socket: tunnel }),
    ...(ca === null ? {} : { ca }),
    ...(client === null ? {} : { cert: client.certificate, key: client.key }),
  };
  return new Promise((resolve, reject) => {
    const socket = connect(settings);
    const giveUp = () => {
      socket.destroy();
      reject(lateError(socket));
    };
    socket.once("secureConnect", () => resolve(socket));
    // It stays, so that a late error does not end the process.
    socket.on("error", reject);
    socket.once("close", () => reject(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
    signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** Node has a code for some errors, and a sentence for others. */
function distrustOf(socket: TLSSocket): Error | null {
  if (socket.authorized) return null;
  const reason = String(socket.authorizationError);
  return Object.assign(new Error(sentenceOf(socket) ?? reason), {
    code: reason,
    cert: socket.getPeerCertificate() as PeerCertificate,
  });
}

/** OpenSSL's message, which Node.js gives to nobody who keeps the connection open. */
function sentenceOf(socket: TLSSocket): string | null {
  const handle: unknown = Reflect.get(socket, "_handle");
  if (typeof handle !== "object" || handle === null) return null;
  const verifyError: unknown = Reflect.get(handle, "verifyError");
  if (typeof verifyError !== "function") return null;
  const error: unknown = verifyError.call(handle);
  return error instanceof Error ? error.message : null;
}

/** The head of the answer, or the part of it that came. */
function readHead(socket: TLSSocket, host: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    let head = "";
    const done = () => resolve(head);
    socket.on("data", (bytes: Buffer) => {
      head += bytes.toString("latin1");
      if (head.includes("\r\n\r\n") || head.length > LONGEST_HEAD) done();
    });
    socket.once("close", done);
    signal.addEventListener("abort", done, { once: true });
    socket.write(`HEAD / HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
  });
}
