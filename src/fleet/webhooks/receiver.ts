import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmod, rename } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { Socket } from "node:net";
import { join } from "node:path";
import { listenOn } from "../../platform/backoff.ts";
import type { Clock } from "../../platform/clock.ts";
import { makeFolder } from "../../platform/folder.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import { readIfThere, replaceFile } from "../../platform/kept-file.ts";
import type { Log } from "../../platform/log.ts";
import { digestOf } from "../../platform/password.ts";
import { acceptedPair } from "../../platform/tls-files.ts";
import type { WebhookOptions } from "../options.ts";

/** The gateway's own header, which every delivery carries. */
export const SECRET_HEADER = "x-fleetgate-secret";

/** Counts of the receiver since the start. */
interface ReceiverCounts {
  /** Answered 204. */
  received: number;
  /** Without the secret: answered 401, and not read. */
  unauthorized: number;
  /** With the secret, but no delivery. */
  unfit: number;
  /** Open connections. */
  readonly connections: number;
  /** Connections that were closed at once because there were too many. */
  closed: number;
}

/** An HTTPS server for the service's deliveries. */
export interface Receiver {
  readonly counts: ReceiverCounts;
  /** Whether all allowed connections were in use within the last half minute. Logs a change. */
  isFull(): boolean;
  /** The port on which it listens; 0 before. */
  port(): number;
  /** Resolves when the port is bound. Rejects if that is not possible now; it may be called again. */
  open(secret: string): Promise<void>;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** The largest body that is parsed in one go. A queue of 100 missions has 60 kB. */
const LARGEST_BODY_BYTES = 256 * 1024;
const LONGEST_EVENT_ID = 256;
const MOST_CONNECTIONS = 200;
/** A client that holds all connections loses some now and then, so one moment with room proves nothing. */
const FULL_MS = 30_000;
/**
 * Anyone can connect: a client without a request within this time is closed, which makes room for the
 * service.
 */
const LIMITS = {
  handshakeTimeout: 5_000,
  headersTimeout: 5_000,
  requestTimeout: 15_000,
  keepAliveTimeout: 60_000,
  connectionsCheckingInterval: 1_000,
  maxHeaderSize: 16_384,
};

/** Header names contain the maker's own word: X-Service-Webhook-Event-Id here, another one elsewhere. */
const EVENT_ID_HEADER = /^x-.+-webhook-event-id$/;

/**
 * Receives deliveries: checks the secret before anything else, in constant time; reads a bounded body in
 * bounded time; answers at once. `deliver` is called after the answer has left, so that the gateway's work
 * causes no timeout at the service.
 */
export function createReceiver(
  options: Pick<WebhookOptions, "listen" | "tls">,
  clock: Clock,
  log: Log,
  deliver: (eventId: string, body: string) => void,
): Receiver {
  /** When a connection was last closed for lack of room; null: not within FULL_MS. */
  let closedAtMs: number | null = null;
  let expected = digestOf("");
  const server = createServer(LIMITS, (request, response) => {
    receive(request, response);
  });
  server.maxConnections = MOST_CONNECTIONS;
  /** Including those in their handshake, which `closeAllConnections` does not know. */
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const counts: ReceiverCounts = {
    received: 0,
    unauthorized: 0,
    unfit: 0,
    get connections() {
      return sockets.size;
    },
    closed: 0,
  };
  server.on("drop", () => {
    counts.closed += 1;
    if (!isFull()) {
      log.warn({ connections: MOST_CONNECTIONS }, "webhook connections are closed, for there are too many");
    }
    closedAtMs = clock.monotonicMs();
  });

  function isFull(): boolean {
    if (closedAtMs === null) return false;
    if (clock.monotonicMs() - closedAtMs <= FULL_MS) return true;
    closedAtMs = null;
    log.info({}, "webhook connections are taken again");
    return false;
  }

  function refuse(response: ServerResponse, status: number): void {
    if (status === 401) counts.unauthorized += 1;
    else counts.unfit += 1;
    response.writeHead(status, { connection: "close" }).end();
  }

  function receive(request: IncomingMessage, response: ServerResponse): void {
    const given = request.headers[SECRET_HEADER];
    // Digests have one length, so the comparison reveals nothing of the secret's length.
    const isFriend = typeof given === "string" && timingSafeEqual(digestOf(given), expected);
    const eventId = eventIdOf(request);
    if (!isFriend) refuse(response, 401);
    else if (request.method !== "POST") refuse(response, 405);
    else if (eventId === null) refuse(response, 400);
    else take(request, response, eventId);
  }

  function take(request: IncomingMessage, response: ServerResponse, eventId: string): void {
    readBody(request, (body) => {
      if (body === null) {
        refuse(response, 413);
        return;
      }
      counts.received += 1;
      response.writeHead(204).end();
      setImmediate(() => deliver(eventId, body));
    });
  }

  return {
    counts,
    isFull,
    port() {
      const address = server.address();
      return typeof address === "object" && address !== null ? address.port : 0;
    },
    async open(secret) {
      expected = digestOf(secret);
      server.setSecureContext(await acceptedPair(options.tls));
      await listenOn(server, "fleet.events", options.listen);
      // A connection could not be accepted; the service tries again.
      server.on("error", (error) => log.warn({ err: error }, "a webhook connection was not taken"));
    },
    close() {
      return new Promise((resolve) => {
        // An error means that it never listened, which counts as closed.
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      });
    },
  };
}

function eventIdOf({ headers }: IncomingMessage): string | null {
  const name = Object.keys(headers).find((header) => EVENT_ID_HEADER.test(header));
  const value = name === undefined ? undefined : headers[name];
  return typeof value === "string" && value !== "" && value.length <= LONGEST_EVENT_ID ? value : null;
}

/** Calls `done` with the whole body, or with null once it is too large. Never for a body that breaks off. */
function readBody(request: IncomingMessage, done: (body: string | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    if (bytes > LARGEST_BODY_BYTES) return;
    bytes += chunk.length;
    if (bytes > LARGEST_BODY_BYTES) done(null);
    else chunks.push(chunk);
  });
  request.on("end", () => {
    if (bytes <= LARGEST_BODY_BYTES) done(Buffer.concat(chunks).toString("utf8"));
  });
}

