import type { EventEmitter } from "node:events";
import { Socket } from "node:net";
import { Aedes, type AedesOptions, type Client } from "aedes";
import { clip } from "../../../domain/foreign-text.ts";
import type { Log } from "../../../platform/log.ts";
import type { SparkplugTopics } from "../sparkplug/topics.ts";
import type { Topics } from "../topics.ts";
import {
  type AuthenticateParts,
  BAD_LOG_IN,
  createAuthenticate,
  type Identities,
  nameOf,
  nobody,
} from "./authenticate.ts";
import type { ClientSockets, ConnectionLog } from "./client-sockets.ts";
import { type EventTraffic, reportTraffic } from "./event-arrivals.ts";
import { clientOf, type ForwardedPacket, holdRetained } from "./inner-client.ts";
import { mayPublish, mayRead } from "./rights.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const DELIVERIES_AT_ONCE = 1_000;
const QOS2_HALF_OPEN = 20;
/** Of texts that a client chooses, in a line of the log. */
const LONGEST_ID = 64;
const LONGEST_REASON = 200;

/** aedes with our users and rights. */
export async function createAedes(
  authenticate: AuthenticateParts,
  topics: Topics,
  arrivals: EventTraffic,
  connections: Pick<ConnectionLog, "failed">,
  fromHost: SparkplugTopics["fromHost"],
): Promise<Aedes> {
  const { log, identities, sockets } = authenticate;
  let repeats: Repeats | null = null;
  const neverKept = new Set<string>();
  const aedes: Aedes = await Aedes.createBroker({
    concurrency: DELIVERIES_AT_ONCE,
    connectTimeout: CONNECT_TIMEOUT_MS,
    maxInflightInbound: QOS2_HALF_OPEN,
    preConnect(_client, packet, callback) {
      // A session that outlives its connection would queue events for a client that may never come back.
      // SessionPresent 0 tells the client to subscribe again.
      packet.clean = true;
      callback(null, true);
    },
    authenticate: createAuthenticate(authenticate, (id) => clientOf(aedes, id)),
    ...rightsOf({
      ...{ topics, identities, arrivals, fromHost, neverKept },
      isRepeat: (...message) => repeats?.isRepeat(...message) ?? false,
    }),
  });
  const ofClients = createRepeats(aedes.id);
  repeats = ofClients;
  const newest = followRetained(aedes, neverKept);
  aedes.on("client", (client) => {
    ofClients.takeOver(client);
    paceReplay(client, sockets, newest);
    const isGateway = identities.of(client).kind === "gateway";
    // Its connection for Sparkplug publishes no event that is acknowledged.
    if (isGateway && client.id === authenticate.clientId) arrivals.gatewayConnected();
    else if (!isGateway && client.conn instanceof Socket) arrivals.connected(client, client.conn);
  });
  reportTraffic(aedes, arrivals);
  showRetainFlag(aedes, identities, log);
  logProblems(aedes, connections, log);
  return aedes;
}

interface RightsParts {
  readonly topics: Topics;
  readonly identities: Identities;
  readonly arrivals: EventTraffic;
  readonly fromHost: SparkplugTopics["fromHost"];
  /** Topics of commands: of these the broker keeps no message. */
  readonly neverKept: Set<string>;
  readonly isRepeat: Repeats["isRepeat"];
}

function rightsOf({
  topics,
  identities,
  arrivals,
  fromHost,
  neverKept,
  isRepeat,
}: RightsParts): Pick<AedesOptions, "authorizePublish" | "authorizeSubscribe" | "authorizeForward"> {
  return {
    authorizePublish(client, packet, callback) {
      const identity = identities.of(client);
      if (identity.kind === "gateway") arrivals.published(packet);
      if (mayPublish(identity, packet.topic, topics)) return callback(null);
      const ofHost = fromHost(packet.topic, identity.kind === "user" ? identity.name : null);
      if (ofHost !== null && identity !== nobody) {
        packet.topic = ofHost.topic;
        if (ofHost.retain === "dropped") packet.retain = false;
        if (ofHost.retain === "shown") neverKept.add(ofHost.topic);
        return callback(null);
      }
      callback(new Error(`${nameOf(identity)} may not publish on ${packet.topic}`));
    },
    authorizeSubscribe(client, subscription, callback) {
      // Filters are checked at delivery: "#" means everything that the client may read.
      callback(null, client.connected || client.connecting ? subscription : null);
    },
    authorizeForward(client, packet) {
      if (!mayRead(identities.of(client), packet.topic, topics)) return null;
      if (isRepeat(client, packet)) return null;
      return arrivals.forward(client, packet) ? packet : null;
    },
  };
}

