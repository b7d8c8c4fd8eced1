import type { IClientPublishOptions } from "mqtt";
import type { Connection } from "../../contracts/link.ts";
import type { StateChange } from "../../domain/change.ts";
import type { Age } from "../../domain/observed.ts";
import type { RobotId } from "../../domain/robot.ts";
import { type Clock, every } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { onAbort } from "../../platform/on-abort.ts";
import type { SizeLimit } from "./client/broker-limits.ts";
import { endClient, within } from "./client/client.ts";
import { type LimitedClient, NotTakenYet, TopicRefused } from "./client/limited-client.ts";
import { createEventWriter, type EventArrivals } from "./event-writer.ts";
import { type Acks, createAcks } from "./inbox.ts";
import { openLeftoverChains, openLeftoverTopics } from "./leftover-topics.ts";
import { createLoss, type Loss } from "./loss.ts";
import type { MqttOptions } from "./options.ts";
import type { PublishState, RemoveTopic } from "./publish.ts";
import type { PublishedTopics } from "./published-topics.ts";
import { createRefresh } from "./refresh.ts";
import { type HealthReport, healthPayload, healthSignature, statusPayload } from "./status.ts";
import { createTagWriter } from "./tags.ts";
import type { TopicRegistry } from "./topic-registry.ts";
import type { Topics } from "./topics.ts";
import { createValueWriter } from "./values.ts";

/** The content and the counts of one connection. */
export interface ConnectionParts {
  readonly options: MqttOptions;
  readonly topics: Topics;
  readonly sessionId: string;
  readonly stopping: AbortSignal;
  /** The ages of robots' positions, over all connections. */
  readonly ages: Map<RobotId, Age>;
  readonly clock: Clock;
  readonly log: Log;
  readonly health: () => HealthReport;
  readonly counts: PublishCounts;
  /** The topics that are published now. */
  readonly registry: TopicRegistry;
  /** Whether no other gateway with the same id is known at the broker. */
  readonly isAlone: () => boolean;
  /** The arrival of events at the gateway's own broker; null: the broker stores them. */
  readonly arrivals: EventArrivals | null;
  /** An event was left out because of its size. */
  readonly onTooLarge: (topic: string, limitBytes: number) => void;
  /** This status was published. */
  readonly noteStatus: (payload: string) => void;
}

/** Messages handed to the broker since the gateway started. */
export interface PublishCounts {
  state: number;
  events: number;
}

const HEALTH_PERIOD_MS = 10_000;
const HEALTH_LOOK_MS = 1_000;
const TICK_MS = 1_000;
const REFRESH_SLICES = 20;
const REFRESH_LIMIT = 2_000;
const CHANGES_A_SLICE = 512;
const GOODBYE_MS = 2_000;
/** A status that the broker did not take. */
const STATUS_AGAIN_MS = 2_000;

/** State expires when so many refreshes have not come (docs/scada.md, State). */
const REFRESHES_TO_LIVE = 3;

/**
 * Takes over an accepted client, and publishes that the gateway is online.
 *
 * @param record the topics that this gateway has published at this broker over its runs; null: the broker
 * loses them with the gateway
 * @param sizes the size limit of events at this broker; null with the gateway's own
 */
