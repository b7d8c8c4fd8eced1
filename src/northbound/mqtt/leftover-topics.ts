import type { IPublishPacket, MqttClient } from "mqtt";
import type { StateChange } from "../../domain/change.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { isJsonObject, parsedJson } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { subscribe } from "./client/client.ts";
import type { RemoveTopic } from "./message.ts";
import type { PublishedTopics } from "./published-topics.ts";
import type { Topics } from "./topics.ts";

interface LeftoverParts {
  readonly topics: Topics;
  readonly sessionId: string;
  /** Null: the broker loses topics with the gateway. */
  readonly record: PublishedTopics | null;
  /** Whether the broker keeps state for ever. */
  readonly isKept: boolean;
  readonly remove: RemoveTopic;
  /** Whether no other gateway publishes on these topics. */
  readonly isAlone: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
}

/** Clears what earlier runs have left. Returns a function for each change that is published. */
export async function openLeftovers(
  client: MqttClient,
  parts: LeftoverParts,
  signal: AbortSignal,
): Promise<(change: StateChange) => void> {
  const { record, isKept } = parts;
  const chains = isKept ? await openLeftoverChains(client, parts, signal) : null;
  const earlier = record === null ? null : openLeftoverTopics(client, record, parts, signal);
  return (change) => {
    earlier?.note(change);
    chains?.note(change);
  };
}

/** Clears the retained topics of earlier runs that this one does not publish. */
export interface LeftoverTopics {
  /** A change that was published on this connection. */
  note(change: StateChange): void;
}

/** How long the broker has for what this run publishes, and the fleet after the first list of its robots. */
const SETTLE_MS = 5_000;
const LOOK_MS = 2_000;
const MARKS_A_LOOK = 100;
const KEEP_LOOKS = 5;
const CLEARED_A_LOOK = 5_000;

/**
 * A topic is cleared only while its mark at the broker still names a session of this gateway: another gateway
 * may have taken over a robot with its topics. Those that were made by other rules are looked at first; the
 * others when the fleet has listed its robots, as those may still come.
 */
function openLeftoverTopics(
  client: MqttClient,
  record: PublishedTopics,
  { clock, log, remove, isAlone }: LeftoverParts,
  signal: AbortSignal,
): LeftoverTopics {
  const openedAtMs = clock.monotonicMs();
  let listedAtMs: number | null = null;
  /** The marks that are subscribed to, and the leftover topics of each. */
  let asked = new Map<string, string[]>();
  let chains: RegExp | null = null;
  let cleared = 0;
  let looks = 0;
  let isBusy = false;

  function clear(topics: readonly string[]): void {
    for (const topic of topics) {
      remove(topic);
      record.forget(topic);
      cleared += 1;
    }
  }

  function handle(topic: string, payload: Buffer, packet: IPublishPacket): void {
    const group = asked.get(topic);
    const isChain = packet.retain && chains?.test(topic) === true;
    if ((group === undefined && !isChain) || payload.length === 0) return;
    const session = sessionOf(payload);
    if (isChain && session !== null && record.isOurs(session)) clear([topic]);
    if (group === undefined) return;
    asked.delete(topic);
    const mine = group.filter((each) => record.left.has(each));
    if (session !== null && record.isOurs(session)) {
      // The mark last: what is left of a group can be found again by it.
      clear(mine.filter((each) => each !== topic));
      clear(mine.filter((each) => each === topic));
    } else for (const each of mine) record.forget(each);
  }

  /** Whether what is left may be looked at now. */
  function isDue(nowMs: number): boolean {
    if (nowMs - openedAtMs < SETTLE_MS || !isAlone()) return false;
    return record.isMoved || (listedAtMs !== null && nowMs - listedAtMs >= SETTLE_MS);
  }

  async function ask(): Promise<void> {
    const marks = new Map<string, string[]>();
    for (const [topic, mark] of record.left) {
      const group = marks.get(mark);
      if (group !== undefined) group.push(topic);
      else if (marks.size < MARKS_A_LOOK) marks.set(mark, [topic]);
    }
    if (marks.size === 0) return;
    asked = marks;
    const refused = await subscribe(client, [...marks.keys()], { qos: 0 });
    for (const mark of refused) {
      for (const topic of marks.get(mark) ?? []) record.skip(topic);
      asked.delete(mark);
    }
    if (refused.length > 0)
      log.warn(
        { topic: refused[0], count: refused.length },
        "the broker does not let this gateway read topics of its earlier runs: they stay there",
      );
  }

  /** A topic of which nothing came is not retained any more. */
  function close(): void {
    for (const group of asked.values()) for (const topic of group) record.forget(topic);
    asked = new Map();
  }

  async function look(): Promise<void> {
    looks += 1;
    if (looks % KEEP_LOOKS === 0) await record.keep();
    if (!isDue(clock.monotonicMs())) return;
    const over = [...asked.keys()];
    close();
    if (record.isOwnBroker && record.left.size > 0) clear([...record.left.keys()].slice(0, CLEARED_A_LOOK));
    else if (record.left.size > 0) await ask();
    else if (cleared > 0) {
      log.info({ topics: cleared }, "retained topics of earlier runs are cleared");
      cleared = 0;
    }
    const done = over.filter((mark) => !asked.has(mark));
    if (done.length > 0) client.unsubscribe(done, () => {});
  }

  async function askForChains(filter: string): Promise<void> {
    chains = patternOf(filter);
    await subscribe(client, [filter], { qos: 0 });
    clock.after(SETTLE_MS, () => {
      chains = null;
      if (!signal.aborted) client.unsubscribe(filter, () => {});
    });
  }

  client.on("message", handle);
  signal.addEventListener("abort", () => client.off("message", handle), { once: true });
  // A connection that is lost meanwhile reports it itself.
  if (record.movedChains !== null) askForChains(record.movedChains).catch(() => {});
  every(clock, LOOK_MS, signal, () => {
    if (isBusy) return;
    isBusy = true;
    look()
      .catch(() => {})
      .finally(() => {
        isBusy = false;
      });
  });

  return {
    note(change) {
      if (change.kind !== "presence" || change.observed.quality !== "good") return;
      listedAtMs ??= clock.monotonicMs();
    },
  };
}