/** Identifies a gateway's own subscriptions, and their deliveries. */
export interface Identity {
  /** Stands in the description of our subscriptions. It is no secret. */
  readonly instance: string;
  /**
   * Stands in a header of every delivery, because deliveries are not signed (docs/internals/service.md,
   * WHK-37).
   */
  readonly secret: string;
}

const FILE = "webhook-secret.json";
const OWNER_ONLY = 0o600;

/**
 * Reads the identity in `directory`, or makes one there. A damaged file is renamed and logged: the earlier
 * subscriptions are then unknown. Rejects if the file cannot be read or written.
 */
export async function loadIdentity(directory: string, nowMs: number, log: Log): Promise<Identity> {
  await makeFolder(directory);
  const path = join(directory, FILE);
  const text = await readIfThere(path);
  if (text === undefined) return makeIdentity(path);
  await chmod(path, OWNER_ONLY);
  const kept = identityIn(text);
  if (kept === null) {
    const keptAs = `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(":", "-")}`;
    await rename(path, keptAs);
    log.error(
      { path, keptAs },
      "the secret of webhooks cannot be read: subscriptions of before are refused, and new ones are made",
    );
    return makeIdentity(path);
  }
  return kept;
}

/** The identity in `directory`; null: none can be read. */
export async function readIdentity(directory: string): Promise<Identity | null> {
  const text = await readIfThere(join(directory, FILE));
  return text === undefined ? null : identityIn(text);
}

function identityIn(text: string): Identity | null {
  const kept = parsedJson(text);
  const { instance, secret } = isJsonObject(kept) ? kept : {};
  if (typeof instance !== "string" || typeof secret !== "string" || secret.length < 32) return null;
  return { instance, secret };
}

async function makeIdentity(path: string): Promise<Identity> {
  const identity = {
    instance: randomBytes(8).toString("hex"),
    secret: randomBytes(32).toString("base64url"),
  };
  await replaceFile(path, JSON.stringify(identity), { mode: OWNER_ONLY });
  return identity;
}
