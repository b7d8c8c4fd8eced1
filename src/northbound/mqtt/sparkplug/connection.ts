import type { Connection } from "../../../contracts/link.ts";
import { type Cancel, type Clock, every } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { onAbort } from "../../../platform/on-abort.ts";
import { createTurns, type Turns } from "../../../platform/queues.ts";
import { type Loss, subscribe } from "../client/client.ts";
import type { LimitedClient } from "../client/limited-client.ts";
import { watchLoss } from "../connection.ts";
import { createAnswers, type MessageFacts, type NodeCommands, type PublishAnswer } from "./commands.ts";
import type { DuplicateNode } from "./duplicate-node.ts";
import { NO_OTHER, readHostWrites } from "./node.ts";
import type { Plant } from "./plant.ts";
import type { HostOnConnection } from "./primary-host.ts";
import type { NodeReport } from "./report.ts";
import { createSession, endSession, type SparkplugSession } from "./session.ts";
import type { SparkplugTopics } from "./topics.ts";

/** A client that the broker has accepted. */
export interface AcceptedClient {
  readonly client: LimitedClient;
  readonly protocolVersion: 4 | 5;
  /** Its last will. */
  readonly death: Buffer;
  /** The number in it. */
  readonly bdSeq: number;
}

export interface NodeConnectionParts {
  readonly topics: SparkplugTopics;
  readonly commands: NodeCommands;
  readonly plant: Plant;
  readonly duplicates: DuplicateNode;
  /** Null: births wait for no host. */
  readonly host: HostOnConnection | null;
  readonly report: NodeReport;
  readonly clock: Clock;
  readonly log: Log;
}

const TICK_MS = 1_000;
const HEALTH_MS = 10_000;
/** A birth repeats the newest answer, and not every broker takes more. */
const LONGEST_ANSWER = 64 * 1024;
/** What else a birth of the node has, and its topic, need less. */
const ROOM_FOR_REST = 4 * 1024;

/**
 * Takes over an accepted client: subscribes, and waits for the primary host. The node is born with the last
 * part of the first snapshot. Rejects after a death if it cannot go on.
 */
export async function openNodeConnection(
  { client, protocolVersion, death, bdSeq }: AcceptedClient,
  parts: NodeConnectionParts,
  brokers: number,
  signal: AbortSignal,
): Promise<Connection> {
  const { topics, plant, duplicates, host, report, clock, log } = parts;
  const loss = watchLoss(client);
  const end = () => endSession(client, topics, death, protocolVersion, clock);
  const stopListening = onAbort(signal, () => loss.report(new Error("the gateway closes the connection")));
  try {
    const session = createSession({
      ...{ client, topics, plant, loss, counts: report.counts, clock },
      onBirth: duplicates.noteOwn,
    });
    const run = createTurns();
    const noteMerged = () => {
      report.counts.rebirthsMerged += 1;
      plant.node.setRebirthsMerged(report.counts.rebirthsMerged);
    };
    const rebirths = createRebirths(clock, rebirthIn(session, run, loss), noteMerged);
    const longest = Math.max(0, Math.min(LONGEST_ANSWER, client.limits.maximumPacketSize - ROOM_FOR_REST));
    plant.node.limitAnswer(longest);
    const { node } = plant;
    const publish = createAnswers({ node, session, run, loss, report, onCaughtUp: rebirths.request });
    client.on("message", createReceiver(parts, session, rebirths, { longest, publish }));
    const refused = await subscribeAll(client, topics, log);
    if (refused.includes(topics.node("NBIRTH"))) duplicates.cannotRead();
    await host?.online(loss, brokers, clock);
    plant.node.setBdSeq(bdSeq);
    plant.node.lookAtHealth();
    return serve({ plant, clock, loss, end, session, run, rebirths });
  } catch (error) {
    await end();
    throw error;
  } finally {
    stopListening();
  }
}

/** @returns what the broker refuses, and the gateway can do without */
async function subscribeAll(
  client: LimitedClient,
  topics: SparkplugTopics,
  log: Log,
): Promise<readonly string[]> {
  const filters = [
    ...topics.nodeCommands,
    ...(client.limits.wildcardsAvailable ? [topics.deviceCommands] : []),
    topics.node("NBIRTH"),
    topics.node("NDEATH"),
    ...(topics.state === null ? [] : [topics.state]),
  ];
  // Retain as published (MQTT 5): a command with the retain flag is recognised at once.
  const refused = await subscribe(client, filters, { qos: 1, rap: true });
  const needed = refused.find((filter) => topics.nodeCommands.includes(filter) || filter === topics.state);
  if (needed !== undefined) throw new Error(`the broker refused the subscription ${needed}`);
  if (refused.length > 0)
    log.warn({ refused }, "the broker does not let this gateway read what is published in its own name");
  return refused;
}

const NOT_BORN = "the node is not born yet";

