import { setImmediate } from "node:timers/promises";
import { type IClientPublishOptions, ReasonCodes } from "mqtt";
import type { Connection } from "../../contracts/link.ts";
import type { StateChange } from "../../domain/change.ts";
import { type Clock, every } from "../../platform/clock.ts";
import type { EventArrivals } from "./broker/event-arrivals.ts";
import { createLoss, endClient, type Loss, within } from "./client/client.ts";
import { type LimitedClient, NotTakenYet } from "./client/limited-client.ts";
import type { EventWriter } from "./event-writer.ts";
import { type Acks, createAcks } from "./inbox.ts";
import type { PublishState, RemoveTopic } from "./message.ts";
import type { MqttOptions } from "./options.ts";
import type { PublishedTopics } from "./published-topics.ts";
import type { OwnTopics } from "./status.ts";
import type { TopicRegistry } from "./topic-registry.ts";
import type { Topics } from "./topics.ts";
import type { ValueWriter } from "./values.ts";

/** The dependencies of a connection. */
interface ConnectionParts {
  readonly ownTopics: OwnTopics;
  /** The topics that are published now. */
  readonly registry: TopicRegistry;
  readonly counts: PublishCounts;
  readonly openValues: (publish: PublishState, remove: RemoveTopic) => ValueWriter;
  readonly openEvents: (loss: Loss) => EventWriter;
  /** Finds what earlier runs have left; the returned function is called with each published change. */
  readonly openLeftovers: (
    remove: RemoveTopic,
    signal: AbortSignal,
  ) => Promise<(change: StateChange) => void>;
  /** The arrival of events at the gateway's own broker; null: the broker stores them. */
  readonly arrivals: EventArrivals | null;
  readonly clock: Clock;
}

/** Messages handed to the broker since the gateway started. */
export interface PublishCounts {
  state: number;
  events: number;
}

const TICK_MS = 1_000;
const REFRESH_SLICES = 20;
const REFRESH_LIMIT = 2_000;
/** More of them are written, before the broker has taken those before, than fit into one turn. */
const CHANGES_A_SLICE = 512;
/** Each is one message or several. */
const CHANGES_A_TURN = 100;
const GOODBYE_MS = 2_000;

/** State expires when so many refreshes have not come (docs/mqtt.md, State). */
const REFRESHES_TO_LIVE = 3;

/**
 * Takes over an accepted client, and publishes that the gateway is online.
 *
 * @param record the topics that this gateway has published at this broker over its runs; null: the broker
 * loses them with the gateway
 */
