import type { EventEmitter } from "node:events";
import { createServer, type Server, Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { createServer as createTlsServer } from "node:tls";
import { Aedes, type AuthenticateError, type Client } from "aedes";
import type { Clock } from "../../../platform/clock.ts";
import { aborted, type Component } from "../../../platform/component.ts";
import { messageOf } from "../../../platform/error-text.ts";
import { closedPort } from "../../../platform/liveness.ts";
import type { Log } from "../../../platform/log.ts";
import { listenError } from "../../../platform/port-taken.ts";
import type { EmbeddedBrokerOptions } from "../options.ts";
import type { Topics } from "../topics.ts";
import { type ClientSockets, createClientSockets } from "./client-sockets.ts";
import { createEventArrivals, type EventArrivals, type EventTraffic } from "./event-arrivals.ts";
import { tellTraffic } from "./event-traffic.ts";
import { createIdentities, type Identities } from "./identities.ts";
import { createLogins } from "./logins.ts";
import { readAllAtOnce } from "./read-all.ts";
import { createRepeats } from "./repeats.ts";
import { type Identity, mayPublish, mayRead, unusableName } from "./rights.ts";

/**
 * The broker that the gateway brings along. It keeps nothing: no sessions, and retained state in memory only.
 */
export interface EmbeddedBroker extends Component {
  /** The port that it listens on. Throws while it does not. */
  port(): number;
  /** A stream for the gateway itself, which may write everywhere. Throws while the broker is not up. */
  open(): Duplex;
  /**
   * `options.users` are others than before: ends the connections of those that are gone, or log in otherwise.
   */
  usersChanged(before: EmbeddedBrokerOptions["users"]): void;
  readonly arrivals: EventArrivals;
}

/** What the broker needs of the rest of the gateway. */
export interface BrokerParts {
  readonly options: EmbeddedBrokerOptions;
  readonly topics: Topics;
  /** The gateway's client identifier, refused to every other client. */
  readonly clientId: string;
  readonly clock: Clock;
  readonly log: Log;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Clients may take this long to read the last messages when the broker closes. */
const LAST_MESSAGES_MS = 1_000;
const DELIVERY_TURNS = 3;
const DELIVERIES_AT_ONCE = 1_000;
const QOS2_HALF_OPEN = 20;

/** The open broker. */
interface Running {
  readonly aedes: Aedes;
  readonly server: Server;
  readonly sockets: ClientSockets;
  readonly identities: Identities;
}

/** aedes with our users, rights and bounds (README.md). Speaks MQTT 3.1 and 3.1.1. */
export function createBroker(parts: BrokerParts): EmbeddedBroker {
  const { options, log } = parts;
  const arrivals = createEventArrivals(parts.topics.eventFilters, parts.clock);
  let running: Running | null = null;
  /** The streams that `open` made. A client on one of them is the gateway itself. */
  const own = new WeakSet<object>();

  const up = (): Running => {
    if (running === null) throw new Error("the embedded MQTT broker is not up");
    return running;
  };

  return {
    name: "mqtt-broker",
    async run(signal, ready) {
      warnOfOptions(options, log);
      const users = () => options.users.map(({ name }) => nameOf({ kind: "user", name }));
      const identities = createIdentities();
      const sockets = createClientSockets(parts.clock, log, users, signal);
      const aedes = await createAedes(parts, own, { sockets, identities, arrivals });
      arrivals.watchClients(signal, sockets.slow.disconnect);
      const server = createListener(options, aedes, sockets, log);
      try {
        await listen(server, options);
        running = { aedes, server, sockets, identities };
        ready();
        await aborted(signal);
      } finally {
        running = null;
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
      // Node 20 does not tell one side that the other was destroyed.
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      own.add(far);
      readAllAtOnce(far);
      aedes.handle(far);
      return near;
    },
    usersChanged(before) {
      const kept = new Map(options.users.map(({ name, password }) => [name, password]));
      const revoked = before.filter(({ name, password }) => kept.get(name) !== password);
      for (const { name } of revoked) {
        const ended = running?.identities.end(name) ?? 0;
        if (ended > 0)
          log.info(
            { user: name, connections: ended },
            "MQTT clients were disconnected: the configuration took their user, or its password",
          );
      }
      warnOfNames(options.users, log);
    },
    arrivals,
    hang: () => closedPort(running?.server ?? null),
    health() {
      if (running === null) return { state: "down" };
      const figures = { ...running.sockets.figures(), eventSubscribers: arrivals.subscribers() };
      const detail = running.sockets.limits.problem();
      return detail === null ? { state: "up", figures } : { state: "degraded", detail, figures };
    },
  };
}

async function createAedes(
  parts: BrokerParts,
  own: WeakSet<object>,
  {
    sockets,
    identities: { set: setIdentity, of: identityOf },
    arrivals,
  }: {
    readonly sockets: ClientSockets;
    readonly identities: Identities;
    readonly arrivals: EventTraffic;
  },
): Promise<Aedes> {
  const { options, topics, log } = parts;
  const logins = createLogins(() => options.users, options.anonymousLoopback);
  const aedes = await Aedes.createBroker({
    concurrency: DELIVERIES_AT_ONCE,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxInflightInbound: QOS2_HALF_OPEN,
    preConnect(_client, packet, callback) {
      // A session that outlives its connection would queue events for a client that may never
      // come back; SessionPresent 0 tells it to subscribe again.
      packet.clean = true;
      callback(null, true);
    },
    authenticate(client, username, password, done) {
      const admit = (identity: Identity | null) => {
        if (identity === null) return done(refused(4, "bad user name or password"), false);
        if (idBelongsToAnother(aedes, client, identity, identityOf, parts.clientId))
          return done(refused(2, "the client identifier belongs to another client"), false);
        if (client.conn instanceof Socket && !sockets.limits.loggedIn(client.conn, nameOf(identity)))
          return done(refused(3, "too many clients are connected"), false);
        setIdentity(client, identity);
        done(null, true);
      };
      if (own.has(client.conn)) return admit({ kind: "gateway" });
      logins.identify({ username, password, remoteAddress: addressOf(client) }).then(
        // The client may have left meanwhile: its place would never be given back.
        (identity) => admit(client.conn.destroyed ? null : identity),
        (error) => done(refused(3, messageOf(error)), false),
      );
    },
    authorizePublish(client, packet, callback) {
      const identity = identityOf(client);
      if (identity.kind === "gateway") arrivals.published(packet);
      if (mayPublish(identity, packet.topic, topics)) return callback(null);
      callback(new Error(`${nameOf(identity)} may not publish on ${packet.topic}`));
    },
    authorizeSubscribe(client, subscription, callback) {
      // Filters are judged by what they deliver: "#" is everything that the client may read.
      callback(null, client.connected || client.connecting ? subscription : null);
    },
    authorizeForward(client, packet) {
      if (!mayRead(identityOf(client), packet.topic, topics)) return null;
      if (repeats.isRepeat(client, packet)) return null;
      return arrivals.forward(client, packet) ? packet : null;
    },
  });
  const repeats = createRepeats(aedes.id);
  aedes.on("client", (client) => {
    repeats.takeOver(client);
    paceReplay(client, sockets);
    if (identityOf(client).kind === "gateway") arrivals.gatewayConnected();
    else if (client.conn instanceof Socket) arrivals.connected(client, client.conn);
  });
  tellTraffic(aedes, arrivals);
  aedes.on("subscribe", (subscriptions, client) => {
    if (identityOf(client).kind !== "gateway") return;
    // MQTT 3.1.1 hides from a subscriber that a new message was sent with the retain flag; the
    // gateway must know, to refuse such a command.
    const asPublished = subscriptions.filter((subscription) => subscription.rap !== true);
    if (asPublished.length === 0) return;
    client.subscribe(
      { subscriptions: asPublished.map((subscription) => ({ ...subscription, rap: true })) },
      (error) => {
        if (error)
          log.error({ err: error }, "the embedded broker could not widen the gateway's subscription");
      },
    );
  });
  // aedes' types do not know this one; without a listener it would end the process.
  const emitter: EventEmitter = aedes;
  emitter.on("error", (error) => log.error({ err: error }, "the embedded MQTT broker failed at a delivery"));
  // aedes emits this for each message that a lost client did not get: logged once a client.
  const logged = new WeakSet<Client>();
  aedes.on("clientError", (client, error) => {
    if (logged.has(client)) return;
    logged.add(client);
    log.info({ client: client.id, reason: error.message }, "an MQTT client was disconnected");
  });
  aedes.on("connectionError", (_client, error) =>
    log.info({ reason: error.message }, "an MQTT connection was refused"),
  );
  return aedes;
}

function idBelongsToAnother(
  aedes: Aedes,
  client: Client,
  identity: Identity,
  identityOf: (client: Client) => Identity,
  gatewayClientId: string,
): boolean {
  if (identity.kind === "gateway") return false;
  if (client.id === gatewayClientId) return true;
  const holder = (aedes as Aedes & { readonly clients: Readonly<Record<string, Client>> }).clients[client.id];
  return holder !== undefined && nameOf(identityOf(holder)) !== nameOf(identity);
}

function nameOf(identity: Identity): string {
  return identity.kind === "user" ? `user ${identity.name}` : identity.kind;
}

function refused(returnCode: 2 | 3 | 4, message: string): AuthenticateError {
  return Object.assign(new Error(message), { returnCode });
}

function addressOf(client: Client): string | undefined {
  return "remoteAddress" in client.conn ? client.conn.remoteAddress : undefined;
}

/** What aedes calls to send a client one message; a retained one at a subscription has no broker id. */
type Deliver = (packet: { readonly brokerId?: string | null }, done: () => void) => void;

/**
 * Sends a new subscriber the retained messages as fast as it reads: those of a large fleet exceed the
 * backlog.
 */
function paceReplay(client: Client, sockets: ClientSockets): void {
  const { conn } = client;
  if (!(conn instanceof Socket)) return;
  const inner = client as Client & { deliverQoS: Deliver };
  const deliver = inner.deliverQoS;
  inner.deliverQoS = (packet, done) => {
    if (packet.brokerId !== null) return deliver(packet, done);
    sockets.slow.whenRoom(conn, () => {
      if (client.connected) deliver(packet, done);
    });
  };
}

function createListener(
  options: EmbeddedBrokerOptions,
  aedes: Aedes,
  sockets: ClientSockets,
  log: Log,
): Server {
  const take = (socket: Socket, raw = socket) => {
    sockets.add(socket, raw);
    aedes.handle(socket);
  };
  if (options.tls === null) return createServer((socket) => take(socket));
  /** By address and port of the peer, which are the same before and after the handshake. */
  const handshaking = new Map<string, Socket>();
  const server = createTlsServer({ ...options.tls, handshakeTimeout: CONNECT_TIMEOUT_MS }, (socket) =>
    take(socket, handshaking.get(peerOf(socket))),
  );
  server.on("connection", (socket) => {
    const peer = peerOf(socket);
    handshaking.set(peer, socket);
    socket.once("close", () => handshaking.delete(peer));
    sockets.limits.connected(socket);
  });
  server.on("tlsClientError", (error) =>
    log.info({ reason: error.message }, "an MQTT connection failed its TLS handshake"),
  );
  return server;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function listen(server: Server, options: EmbeddedBrokerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(listenError(error, "mqtt", options.port));
    server.once("error", onError);
    server.listen(options.port, options.host, () => {
      server.removeListener("error", onError);
      resolve();
    });
  });
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
 * order; so one more is published, with QoS 1 and retained, on a topic without subscribers. A delivery is
 * written a few turns of the event loop later.
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
  warnOfNames(options.users, log);
}

function warnOfNames(users: EmbeddedBrokerOptions["users"], log: Log): void {
  for (const { name } of users)
    if (unusableName(name))
      log.warn(
        { user: name },
        "this MQTT user can read, but never send a command: its name does not fit a topic",
      );
}