/**
 * MQTT 3.1.1 hides from a subscriber that a new message was sent with the retain flag. The gateway must know
 * it, to refuse such a command.
 */
function showRetainFlag(aedes: Aedes, identities: Identities, log: Log): void {
  aedes.on("subscribe", (subscriptions, client) => {
    if (identities.of(client).kind !== "gateway") return;
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
}

function isBadLogIn(error: Error): boolean {
  return "returnCode" in error && error.returnCode === BAD_LOG_IN;
}

function logProblems(aedes: Aedes, connections: Pick<ConnectionLog, "failed">, log: Log): void {
  // aedes' types lack this event; without a listener it would end the process.
  const emitter: EventEmitter = aedes;
  emitter.on("error", (error) => log.error({ err: error }, "the embedded MQTT broker failed at a delivery"));
  // aedes emits this for each message that a lost client missed: it is logged once for each client.
  const logged = new WeakSet<Client>();
  aedes.on("clientError", (client, error) => {
    // A wrong password has a line of its own.
    if (logged.has(client) || isBadLogIn(error)) return;
    logged.add(client);
    const fields = { client: clip(client.id, LONGEST_ID), reason: clip(error.message, LONGEST_REASON) };
    connections.failed(client.conn, fields, "an MQTT client was disconnected");
  });
  aedes.on("connectionError", (client, error) =>
    connections.failed(
      client.conn,
      { reason: clip(error.message, LONGEST_REASON) },
      "an MQTT connection was refused",
    ),
  );
}

/**
 * Sends the retained messages to a new subscriber as fast as it reads: those of a large fleet exceed the
 * backlog.
 */
function paceReplay(client: Client, sockets: ClientSockets, newest: NewestRetained): void {
  const { conn } = client;
  if (!(conn instanceof Socket)) return;
  holdRetained(client, (proceed) => sockets.slow.whenRoom(conn, proceed), newest.has);
}

/** Knows which retained messages are still the newest of their topics. */
interface NewestRetained {
  has(packet: Pick<ForwardedPacket, "topic" | "payload">): boolean;
}

/** The part of aedes' store that its types lack. */
interface Persistence {
  storeRetained(packet: Pick<ForwardedPacket, "topic" | "payload">): Promise<unknown>;
}

/**
 * aedes reads the retained messages for a new subscriber before it sends them. Meanwhile the subscriber gets
 * newer ones, and would end up with the older value.
 */
function followRetained(aedes: Aedes, neverKept: ReadonlySet<string>): NewestRetained {
  const { persistence } = aedes as unknown as { readonly persistence: Persistence };
  /** By topic. All copies of a message share its payload. */
  const newest = new Map<string, string | Buffer>();
  const store = persistence.storeRetained.bind(persistence);
  persistence.storeRetained = (packet) => {
    const { topic, payload } = packet;
    if (neverKept.has(topic)) return Promise.resolve();
    if (payload.length === 0) newest.delete(topic);
    else newest.set(topic, payload);
    return store(packet);
  };
  return { has: ({ topic, payload }) => newest.get(topic) === payload };
}

/** Recognises messages that a client would get twice, because two of its subscriptions match. */
interface Repeats {
  /** From now on `isRepeat` decides what this client gets. */
  takeOver(client: Client): void;
  /** Whether this is the last message that the client got. */
  isRepeat(client: Client, packet: NumberedPacket): boolean;
}

interface NumberedPacket {
  /** Null: a retained one of a new subscription. */
  readonly brokerId?: string | null;
  readonly brokerCounter?: number;
}

/**
 * aedes numbers messages when they come, and drops each one with a lower number than the last as a repeat.
 * But it handles QoS 0 faster than QoS 1, so messages overtake each other: an event or a reply was lost when
 * state came right behind it. A message goes to all subscriptions of a client in one go, so only the last one
 * can be a repeat.
 */
function createRepeats(brokerId: string): Repeats {
  const last = new WeakMap<Client, number>();
  return {
    takeOver(client) {
      const none = Object.defineProperty({}, brokerId, { get: () => 0, set() {} });
      Object.assign(client, { duplicates: none });
    },
    isRepeat(client, { brokerId: from, brokerCounter }) {
      if (!from || brokerCounter === undefined) return false;
      if (last.get(client) === brokerCounter) return true;
      last.set(client, brokerCounter);
      return false;
    },
  };
}
