import type { MqttClient } from "mqtt";
import { type Clock, noLaterThan, within } from "../../../platform/clock.ts";
import { type BrokerLimits, type Missing, missingAtBroker } from "../client/broker-limits.ts";
import { checkingClientId, checkingParts } from "../client/checking.ts";
import { endClient, openClient, subscribe } from "../client/client.ts";
import type { LimitedClient } from "../client/limited-client.ts";
import type { ExternalBrokerOptions, MqttOptions } from "../options.ts";
import type { SparkplugOptions } from "../sparkplug/options.ts";
import { createSparkplugTopics } from "../sparkplug/topics.ts";
import { topicTemplates } from "../topic-templates.ts";
import { createTopics, type Topics } from "../topics.ts";

/** Whether a published message passed. */
export type Passage =
  | { readonly kind: "arrived" }
  /** The broker's reason, in its own words. */
  | { readonly kind: "refused"; readonly message: string }
  /** The broker has accepted it, and has not delivered it to a subscriber of the topic. */
  | { readonly kind: "lost" };

/** What a trial needs of the edge node. */
export type TriedNode = Pick<SparkplugOptions, "groupId" | "nodeId" | "primaryHost" | "legacyState" | "json">;

export interface TopicTrial {
  readonly topic: string;
  /** It is one of the edge node of Sparkplug. */
  readonly isSparkplug: boolean;
  readonly passage: Passage;
}

/** The result of a trial of the plant's broker. */
export type BrokerTrial =
  | { readonly kind: "unconnected"; readonly error: unknown }
  | {
      readonly kind: "connected";
      readonly limits: BrokerLimits;
      /** What the plant would lack with these limits. */
      readonly missing: readonly Missing[];
      /** Subscriptions that the broker refuses. */
      readonly refusedFilters: readonly string[];
      readonly published: readonly TopicTrial[];
      /** The gateway's own user writes to a command topic of another client; null: not tried. */
      readonly asOther: TopicTrial | null;
      /** The same by a client without user and certificate; null: not tried. */
      readonly anonymous: { readonly isLetIn: boolean; readonly trial: TopicTrial | null } | null;
    };

/** A name that no client of a plant has. */
const NAME = "fleetgate-check";
const ARRIVAL_MS = 2_000;

