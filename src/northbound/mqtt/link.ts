import type { Acts } from "../../contracts/acts.ts";
import type { Commander } from "../../contracts/commander.ts";
import type { Connection, Link } from "../../contracts/link.ts";
import type { Peer } from "../../contracts/peers.ts";
import type { TagSource } from "../../contracts/tags.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Health } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import { createBrokers } from "./brokers.ts";
import { createSizeLimits } from "./client/broker-limits.ts";
import { type OpenBroker, openClient } from "./client/client.ts";
import { createLimitReport } from "./client/limit-report.ts";
import { createCommandMessages } from "./commands.ts";
import { type ConnectionParts, openConnection, type PublishCounts } from "./connection.ts";
import { createDuplicateWatch } from "./duplicate-gateway.ts";
import type { EventArrivals } from "./event-writer.ts";
import type { TopicsMove } from "./live-topics.ts";
import { brokerName, type MqttOptions } from "./options.ts";
import { createTopicRecords, type TopicsFiles } from "./published-topics.ts";
import type { ReplyBounds } from "./replies.ts";
import { type HealthReport, statusPayload } from "./status.ts";
import { createTopicRegistry } from "./topic-registry.ts";
import type { Topics } from "./topics.ts";

/** The dependencies of the MQTT northbound. */
export interface MqttParts {
  readonly options: MqttOptions;
  readonly topics: Topics;
  /** This run of the gateway: state and status carry it, so that state of another run is recognised. */
  readonly sessionId: string;
  /** Aborted when the gateway accepts nothing new: it is offline from then on, and the rest is delivered. */
  readonly stopping: AbortSignal;
  readonly clock: Clock;
  readonly log: Log;
  readonly commander: Commander;
  readonly acts: Acts;
  /** The daemon's health for the `health` topic; read once a second. */
  readonly health: () => HealthReport;
  /** Opens a stream into the embedded broker (`EmbeddedBroker.open`); null with an external one. */
  readonly openBroker: OpenBroker | null;
  /** The arrival of its events (`EmbeddedBroker.arrivals`); null with an external one, which stores them. */
  readonly arrivals: EventArrivals | null;
  /** The retained topics of the gateway's own broker (`EmbeddedBroker.retained`). */
  readonly retained: () => Promise<readonly string[]>;
  /** The files of published topics; null with the embedded broker, which loses them itself. */
  readonly topicsFiles: TopicsFiles | null;
  /** Another gateway with the same id has come to the broker, or has gone. */
  readonly onDuplicate: (active: boolean, text: string) => void;
  /** Of the replies to commands, if they differ from the default. */
  readonly replyBounds?: ReplyBounds;
}

/** The MQTT link, and its state. */
export interface MqttLink extends Link {
  /** A reload has moved topics: publishes all of them anew, and clears the old ones. */
  topicsMoved(move: TopicsMove): void;
  health(): Health;
  readonly tags: TagSource;
  /** The brokers. */
  peers(): readonly Peer[];
}

const LARGEST_PACKET = 320 * 1024;
/** For the first status and all subscriptions. */
const FIRST_ANSWERS_MS = 30_000;

