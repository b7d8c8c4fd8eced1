import { createServer, type Server, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createServer as createTlsServer, Server as TlsServer } from "node:tls";
import type { Aedes } from "aedes";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { beginListening, listenOn, type StartRetry, startOnce } from "../../../platform/backoff.ts";
import type { Clock } from "../../../platform/clock.ts";
import { aborted, type Component } from "../../../platform/component.ts";
import { closedPort } from "../../../platform/liveness.ts";
import type { Log } from "../../../platform/log.ts";
import { acceptedPair } from "../../../platform/tls-files.ts";
import type { BrokerUser, EmbeddedBrokerOptions } from "../options.ts";
import type { SparkplugTopics } from "../sparkplug/topics.ts";
import type { Topics } from "../topics.ts";
import { createAedes } from "./aedes.ts";
import { createIdentities, type Identities, nameOf } from "./authenticate.ts";
import {
  type ClientSockets,
  type ConnectionLog,
  createClientSockets,
  createConnectionLog,
  readAllAtOnce,
} from "./client-sockets.ts";
import { createEventArrivals, type EventArrivals } from "./event-arrivals.ts";
import { unusableName } from "./rights.ts";

/** The gateway's own broker. It stores nothing: no sessions, and retained state in memory only. */
export interface EmbeddedBroker extends Component {
  /** The port on which it listens. Throws while it does not. */
  port(): number;
  /** A stream for the gateway itself, which may write everywhere. Throws while the broker is not open. */
  open(): Duplex;
  /** The topics of its retained messages. */
  retained(): Promise<readonly string[]>;
  /** The topics of events have changed. */
  topicsMoved(): void;
  readonly arrivals: EventArrivals;
}

/** The dependencies of the broker. */
export interface BrokerParts {
  readonly options: EmbeddedBrokerOptions;
  readonly topics: Topics;
  /** The gateway's client identifier, refused to every other client. */
  readonly clientId: string;
  /** What becomes of messages of Sparkplug's hosts; absent: there are none. */
  readonly fromHost?: SparkplugTopics["fromHost"];
  /** Absent: a start that fails once has failed. */
  readonly retry?: StartRetry;
  readonly clock: Clock;
  readonly log: Log;
  /** Where failed log-ins are audited. */
  readonly audit: RefusalAudit;
}

const HANDSHAKE_TIMEOUT_MS = 5_000;
/** How long clients may take to read the last messages when the broker closes. */
const LAST_MESSAGES_MS = 1_000;
const DELIVERY_TURNS = 3;

/** The open broker. */
interface Running {
  readonly aedes: Aedes;
  readonly server: Server;
  readonly sockets: ClientSockets;
  readonly identities: Identities;
}

/** aedes with our users, rights and bounds (README.md). Speaks MQTT 3.1 and 3.1.1. */
export function createBroker(parts: BrokerParts): EmbeddedBroker {
  const { options, topics, clientId, fromHost = () => null, retry = startOnce, clock, log, audit } = parts;
  const arrivals = createEventArrivals(() => topics.eventFilters, clock);
  let running: Running | null = null;
  let isListening = false;
  /** The streams that `open` made. A client on one of them is the gateway itself. */
  const own = new WeakSet<object>();

  options.users.onChange((was, is) => {
    endRevoked(running, was, is, log);
    warnOfNames(is, log);
  });
  // New connections use it. Open connections continue.
  options.tls.onChange((_was, is) => {
    const server = running?.server;
    if (is === null || !(server instanceof TlsServer)) return;
    server.setSecureContext(is);
    log.info({}, "the embedded MQTT broker shows another certificate");
  });

  const up = (): Running => {
    if (running === null) throw new Error("the embedded MQTT broker is not up");
    return running;
  };

  return {
    name: "mqtt-broker",
    async run(signal, ready) {
      warnOfOptions(options, log);
      const users = () => options.users.now().map(({ name }) => nameOf({ kind: "user", name }));
      const identities = createIdentities();
      const sockets = createClientSockets(clock, log, users, signal);
      const connections = createConnectionLog(clock, log);
      const logIns = { options, clientId, own, sockets, identities, clock, log, audit };
      const aedes = await createAedes(logIns, topics, arrivals, connections, fromHost);
      arrivals.watchClients(signal, sockets.slow.disconnect);
      const server = createListener(options, aedes, sockets, connections);
      try {
        // The gateway itself needs no port.
        running = { aedes, server, sockets, identities };
        await beginListening(retry, "mqtt", options, () => listen(server, options), signal, ready);
        if (!signal.aborted) {
          isListening = true;
          ready();
        }
        await aborted(signal);
      } finally {
        running = null;
        isListening = false;
        await close(aedes, server, sockets);
      }
    },
    port() {
      const address = up().server.address();
      if (address === null || typeof address === "string") throw new Error("the MQTT listener has no port");
      return address.port;
    },
    open() {
      const { aedes } = up();
      const [near, far] = duplexPair();
      // Node 20 does not notify one side when the other is destroyed.
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      own.add(far);
      readAllAtOnce(far);
      aedes.handle(far);
      return near;
    },
    topicsMoved: () => arrivals.topicsMoved(),
    async retained() {
      const topics: string[] = [];
      if (running === null) return topics;
      // The types of aedes lack its persistence.
      const { persistence } = running.aedes as Aedes & {
        readonly persistence: {
          createRetainedStreamCombi(patterns: string[]): AsyncIterable<{ topic: string }>;
        };
      };
      for await (const { topic } of persistence.createRetainedStreamCombi(["#"])) topics.push(topic);
      return topics;
    },
    arrivals,
    hang: () => (isListening ? closedPort(running?.server ?? null) : null),
    health() {
      if (running === null) return { state: "down" };
      const figures = { ...running.sockets.figures(), eventSubscribers: arrivals.subscribers() };
      const detail = running.sockets.limits.problem();
      return detail === null ? { state: "up", figures } : { state: "degraded", detail, figures };
    },
  };
}

