import type { Commander } from "../../../contracts/commander.ts";
import type { Connection, Link } from "../../../contracts/link.ts";
import type { Peer } from "../../../contracts/peers.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Health } from "../../../platform/component.ts";
import type { Log } from "../../../platform/log.ts";
import type { Codec } from "../../../platform/stores/table-store.ts";
import type { WriteBehind } from "../../../platform/stores/write-behind.ts";
import type { EmbeddedBroker } from "../broker/broker.ts";
import { createBrokers, healthOf } from "../brokers.ts";
import { checkingParts } from "../client/checking.ts";
import { openClient } from "../client/client.ts";
import { createFrameSorter, type FrameTakers } from "../client/sorted-stream.ts";
import { type Leadership, ledConnection } from "../leadership.ts";
import { brokerName, brokersOf, type MqttOptions } from "../options.ts";
import { createNodeCommands } from "./commands.ts";
import { openNodeConnection } from "./connection.ts";
import { createDuplicateNode } from "./duplicate-node.ts";
import type { GatewayFacts } from "./node.ts";
import { type SparkplugOptions, sparkplugClientId } from "./options.ts";
import { createPlant } from "./plant.ts";
import { createPrimaryHost } from "./primary-host.ts";
import { createNodeReport } from "./report.ts";
import { deathPayload } from "./session.ts";
import { createSparkplugTopics } from "./topics.ts";