/** The session that JSON names; null for any other payload. */
function sessionOf(payload: Buffer): string | null {
  const json = parsedJson(payload.toString("utf8"));
  return isJsonObject(json) && typeof json.session_id === "string" ? json.session_id : null;
}

/** The topics of a filter whose wildcards are `+`. */
function patternOf(filter: string): RegExp {
  const levels = filter
    .split("/")
    .map((level) => (level === "+" ? "[^/]+" : level.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return new RegExp(`^${levels.join("/")}$`);
}

/**
 * Finds the task chains that earlier runs of the gateway left at the broker, and removes those that are gone.
 */
export interface LeftoverChains {
  /** A change that was published on this connection. */
  note(change: StateChange): void;
}

/** How long the broker may take for its retained messages, and the fleet for the second list of robots. */
const CHAIN_SETTLE_MS = 5_000;
const CHAIN_LOOK_MS = 1_000;
const REMOVED_A_LOOK = 500;
const MOST_FOUND = 100_000;

/**
 * For a broker whose retained state does not expire (MQTT 3.1.1). A chain is gone if this run has not
 * published it and no robot of the online list executes it. If a robot comes back with it, it is published
 * again.
 */
async function openLeftoverChains(
  client: MqttClient,
  { topics, sessionId, clock, log, remove, isAlone }: LeftoverParts,
  signal: AbortSignal,
): Promise<LeftoverChains> {
  const found = new Set<string>();
  const shown = new Set<string>();
  /** The topic of each robot's chain. */
  const underWay = new Map<string, string>();
  const over = new AbortController();
  const life = AbortSignal.any([signal, over.signal]);
  const openedAtMs = clock.monotonicMs();
  let listedAtMs: number | null = null;
  let isListening = true;

  function handle(topic: string, payload: Buffer): void {
    if (!isListening || found.size >= MOST_FOUND || !isOfEarlierRun(topic, payload.toString("utf8"))) return;
    if (!shown.has(topic)) found.add(topic);
  }

  /** Only envelopes of a gateway: messages of other clients are not touched. */
  function isOfEarlierRun(topic: string, text: string): boolean {
    const chainId = topics.readTaskChain(topic);
    if (chainId === null) return false;
    const json = parsedJson(text);
    if (!isJsonObject(json) || typeof json.session_id !== "string") return false;
    return "state" in json && json.session_id !== sessionId;
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - openedAtMs < CHAIN_SETTLE_MS) return;
    if (isListening) {
      isListening = false;
      shown.clear();
      // A lost connection needs no unsubscription.
      client.unsubscribe(topics.taskChainFilter, () => {});
    }
    if (listedAtMs === null || nowMs - listedAtMs < CHAIN_SETTLE_MS || !isAlone()) return;
    const present = new Set(underWay.values());
    let count = 0;
    for (const topic of found) {
      if (count === REMOVED_A_LOOK) return;
      found.delete(topic);
      if (present.has(topic)) continue;
      count += 1;
      remove(topic);
    }
    over.abort();
  }

  client.on("message", handle);
  life.addEventListener("abort", () => client.off("message", handle), { once: true });
  const refused = await subscribe(client, [topics.taskChainFilter], { qos: 0 });
  if (refused.length > 0) {
    log.warn(
      { topic: topics.taskChainFilter },
      "the broker does not let this gateway read its own task chains: those of earlier runs stay there",
    );
    over.abort();
  }
  if (!life.aborted) every(clock, CHAIN_LOOK_MS, life, look);

  return {
    note(change) {
      if (life.aborted) return;
      if (change.kind === "presence") {
        const { value, quality } = change.observed;
        if (quality === "good") listedAtMs ??= clock.monotonicMs();
        underWay.set(change.robotId, topics.taskChain(value.taskChainId));
      } else if (change.kind === "task_chain" || change.kind === "task_chain_evicted") {
        const topic = topics.taskChain(change.chainId);
        found.delete(topic);
        if (isListening) shown.add(topic);
      }
    },
  };
}