function createListener(
  options: EmbeddedBrokerOptions,
  aedes: Aedes,
  sockets: ClientSockets,
  connections: ConnectionLog,
): Server {
  const take = (socket: Socket, raw = socket) => {
    sockets.add(socket, raw);
    connections.opened(socket);
    aedes.handle(socket);
  };
  if (options.tls.now() === null) return createServer((socket) => take(socket));
  /** By address and port of the peer, which are the same before and after the handshake. */
  const handshaking = new Map<string, Socket>();
  const server = createTlsServer({ handshakeTimeout: HANDSHAKE_TIMEOUT_MS }, (socket) =>
    take(socket, handshaking.get(peerOf(socket))),
  );
  server.on("connection", (socket) => {
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.once("close", () => handshaking.delete(peer));
    sockets.limits.connected(socket);
  });
  server.on("tlsClientError", (error, socket) => {
    connections.failed(socket, { reason: error.message }, "an MQTT connection failed its TLS handshake");
    // Node lets a handshake continue that has taken too long.
    socket.destroy();
  });
  return server;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

async function listen(server: Server, options: EmbeddedBrokerOptions): Promise<void> {
  const tls = options.tls.now();
  if (tls !== null && server instanceof TlsServer) server.setSecureContext(await acceptedPair(tls));
  await listenOn(server, "mqtt", options);
}

/** Resolves when clients have read the gateway's last messages, or took too long to. */
async function close(aedes: Aedes, server: Server, sockets: ClientSockets): Promise<void> {
  const listenerClosed = new Promise<void>((resolve) => server.close(() => resolve()));
  await delivered(aedes);
  await sockets.end(LAST_MESSAGES_MS);
  await new Promise<void>((resolve) => aedes.close(() => resolve()));
  await listenerClosed;
}

/**
 * Resolves when all messages so far are written. aedes acknowledges a message before it delivers it, in
 * order. So one more message is published, with QoS 1 and retained, on a topic without subscribers. A
 * delivery is written a few turns of the event loop later.
 */
async function delivered(aedes: Aedes): Promise<void> {
  const last = { cmd: "publish", topic: `$SYS/${aedes.id}/closing`, payload: "" } as const;
  await new Promise<void>((resolve) =>
    aedes.publish({ ...last, qos: 1, retain: true, dup: false }, () => resolve()),
  );
  for (let turn = 0; turn < DELIVERY_TURNS; turn += 1) await setImmediate();
}

function warnOfOptions(options: EmbeddedBrokerOptions, log: Log): void {
  if (options.anonymousLoopback)
    log.warn(
      { host: options.host, port: options.port },
      "INSECURE: the embedded MQTT broker lets any program on this machine send commands under any client name",
    );
  warnOfNames(options.users.now(), log);
}

/** Ends the connections of users that are gone, or that log in in another way. */
function endRevoked(
  running: Running | null,
  was: readonly BrokerUser[],
  is: readonly BrokerUser[],
  log: Log,
): void {
  const kept = new Map(is.map(({ name, password }) => [name, password]));
  for (const { name, password } of was) {
    const ended = kept.get(name) === password ? 0 : (running?.identities.end(name) ?? 0);
    if (ended > 0)
      log.info(
        { user: name, connections: ended },
        "MQTT clients were disconnected: the configuration took their user, or its password",
      );
  }
}

function warnOfNames(users: readonly BrokerUser[], log: Log): void {
  for (const { name } of users)
    if (unusableName(name))
      log.warn(
        { user: name },
        "this MQTT user can read, but never send a command: its name does not fit a topic",
      );
}