export async function openConnection(
  client: LimitedClient,
  options: MqttOptions,
  topics: Pick<Topics, "status" | "health">,
  record: PublishedTopics | null,
  { ownTopics, registry, counts, openValues, openEvents, openLeftovers, arrivals, clock }: ConnectionParts,
): Promise<Connection> {
  const loss = watchLoss(client);
  const life = new AbortController();
  void loss.lost.then(() => life.abort());
  const acks = createAcks(loss);
  const { publish, remove: removeTopic } = statePublisher(client, options, counts, clock, acks, life.signal);
  registry.begin();
  const { status, health } = topics;
  // Before anything with this session's id is published: a later run recognises it by the record.
  await record?.keep();
  record?.note(status);
  record?.note(health, status);
  const publishState: PublishState = (topic, payload, mark) => {
    if (mark !== null) record?.note(topic, mark);
    registry.note(topic, payload);
    publish(topic, payload);
  };
  const remove: RemoveTopic = (topic) => {
    registry.note(topic, "");
    removeTopic(topic);
  };
  const values = openValues(publishState, remove);
  // Not retained, it has to be repeated: a client that subscribes later would never get it.
  const repeatMs = client.limits.retainAvailable ? null : refreshOf(options);
  const sayStatus = await ownTopics.publish(client, loss, registry, repeatMs, life.signal);
  const noteForLeftovers = await openLeftovers(remove, life.signal);
  every(clock, TICK_MS, life.signal, () => {
    // A slow broker gets only changes.
    if (!client.isBehind) values.tick();
  });
  const write = (change: StateChange) => {
    registry.about(change);
    values.write(change);
    registry.about(null);
    noteForLeftovers(change);
  };
  const events = openEvents(loss);

  return {
    lost: loss.lost,
    async write(batch) {
      await writeChanges(client, loss, acks, batch.changes, write);
      values.flush();
      return batch.events.length === 0 ? 0 : await events.write(batch.events);
    },
    ...(arrivals === null ? {} : { subscribers: events.to(arrivals) }),
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

/** Of MQTT 5. Those of MQTT 3.1.1 have the same numbers as what is no error. */
const FIRST_ERROR = 0x80;
const reasons: Readonly<Record<number, string>> = ReasonCodes;

/** Reports the end of the client. */
export function watchLoss(client: LimitedClient): Loss {
  const loss = createLoss();
  let failure: Error | null = null;
  client.on("error", (error) => {
    failure ??= error;
    client.end(true);
  });
  client.on("disconnect", ({ reasonCode = 0 }) => {
    const name = reasonCode < FIRST_ERROR ? undefined : reasons[reasonCode];
    const named = name === undefined ? "" : `: ${name}`;
    failure ??= new Error(`the broker gave reason ${reasonCode}${named}`);
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
  of: MqttOptions,
  counts: PublishCounts,
  clock: Clock,
  acks: Acks,
  signal: AbortSignal,
): { readonly publish: PublishState; readonly remove: RemoveTopic } {
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

/** Writes in slices, no faster than the broker reads, and a part of a slice in each turn. */
async function writeChanges(
  client: LimitedClient,
  loss: Loss,
  acks: Acks,
  changes: readonly StateChange[],
  write: (change: StateChange) => void,
): Promise<void> {
  for (let start = 0; start < changes.length; start += CHANGES_A_SLICE) {
    const slice = changes.slice(start, start + CHANGES_A_SLICE);
    for (let first = 0; first < slice.length; first += CHANGES_A_TURN) {
      if (start + first > 0) await setImmediate();
      const cause = loss.cause();
      if (cause !== null) throw cause;
      client.stream.cork();
      try {
        for (const change of slice.slice(first, first + CHANGES_A_TURN)) write(change);
      } finally {
        client.stream.uncork();
      }
    }
    if (client.stream.writableNeedDrain)
      await loss.orElse((done) => client.stream.once("drain", () => done()));
    await acks.settled();
    await loss.orElse((done) => client.afterWaiting(done));
  }
}

/** State expires with MQTT 5 only; null: it cannot. */
export function refreshOf({ broker, protocolVersion, refreshMs }: MqttOptions): number | null {
  return broker.kind === "external" && protocolVersion === 5 ? refreshMs : null;
}

/**
 * The last payload of each state topic, oldest first, so that it can be published again before it expires.
 */
export interface Refresh {
  /** A topic was published now; an empty payload removes it. */
  note(topic: string, payload: string, nowMs: number): void;
  /** The broker has not taken it: it is due now, unless something newer was published since. */
  notTaken(topic: string, payload: string): void;
  /**
   * Calls `again` for what was not taken, then for what was last said `ageMs` ago or longer, and at most
   * `limit` topics in one go.
   */
  due(nowMs: number, ageMs: number, limit: number, again: (topic: string, payload: string) => void): void;
}

/** In memory: the last payload of each topic of the fleet. */
export function createRefresh(): Refresh {
  const said = new Map<string, { readonly payload: string; readonly atMs: number }>();
  const notTaken = new Set<string>();
  const payloadOf = (topic: string) => said.get(topic)?.payload ?? "";
  const note = (topic: string, payload: string, nowMs: number) => {
    // Deleted first: a Map keeps the order of insertion, so its first entry stays the oldest.
    said.delete(topic);
    notTaken.delete(topic);
    if (payload !== "") said.set(topic, { payload, atMs: nowMs });
  };
  return {
    note,
    notTaken(topic, payload) {
      if (payloadOf(topic) === payload) notTaken.add(topic);
    },
    due(nowMs, ageMs, limit, again) {
      let count = 0;
      for (const topic of notTaken) {
        if (count === limit) return;
        count += 1;
        notTaken.delete(topic);
        again(topic, payloadOf(topic));
      }
      for (const [topic, { payload, atMs }] of said) {
        if (nowMs - atMs < ageMs || count === limit) return;
        count += 1;
        again(topic, payload);
      }
    },
  };
}