/** MQTT as a link: each `connect` is one session with the broker. */
export function createMqttLink(parts: MqttParts): MqttLink {
  const { options, clock, log, sessionId, stopping, topics, onDuplicate, health, arrivals } = parts;
  const { commander, acts, replyBounds } = parts;
  const counts: PublishCounts = { state: 0, events: 0 };
  const commands = createCommandMessages({ options, topics, clock, log, commander, acts, replyBounds });
  const will = {
    topic: topics.status,
    payload: statusPayload("offline", options.gatewayId, sessionId, null),
  };
  let latestStatus = "";
  const noteStatus = (payload: string) => {
    latestStatus = payload;
  };
  const watch = { sessionId, stopping, clock, log, noteStatus, onDuplicate };
  const duplicates = createDuplicateWatch(topics.status, options.gatewayId, watch);
  const records = createTopicRecords(parts.topicsFiles, topics.taskChainFilter, sessionId, log);
  const moves = createMoves();
  let connected = false;
  const registry = createTopicRegistry(topics, () => connected, clock);
  const limits = createLimitReport(options, clock, log);
  const connectionParts: ConnectionParts = {
    options,
    topics,
    sessionId,
    stopping,
    health,
    arrivals,
    clock,
    log,
    ages: new Map(),
    counts,
    registry,
    isAlone: () => duplicates.problem() === null,
    noteStatus,
    onTooLarge: limits.onTooLarge,
  };
  const clientParts = {
    will,
    maximumPacketSize: LARGEST_PACKET,
    openBroker: parts.openBroker,
    leftOut: limits,
  };
  const sizesOf = createSizeLimits(clock, log);

  async function open(brokerOptions: MqttOptions, signal: AbortSignal): Promise<Connection> {
    const client = await openClient(brokerOptions, { ...clientParts, sort: commands.sorter() }, signal);
    const silence = watchSilence(clock, signal, () => client.end(true));
    try {
      limits.connected(client);
      const watching = duplicates.serve(client, brokerName(brokerOptions));
      // Awaited below, unless the connection is lost first, which is then the error.
      watching.catch(() => {});
      for (const move of moves.take()) await records.move(move, parts.retained);
      const record = records.of(brokerOptions, brokerName(brokerOptions) === brokerName(options));
      const connection = await openConnection(client, record, sizesOf(brokerOptions), connectionParts);
      await watching;
      if (client.limits.wildcardsAvailable) await commands.serve(client);
      connected = true;
      void connection.lost.then(() => {
        connected = false;
      });
      return connection;
    } catch (error) {
      client.end(true);
      throw silence.cause() ?? error;
    } finally {
      silence.end();
    }
  }

  const left = () => ({
    topic: topics.status,
    offline: statusPayload("offline", options.gatewayId, sessionId, clock.nowMs()),
    latest: latestStatus,
  });
  const brokers = createBrokers(options, open, left, clock, log);

  return {
    name: "mqtt",
    tags: registry,
    peers: () => brokers.peers(connected),
    connect: (signal) => moves.follow(() => duplicates.turn(signal).then(() => brokers.connect(signal))),
    topicsMoved: moves.add,
    health() {
      const figures = {
        ...brokers.figures(connected),
        stateMessages: counts.state,
        eventMessages: counts.events,
        ...commands.figures(),
        ...limits.figures(),
      };
      // Without a connection every reply is dropped, and only the missing connection is reported.
      const ofConnection = [...brokers.problems(), ...limits.problems(), commands.problem()];
      return healthOf(connected, [duplicates.problem(), ...(connected ? ofConnection : [])], figures);
    },
  };
}

function healthOf(
  isConnected: boolean,
  problems: readonly (string | null)[],
  figures: Readonly<Record<string, number>>,
): Health {
  const detail = problems.filter((one) => one !== null).join("; ");
  if (detail === "") return { state: isConnected ? "up" : "down", figures };
  return { state: isConnected ? "degraded" : "down", detail, figures };
}

/** Ends a connection for the next one when topics have moved since it began. */
function createMoves() {
  /** For the next connection: the goodbye of this one is still on the old topics. */
  const pending: TopicsMove[] = [];
  /** Notifies the newest connection. One promise for all of them would keep every connection for ever. */
  let notify = () => {};
  return {
    add(move: TopicsMove): void {
      pending.push(move);
      if (move.isMoved) notify();
    },
    take: () => pending.splice(0),
    async follow(connect: () => Promise<Connection>): Promise<Connection> {
      const moved = new Promise<void>((resolve) => {
        notify = resolve;
      });
      const connection = await connect();
      const { lost, movesOn, subscribers } = connection;
      return {
        lost,
        movesOn: movesOn === undefined ? moved : Promise.race([movesOn, moved]),
        write: (batch) => connection.write(batch),
        ...(subscribers === undefined ? {} : { subscribers }),
        [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
      };
    },
  };
}

/** Gives up if it is aborted, or if no answer has come in time. */
function watchSilence(clock: Clock, signal: AbortSignal, giveUp: () => void) {
  let cause: Error | null = null;
  signal.addEventListener("abort", giveUp, { once: true });
  const cancel = clock.after(FIRST_ANSWERS_MS, () => {
    const seconds = FIRST_ANSWERS_MS / 1_000;
    cause = new Error(
      `the MQTT broker took the connection, and did not acknowledge within ${seconds} s what the gateway sent`,
    );
    giveUp();
  });
  const end = () => {
    cancel();
    signal.removeEventListener("abort", giveUp);
  };
  return { end, cause: () => cause };
}