export interface SparkplugLinkParts {
  readonly facts: GatewayFacts;
  readonly commander: Pick<Commander, "submit">;
  /** Null with a broker of the plant. */
  readonly openBroker: EmbeddedBroker["open"] | null;
  readonly tables: Pick<WriteBehind, "table" | "keep" | "flushed">;
  /** Null: there is no cluster. */
  readonly leadership: Leadership | null;
  /** Another gateway with this group and node was found, or has left. */
  readonly onDuplicate: (active: boolean, text: string) => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** The edge node of Sparkplug B, and its state. */
export interface SparkplugLink extends Link {
  health(): Health;
  /** The brokers. */
  peers(): readonly Peer[];
}

const LARGEST_PACKET = 320 * 1024;

/** Sparkplug B as a link, with a connection of its own: each `connect` is one session of the edge node. */
export function createSparkplugLink(
  options: MqttOptions,
  sparkplug: SparkplugOptions,
  { facts, commander, openBroker, tables, leadership, onDuplicate, clock, log }: SparkplugLinkParts,
): SparkplugLink {
  const { groupId, nodeId, primaryHost } = sparkplug;
  const own = { ...options, clientId: sparkplugClientId(options.clientId) };
  const topics = createSparkplugTopics(sparkplug, options.broker.kind === "embedded");
  const plant = createPlant({ options: sparkplug, facts, clock });
  const bdSeqs = createBdSeq(sparkplug, tables);
  const { requireExpiry } = options.commands;
  const areEnabled = sparkplug.commands;
  const commands = createNodeCommands({ areEnabled, requireExpiry, commander });
  const host = createPrimaryHost(sparkplug, clock, log);
  const duplicates = createDuplicateNode({
    ...{ node: `${groupId}/${nodeId}`, birthTopic: topics.node("NBIRTH") },
    ...{ clientId: own.clientId, clock, log, onDuplicate },
  });
  const brokerCount = brokersOf(options).length;
  const report = createNodeReport(clock, log);
  /** All that is not too long goes to the client. */
  const dropping: Omit<FrameTakers, "protocolVersion"> = {
    isWanted: () => false,
    take() {},
    onTooLong: (topic, reason) => report.commandIgnored({ topic, sender: topics.senderOf(topic) }, reason),
  };
  /** The broker that was left because the host is offline there: the next one is tried first. */
  let hostLeft: string | null = null;
  let connected = false;
  /** Ends the newest connection in order. */
  let leave = () => {};
  leadership?.onEnd(() => leave());

  async function open(broker: MqttOptions, signal: AbortSignal): Promise<Connection> {
    const name = brokerName(broker);
    if (brokerCount > 1 && hostLeft === name) {
      hostLeft = null;
      throw new Error(`the primary host ${primaryHost} is offline at this broker`);
    }
    const bdSeq = await bdSeqs.next();
    const death = deathPayload(bdSeq, clock.nowMs());
    const will = { topic: topics.node("NDEATH"), payload: death, isFixed: true } as const;
    const { protocolVersion } = broker;
    const sort = createFrameSorter({ ...dropping, protocolVersion });
    const connecting = { ...checkingParts, will, maximumPacketSize: LARGEST_PACKET, openBroker, sort };
    const client = await openClient(broker, connecting, signal).catch((error: unknown) => {
      if (hasNeverConnected(error)) {
        bdSeqs.takeBack();
        duplicates.unreachable(name);
      }
      throw error;
    });
    duplicates.begin(client, name);
    const onOffline = () => {
      hostLeft = name;
      leave();
    };
    const connection = await openNodeConnection(
      { client, death, bdSeq, protocolVersion },
      {
        host: host?.begin(name, onOffline) ?? null,
        ...{ topics, commands, plant, duplicates, report, clock, log },
      },
      brokerCount,
      signal,
    );
    connected = true;
    void connection.lost.then(() => {
      connected = false;
    });
    return connection;
  }

  // Which broker is used is the primary host's to say, if there is one.
  const brokers = createBrokers(own, open, null, { builtAt: facts.builtAt, clock, log }, host === null);
  const whyNot = () => leadership?.whyNot() ?? (connected ? null : (host?.whyNot() ?? null));

  return {
    name: "sparkplug",
    peers: () => brokers.peers(connected),
    whyNot,
    async connect(signal) {
      await duplicates.turn(signal);
      await leadership?.begun(signal);
      const moved = new Promise<void>((resolve) => {
        leave = resolve;
      });
      return ledConnection(leadership, await brokers.connect(signal), moved);
    },
    health() {
      const figures = { ...brokers.figures(connected), ...report.counts };
      const ofConnection = [
        ...[...brokers.problems(), ...report.problems()],
        ...[host?.problem() ?? null, duplicates.lostBirth()],
      ];
      return healthOf(connected, whyNot(), duplicates.problem(), ofConnection, figures);
    },
  };
}

/** Whether there was no connection that a CONNECT could have left by. */
function hasNeverConnected(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : null;
  // One for each address of the host.
  const causes: unknown[] = cause instanceof AggregateError ? cause.errors : [cause];
  return causes.every(
    (each) =>
      each instanceof Error &&
      "syscall" in each &&
      (each.syscall === "connect" || each.syscall === "getaddrinfo"),
  );
}

/** The number of each connection: by it a host knows which birth a death ends. */
interface BdSeq {
  /** The number of the next connection. Resolves when the disk has it, or has not answered in time. */
  next(): Promise<number>;
  /** No CONNECT has left with the newest number: the next connection has it again. */
  takeBack(): void;
}

/** It is a byte, for some hosts. */
const NUMBERS = 256;
const TABLE = "sparkplug-bd-seq";

const codec: Codec<number> = {
  encode: (value) => value,
  decode: (json) =>
    typeof json === "number" && Number.isInteger(json) && json >= 0 && json < NUMBERS ? json : null,
};

/** Begins at 0 for a node that this gateway never was. */
export function createBdSeq(
  { groupId, nodeId }: Pick<SparkplugOptions, "groupId" | "nodeId">,
  tables: Pick<WriteBehind, "table" | "keep" | "flushed">,
): BdSeq {
  const key = `${groupId}/${nodeId}`;
  const open = () => tables.table(TABLE, codec, "begin empty");
  /** Null: this process has made no connection. */
  let last: number | null = null;

  function keep(bdSeq: number): void {
    last = bdSeq;
    tables.keep([open().put(key, bdSeq)]);
  }

  return {
    async next() {
      // It is read as late as this: in a cluster the leader of before has kept its own until then.
      const before = last ?? open().get(key) ?? NUMBERS - 1;
      const bdSeq = (before + 1) % NUMBERS;
      keep(bdSeq);
      await tables.flushed();
      return bdSeq;
    },
    takeBack() {
      if (last !== null) keep((last + NUMBERS - 1) % NUMBERS);
    },
  };
}
