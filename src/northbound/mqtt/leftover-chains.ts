import type { MqttClient } from "mqtt";
import type { StateChange } from "../../domain/change.ts";
import { type Clock, every } from "../../platform/clock.ts";
import { isJsonObject } from "../../platform/json.ts";
import type { Log } from "../../platform/log.ts";
import { subscribe } from "./client/subscribe.ts";
import type { RemoveTopic } from "./publish.ts";
import type { Topics } from "./topics.ts";

export interface LeftoverParts {
  readonly topics: Topics;
  readonly sessionId: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly remove: RemoveTopic;
  /** Whether no other gateway publishes on these topics. */
  readonly isAlone: () => boolean;
}

/**
 * Finds the task chains that earlier runs of the gateway left at the broker, and removes those that are gone.
 */
export interface LeftoverChains {
  /** A change that was published on this connection. */
  note(change: StateChange): void;
}

/** How long the broker may take for its retained messages, and the fleet for the second list of robots. */
const SETTLE_MS = 5_000;
const LOOK_MS = 1_000;
const REMOVED_A_LOOK = 500;
const MOST_FOUND = 100_000;

/**
 * For a broker whose retained state does not expire (MQTT 3.1.1). A chain is gone if this run has not
 * published it and no robot of the online list executes it. If a robot comes back with it, it is published
 * again.
 */
export async function openLeftoverChains(
  client: MqttClient,
  parts: LeftoverParts,
  signal: AbortSignal,
): Promise<LeftoverChains> {
  const { topics, clock, log } = parts;
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
    const json = readObject(text);
    return typeof json?.session_id === "string" && "state" in json && json.session_id !== parts.sessionId;
  }

  function look(): void {
    const nowMs = clock.monotonicMs();
    if (nowMs - openedAtMs < SETTLE_MS) return;
    if (isListening) {
      isListening = false;
      shown.clear();
      // A lost connection needs no unsubscription.
      client.unsubscribe(topics.taskChainFilter, () => {});
    }
    if (listedAtMs === null || nowMs - listedAtMs < SETTLE_MS || !parts.isAlone()) return;
    const present = new Set(underWay.values());
    let count = 0;
    for (const topic of found) {
      if (count === REMOVED_A_LOOK) return;
      found.delete(topic);
      if (present.has(topic)) continue;
      count += 1;
      parts.remove(topic);
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
  if (!life.aborted) every(clock, LOOK_MS, life, look);

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

function readObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const json: unknown = JSON.parse(text);
    return isJsonObject(json) ? json : null;
  } catch (error) {
    // Another client has written there.
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