export async function openConnection(
  client: LimitedClient,
  record: PublishedTopics | null,
  sizes: SizeLimit | null,
  parts: ConnectionParts,
): Promise<Connection> {
  const { options, topics, sessionId, clock, log, registry, counts, isAlone, onTooLarge } = parts;
  const refreshMs = refreshOf(options);
  // A reload may move the topic: this connection says its goodbye on the topic of its hello.
  const { status } = topics;
  const loss = watchLoss(client);
  const life = new AbortController();
  void loss.lost.then(() => life.abort());
  const acks = createAcks(loss);
  const { publish, remove: removeTopic } = statePublisher(client, parts, acks, life.signal);
  registry.begin();
  // Before anything with this session's id is published: a later run recognises it by the record.
  await record?.keep();
  record?.note(status);
  record?.note(topics.health, status);
  const publishState: PublishState = (topic, payload, mark) => {
    if (mark !== null) record?.note(topic, mark);
    registry.note(topic, payload);
    publish(topic, payload);
  };
  const remove: RemoveTopic = (topic) => {
    registry.note(topic, "");
    removeTopic(topic);
  };
  const tags = options.tags ? createTagWriter(topics, publishState, parts.ages, clock) : null;
  const values = createValueWriter({
    topics,
    sessionId,
    publish: publishState,
    remove,
    tags,
    robots: () => options.placement.now().robots,
  });
  const sayStatus = () => {
    const state = parts.stopping.aborted || life.signal.aborted ? "offline" : "online";
    const payload = statusPayload(state, options.gatewayId, sessionId, clock.nowMs());
    parts.noteStatus(payload);
    registry.note(status, payload);
    return loss.orElse((done) => {
      client.publish(status, payload, { qos: 1, retain: true }, (error) => {
        const isLater = error instanceof NotTakenYet && !life.signal.aborted;
        if (isLater) clock.after(STATUS_AGAIN_MS, sayAgain);
        // Who watches sees the gateway's values without its status, and health names the topic.
        done(isLater || error instanceof TopicRefused ? null : error);
      });
    });
  };
  const sayAgain = () => {
    if (!life.signal.aborted) sayStatus().catch(() => {});
  };
  await sayStatus();
  const stopFollowing = onAbort(parts.stopping, () => void sayStatus().catch(() => {}));
  life.signal.addEventListener("abort", stopFollowing, { once: true });
  // Not retained, it would have to be repeated: a client that subscribes later would never get it.
  if (refreshMs !== null && !client.limits.retainAvailable)
    every(clock, refreshMs, life.signal, () => void sayStatus().catch(() => {}));
  publishHealth(client, parts, life.signal);
  const leftovers =
    refreshMs === null
      ? await openLeftoverChains(client, { topics, sessionId, clock, log, remove, isAlone }, life.signal)
      : null;
  every(clock, TICK_MS, life.signal, () => {
    // A slow broker gets only changes.
    if (!client.isBehind) values.tick();
  });
  const earlier =
    record === null ? null : openLeftoverTopics(client, { record, clock, log, remove, isAlone }, life.signal);
  const write = (change: StateChange) => {
    registry.about(change);
    values.write(change);
    registry.about(null);
    earlier?.note(change);
    leftovers?.note(change);
  };
  const events = createEventWriter(client, loss, { topics, sessionId, counts, sizes, onTooLarge });

  return {
    lost: loss.lost,
    async write(batch) {
      await writeChanges(client, loss, acks, batch.changes, write);
      values.flush();
      return batch.events.length === 0 ? 0 : await events.write(batch.events);
    },
    ...(parts.arrivals === null ? {} : { subscribers: events.to(parts.arrivals) }),
    async [Symbol.asyncDispose]() {
      life.abort();
      if (loss.cause() !== null) return;
      values.sayOffline();
      // Acknowledged after all that was published before it: then everything has arrived. Where
      // it is not, the last will says the same.
      if (await within(clock, GOODBYE_MS, sayStatus())) await endClient(client, clock);
      else client.end(true);
      loss.report(new Error("the gateway closed the connection"));
      await record?.keep();
    },
  };
}

function watchLoss(client: LimitedClient): Loss {
  const loss = createLoss();
  let failure: Error | null = null;
  client.on("error", (error) => {
    failure ??= error;
    client.end(true);
  });
  client.on("disconnect", (packet) => {
    failure ??= new Error(`the broker gave reason ${packet.reasonCode ?? 0}`);
  });
  client.on("close", () => {
    const why = failure === null ? "" : `: ${failure.message}`;
    const options = failure === null ? {} : { cause: failure };
    loss.report(new Error(`the connection to the MQTT broker is lost${why}`, options));
    client.end(true);
  });
  return loss;
}