/** Handles what hosts publish, and what is published in the name of this very node. */
function createReceiver(
  { topics, plant, commands, host, duplicates, report }: NodeConnectionParts,
  session: SparkplugSession,
  rebirths: Rebirths,
  answers: { readonly longest: number; readonly publish: PublishAnswer },
): (topic: string, payload: Buffer, packet: MessageFacts) => void {
  /** Returns why the message is ignored; null: it is not. */
  function take(sender: string, payload: Buffer, packet: MessageFacts): string | null {
    const read = readHostWrites(payload, plant.node);
    if (!read.ok) return read.reason;
    const { rebirths: asked, requests } = read.writes;
    // A retained one was kept by the broker: it is refused, and the birth has the answer.
    if (!session.isBorn() && requests.length > 0 && !packet.retain) return NOT_BORN;
    for (const request of requests)
      void commands
        .submit(sender, request, packet, answers.longest)
        .then((text) => answers.publish(sender, text));
    // Kept by the broker, it would come with every connection.
    if (session.isBorn() && !packet.retain) for (let each = 0; each < asked; each += 1) rebirths.request();
    return null;
  }

  return (topic, payload, packet) => {
    switch (topic) {
      case topics.state:
        host?.receive(payload);
        break;
      case topics.node("NBIRTH"):
        // No gateway retains a birth: what a broker has kept shows nobody.
        if (!packet.retain) duplicates.receiveBirth(payload);
        break;
      case topics.node("NDEATH"):
        // The last will of an earlier connection, or the death of another gateway: hosts must not believe it.
        if (!session.isBorn()) break;
        duplicates.receiveDeath();
        rebirths.request();
        break;
      default: {
        const sender = topics.senderOf(topic);
        const ignored = sender === null ? NO_OTHER : take(sender, payload, packet);
        if (ignored !== null) report.commandIgnored({ topic, sender }, ignored);
      }
    }
  };
}

/**
 * Stops data at once, and is born again when the message under way has left. Resolves when all births have
 * left, or the connection is lost.
 */
function rebirthIn(session: SparkplugSession, run: Turns, loss: Loss): () => Promise<void> {
  return () => {
    session.stopData();
    return run(async () => {
      await session.birth();
      await session.flush();
    }).catch(loss.report);
  };
}

interface Served extends Pick<NodeConnectionParts, "plant" | "clock"> {
  readonly loss: Loss;
  readonly end: () => Promise<void>;
  readonly session: SparkplugSession;
  readonly run: Turns;
  readonly rebirths: Rebirths;
}

function serve({ plant, clock, loss, end, session, run, rebirths }: Served): Connection {
  const life = new AbortController();
  void loss.lost.then(() => life.abort());
  onAbort(life.signal, rebirths.end);
  every(clock, TICK_MS, life.signal, () => {
    plant.tick();
    // Set back, it would date data before the birth.
    if (session.isBorn() && clock.nowMs() < session.bornAtMs()) rebirths.request();
    if (session.isBorn()) run(() => session.flush()).catch(loss.report);
  });
  every(clock, HEALTH_MS, life.signal, plant.node.lookAtHealth);
  return {
    lost: loss.lost,
    async write({ changes, events, isInSnapshot }) {
      for (const change of changes) plant.apply(change);
      if (isInSnapshot) return events.length;
      let arrived = 0;
      await run(async () => {
        if (!session.isBorn()) await session.birth();
        await session.flush();
        for (const event of events) {
          // The others stay on the disk, and come again.
          if (event.historical && !session.takesHistory()) return;
          arrived += 1;
          // What happens now is in the values.
          const robot = event.historical ? plant.robot(event.robotId) : undefined;
          if (robot === undefined) continue;
          session.history(robot.device, robot.past(event));
          await session.drained();
        }
      });
      return arrived;
    },
    async [Symbol.asyncDispose]() {
      life.abort();
      session.end();
      if (loss.cause() === null) await end();
      loss.report(new Error("the gateway closed the connection"));
    },
  };
}

/** The births that hosts ask for. */
interface Rebirths {
  /** A host has asked for a birth, or needs another: now, or when the last one is long enough ago. */
  request(): void;
  /** The connection has ended. */
  end(): void;
}

/** Hosts that ask more often get one birth for all of it. */
const PACE_MS = 10_000;

/**
 * @param rebirth stops data at once, begins the birth, and resolves when all births have left
 * @param onMerged one more request waits for a later birth, or with others for one
 */
function createRebirths(
  clock: Pick<Clock, "monotonicMs" | "after">,
  rebirth: () => Promise<void>,
  onMerged: () => void,
): Rebirths {
  let lastMs: number | null = null;
  let cancel: Cancel | null = null;
  let isUnderWay = false;

  /** Over a slow connection births take longer: begun again each time, they would never end. */
  function begin(): void {
    cancel = isUnderWay ? clock.after(PACE_MS, begin) : null;
    if (isUnderWay) return;
    isUnderWay = true;
    lastMs = clock.monotonicMs();
    void rebirth().finally(() => {
      isUnderWay = false;
    });
  }

  return {
    request() {
      if (cancel !== null) return onMerged();
      const waitMs = lastMs === null ? 0 : lastMs + PACE_MS - clock.monotonicMs();
      if (waitMs <= 0) return begin();
      onMerged();
      cancel = clock.after(waitMs, begin);
    },
    end() {
      cancel?.();
      cancel = null;
    },
  };
}
