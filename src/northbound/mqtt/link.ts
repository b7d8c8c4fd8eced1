import type { Connection, Link } from "../../contracts/link.ts";
import type { Peer } from "../../contracts/peers.ts";
import type { TagSource } from "../../contracts/tags.ts";
import type { Age } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Health } from "../../platform/component.ts";
import type { Log } from "../../platform/log.ts";
import type { EmbeddedBroker } from "./broker/broker.ts";
import { createBrokers, healthOf } from "./brokers.ts";
import { createSizeLimits } from "./client/broker-limits.ts";
import { openClient } from "./client/client.ts";
import { createLimitReport } from "./client/limit-report.ts";
import type { LimitedClient } from "./client/limited-client.ts";
import type { CommandMessages } from "./commands.ts";
import { openConnection, type PublishCounts, refreshOf } from "./connection.ts";
import type { DuplicateWatch } from "./duplicate-gateway.ts";
import { createEventWriter } from "./event-writer.ts";
import { type Leadership, ledConnection } from "./leadership.ts";
import { openLeftovers } from "./leftover-topics.ts";
import { brokerName, type MqttOptions } from "./options.ts";
import type { TopicRecords } from "./published-topics.ts";
import type { OwnTopics } from "./status.ts";
import { createTagWriter } from "./tags.ts";
import { createTopicRegistry } from "./topic-registry.ts";
import type { Topics, TopicsMove } from "./topics.ts";
import { createValueWriter } from "./values.ts";

/** The dependencies of the MQTT link. */
export interface MqttLinkParts {
  readonly run: {
    /** State carries it, so that state of another run of the gateway is recognised. */
    readonly sessionId: string;
    /** When the program was built, by which the clock is judged; null: not known. */
    readonly builtAt: Date | null;
    /** Absent or null: there is no cluster. */
    readonly leadership?: Leadership | null;
  };
  /** Null with a broker of the plant. */
  readonly ownBroker: Pick<EmbeddedBroker, "open" | "arrivals" | "retained"> | null;
  readonly ownTopics: OwnTopics;
  readonly commands: CommandMessages;
  readonly duplicates: DuplicateWatch;
  readonly records: TopicRecords;
  readonly clock: Clock;
  readonly log: Log;
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
export function createMqttLink(
  options: MqttOptions,
  topics: Topics,
  { run, ownBroker, ownTopics, commands, duplicates, records, clock, log }: MqttLinkParts,
): MqttLink {
  const { sessionId, builtAt, leadership = null } = run;
  const counts: PublishCounts = { state: 0, events: 0 };
  /** The ages of robots' positions, over all connections. */
  const ages = new Map<RobotId, Age>();
  const moves = createMoves(leadership);
  let connected = false;
  const registry = createTopicRegistry(topics, () => connected, clock);
  const limits = createLimitReport(options, clock, log);
  const sizesOf = createSizeLimits(clock, log);

  async function open(brokerOptions: MqttOptions, signal: AbortSignal): Promise<Connection> {
    const clientParts = {
      will: ownTopics.will(),
      maximumPacketSize: LARGEST_PACKET,
      openBroker: ownBroker?.open ?? null,
      sort: commands.sorter(),
      leftOut: limits,
    };
    const client = await openClient(brokerOptions, clientParts, signal);
    const silence = watchSilence(clock, signal, () => client.end(true));
    try {
      limits.connected(client);
      const watching = duplicates.serve(client, brokerName(brokerOptions));
      // Awaited below, unless the connection is lost first, which is then the error.
      watching.catch(() => {});
      if (leadership !== null) await leadsStill(client, watching, leadership);
      const retained = () => ownBroker?.retained() ?? Promise.resolve([]);
      for (const move of moves.take()) await records.move(move, retained);
      const record = records.of(brokerOptions);
      const sizes = sizesOf(brokerOptions);
      const { onTooLarge } = limits;
      const isKept = refreshOf(options) === null;
      const isAlone = () => duplicates.problem() === null;
      const connection = await openConnection(client, options, topics, record, {
        ownTopics,
        registry,
        counts,
        openValues(publish, remove) {
          const tags = options.tags ? createTagWriter(topics, publish, ages, clock) : null;
          const robots = () => options.placement.now().robots;
          return createValueWriter({ topics, sessionId, publish, remove, tags, robots });
        },
        openEvents: (loss) =>
          createEventWriter(client, loss, { topics, sessionId, counts, sizes, onTooLarge }),
        openLeftovers(remove, life) {
          const parts = { topics, sessionId, record, isKept, remove, isAlone, clock, log };
          return openLeftovers(client, parts, life);
        },
        arrivals: ownBroker?.arrivals ?? null,
        clock,
      });
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

  const brokers = createBrokers(options, open, ownTopics.left, { builtAt, clock, log });
  leadership?.onEnd(moves.leave);

  return {
    name: "mqtt",
    tags: registry,
    peers: () => brokers.peers(connected),
    async connect(signal) {
      await leadership?.begun(signal);
      return moves.follow(() => duplicates.turn(signal).then(() => brokers.connect(signal)));
    },
    ...(leadership === null ? {} : { whyNot: leadership.whyNot }),
    topicsMoved: moves.add,
    health() {
      const figures = {
        ...brokers.figures(connected),
        stateMessages: counts.state,
        eventMessages: counts.events,
        ...commands.figures(),
        ...limits.figures(),
      };
      // Without a connection every reply is dropped.
      const ofConnection = [...brokers.problems(), ...limits.problems(), commands.problem()];
      const whyNot = leadership?.whyNot() ?? null;
      return healthOf(connected, whyNot, duplicates.problem(), ofConnection, figures);
    },
  };
}

/** Waits for the status that is retained: it may be that of a later leader. */
async function leadsStill(
  client: LimitedClient,
  watching: Promise<void>,
  leadership: Leadership,
): Promise<void> {
  // An error ends the wait below, with a clearer one.
  client.on("error", () => {});
  const failure = await watching.then(
    () => null,
    (error: unknown) => error,
  );
  const whyNot = leadership.whyNot();
  if (whyNot !== null) throw new Error(`this member of the cluster ${whyNot}`);
  if (failure !== null) throw failure;
}

/** Ends a connection for the next one when topics have moved since it began. */
function createMoves(leadership: Leadership | null) {
  /** For the next connection: the goodbye of this one is still on the old topics. */
  const pending: TopicsMove[] = [];
  /** Notifies the newest connection. One promise for all of them would keep every connection for ever. */
  let notify = () => {};
  return {
    add(move: TopicsMove): void {
      pending.push(move);
      if (move.isMoved) notify();
    },
    leave: () => notify(),
    take: () => pending.splice(0),
    async follow(connect: () => Promise<Connection>): Promise<Connection> {
      const moved = new Promise<void>((resolve) => {
        notify = resolve;
      });
      return ledConnection(leadership, await connect(), moved);
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