/** Publishes retained state, and repeats it before MQTT 5 lets it expire; removed state is not repeated. */
function statePublisher(
  client: LimitedClient,
  parts: ConnectionParts,
  acks: Acks,
  signal: AbortSignal,
): { readonly publish: PublishState; readonly remove: RemoveTopic } {
  const { options: of, clock, counts } = parts;
  const { stateQos } = of;
  const refreshMs = refreshOf(of);
  const expirySeconds = refreshMs === null ? null : Math.ceil((refreshMs * REFRESHES_TO_LIVE) / 1000);
  const options: IClientPublishOptions = {
    qos: stateQos,
    retain: true,
    ...(expirySeconds === null ? {} : { properties: { messageExpiryInterval: expirySeconds } }),
  };
  const refresh = refreshMs === null ? null : createRefresh();
  const acknowledged = (topic: string, payload: string) => {
    const expected = acks.expect();
    return (error?: Error) => {
      if (error instanceof NotTakenYet) refresh?.notTaken(topic, payload);
      expected();
    };
  };
  const publish: PublishState = (topic, payload) => {
    counts.state += 1;
    refresh?.note(topic, payload, clock.monotonicMs());
    if (stateQos === 1) client.publish(topic, payload, options, acknowledged(topic, payload));
    else client.publishState(topic, payload, expirySeconds);
  };
  const remove: RemoveTopic = (topic) => {
    counts.state += 1;
    refresh?.note(topic, "", clock.monotonicMs());
    client.publish(topic, "", { qos: 1, retain: true }, acknowledged(topic, ""));
  };
  if (refresh !== null && refreshMs !== null) {
    every(clock, refreshMs / REFRESH_SLICES, signal, () => {
      // A broker that cannot keep up gets no more than what changes.
      if (client.isBehind) return;
      refresh.due(clock.monotonicMs(), refreshMs, REFRESH_LIMIT, (topic, payload) =>
        payload === "" ? remove(topic) : publish(topic, payload),
      );
    });
  }
  return { publish, remove };
}

/** Writes in slices, no faster than the broker reads. */
async function writeChanges(
  client: LimitedClient,
  loss: Loss,
  acks: Acks,
  changes: readonly StateChange[],
  write: (change: StateChange) => void,
): Promise<void> {
  for (let start = 0; start < changes.length; start += CHANGES_A_SLICE) {
    const cause = loss.cause();
    if (cause !== null) throw cause;
    client.stream.cork();
    try {
      for (const change of changes.slice(start, start + CHANGES_A_SLICE)) write(change);
    } finally {
      client.stream.uncork();
    }
    if (client.stream.writableNeedDrain)
      await loss.orElse((done) => client.stream.once("drain", () => done()));
    await acks.settled();
    await loss.orElse((done) => client.afterWaiting(done));
  }
}

function publishHealth(client: LimitedClient, parts: ConnectionParts, signal: AbortSignal): void {
  const { clock, topics, sessionId, registry } = parts;
  let signature = "";
  let saidAtMs = Number.NEGATIVE_INFINITY;
  const look = () => {
    const report = parts.health();
    const now = healthSignature(report);
    const elapsedMs = clock.monotonicMs() - saidAtMs;
    if (now === signature && elapsedMs < HEALTH_PERIOD_MS) return;
    signature = now;
    saidAtMs = clock.monotonicMs();
    const payload = healthPayload(report, sessionId, clock.nowMs());
    registry.note(topics.health, payload);
    client.publish(topics.health, payload, { qos: 0, retain: true });
  };
  look();
  every(clock, HEALTH_LOOK_MS, signal, look);
}

/** State expires with MQTT 5 only; null: it cannot. */
function refreshOf({ broker, protocolVersion, refreshMs }: MqttOptions): number | null {
  return broker.kind === "external" && protocolVersion === 5 ? refreshMs : null;
}