interface TrialParts {
  readonly clock: Clock;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Connects like the gateway, but under a client id of its own and without a last will: a running gateway
 * keeps its connection. Its messages are not retained. No gateway acts on them: its command topic has an
 * empty level instead of an operation.
 */
export async function tryBroker(
  options: MqttOptions,
  sparkplug: TriedNode | null,
  broker: ExternalBrokerOptions,
  parts: TrialParts,
): Promise<BrokerTrial> {
  let client: LimitedClient;
  try {
    client = await connect({ ...options, broker, clientId: checkingClientId(options.clientId) }, parts);
  } catch (error) {
    return { kind: "unconnected", error };
  }
  try {
    return await tryTopics(options, sparkplug, broker, client, parts);
  } catch (error) {
    return { kind: "unconnected", error };
  } finally {
    await endClient(client, parts.clock);
  }
}

async function tryTopics(
  options: MqttOptions,
  sparkplug: TriedNode | null,
  broker: ExternalBrokerOptions,
  client: LimitedClient,
  parts: TrialParts,
): Promise<BrokerTrial> {
  const topics = createTopics(options.base, options.placement.now());
  const hasJson = sparkplug?.json !== false;
  const takesCommands = hasJson && options.commands.enabled && options.commands.brokerEnforcesClientNames;
  const event = under(options.base, "gatewayEvent", { kind: "check" });
  const reply = topics.reply(NAME, "check");
  const command = under(options.base, "command", { client: NAME, operation: "" });
  const json = hasJson ? [event, ...(takesCommands ? [reply] : []), ...placedTopics(options, topics)] : [];
  const node = sparkplug === null ? { own: [], filters: [] } : nodeTopics(sparkplug);
  const own = [...json, ...node.own];
  const arrivals = createArrivals(client);
  const filters = [
    ...(hasJson ? [topics.status] : []),
    ...(takesCommands ? [topics.commandFilter] : []),
    ...node.filters,
  ];
  const asked = subscribe(client, [...own, ...filters], { qos: 1 });
  const refused = await noLaterThan(parts.clock, parts.limitMs, asked, null);
  if (refused === null) throw new Error(`the broker answers no subscription within ${parts.limitMs} ms`);
  const attempt = async (from: MqttClient, topic: string): Promise<TopicTrial> => {
    const passage = await pass(from, topic, arrivals, parts);
    return { topic, isSparkplug: node.own.includes(topic), passage };
  };
  const published = await Promise.all(own.map((topic) => attempt(client, topic)));
  const asOther = takesCommands ? await attempt(client, command) : null;
  const isKnown = broker.username !== null || broker.tls.now().clientCert !== null;
  const anonymous =
    takesCommands && isKnown
      ? await tryAnonymous(options, broker, (other) => attempt(other, command), parts)
      : null;
  return {
    kind: "connected",
    limits: client.limits,
    missing: missingAtBroker(client.limits, options.refreshMs, takesCommands),
    refusedFilters: refused.filter((filter) => filters.includes(filter)),
    published,
    asOther,
    anonymous,
  };
}

async function tryAnonymous(
  options: MqttOptions,
  broker: ExternalBrokerOptions,
  attempt: (client: MqttClient) => Promise<TopicTrial>,
  parts: TrialParts,
) {
  const tls = broker.tls.pick((texts) => ({ ...texts, clientCert: null }));
  const nobody = { ...broker, username: null, password: null, tls };
  let client: MqttClient;
  try {
    client = await connect({ ...options, broker: nobody, clientId: NAME }, parts);
  } catch {
    return { isLetIn: false, trial: null };
  }
  try {
    return { isLetIn: true, trial: await attempt(client) };
  } finally {
    await endClient(client, parts.clock);
  }
}

function connect(options: MqttOptions, { limitMs, signal }: TrialParts): Promise<LimitedClient> {
  return within(signal, limitMs, (bounded) => openClient(options, checkingParts, bounded)).then((client) => {
    client.on("error", () => {});
    return client;
  });
}

/** A topic of a template, filled in without encoding. */
function under(
  base: string,
  name: "gatewayEvent" | "command",
  values: Readonly<Record<string, string>>,
): string {
  return `${base}/${topicTemplates[name].replace(/\{(\w+)\}/g, (_, key: string) => values[key] ?? "")}`;
}

/** A topic at each placement, which an access rule for the base does not cover. Nobody listens there. */
function placedTopics({ placement }: MqttOptions, topics: Topics): string[] {
  const { robot, station, stations } = placement.now();
  const [first] = stations;
  return [
    ...(robot === null ? [] : [topics.robot(NAME).tag("check")]),
    ...(station === null || first === undefined ? [] : [`${topics.station(first.name)}/check`]),
  ];
}

/**
 * The topics of the edge node. Hosts act upon the message types of Sparkplug alone, and `CHECK` is none of
 * them: no host takes the trial for a birth.
 */
function nodeTopics(sparkplug: TriedNode): { readonly own: string[]; readonly filters: string[] } {
  const topics = createSparkplugTopics(sparkplug, false);
  const { state } = topics;
  return {
    own: [topics.trial(), topics.trial(NAME)],
    filters: [...topics.nodeCommands, topics.deviceCommands, ...(state === null ? [] : [state])],
  };
}

type Arrivals = ReturnType<typeof createArrivals>;

/** The messages that come back to the client, by their texts. */
function createArrivals(client: MqttClient) {
  const waiting = new Map<string, () => void>();
  client.on("message", (_topic: string, payload: Buffer) => waiting.get(payload.toString("utf8"))?.());
  return {
    of: (text: string) => new Promise<true>((resolve) => waiting.set(text, () => resolve(true))),
  };
}

let attempts = 0;

async function pass(
  from: MqttClient,
  topic: string,
  arrivals: Arrivals,
  { clock, limitMs }: TrialParts,
): Promise<Passage> {
  attempts += 1;
  const text = JSON.stringify({ kind: "check", text: `fleetgate check, ${process.pid}-${attempts}` });
  const arrived = arrivals.of(text);
  const answered = new Promise<Error | null>((resolve) => {
    from.publish(topic, text, { qos: 1 }, (error) => resolve(error ?? null));
    // A broker of MQTT 3.1.1 may close the connection instead of answering.
    from.once("close", () => resolve(new Error("the broker closed the connection")));
  });
  const late = new Error(`the broker does not acknowledge it within ${limitMs} ms`);
  const refusal = await noLaterThan(clock, limitMs, answered, late);
  if (refusal !== null) return { kind: "refused", message: refusal.message };
  const isThere = await noLaterThan(clock, ARRIVAL_MS, arrived, false);
  return { kind: isThere ? "arrived" : "lost" };
}
