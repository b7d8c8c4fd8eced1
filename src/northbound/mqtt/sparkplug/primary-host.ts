import type { MqttClient } from "mqtt";
import type { Clock } from "../../../platform/clock.ts";
import { isJsonObject } from "../../../platform/json.ts";
import type { Log } from "../../../platform/log.ts";
import { readJson } from "../../../platform/strict-json.ts";
import type { Loss } from "../client/client.ts";
import type { SparkplugOptions } from "./options.ts";

/** The states of the primary host, at each broker. */
export interface PrimaryHost {
  /**
   * A new connection to this broker.
   *
   * @param onOffline is called when the host was online on this connection, and is offline
   */
  begin(broker: string, onOffline: () => void): HostOnConnection;
  /** Why births wait, in words; null: they do not. */
  whyNot(): string | null;
}

/** The host as one connection sees it. */
export interface HostOnConnection {
  /** A message on the topic of its state. */
  receive(payload: Uint8Array): void;
  /**
   * Resolves when it is online. Rejects if the connection is lost, or if the host is offline, or unheard for
   * a while, and the gateway should look for it at another broker.
   */
  online(loss: Loss, hasOthers: boolean, clock: Pick<Clock, "after">): Promise<void>;
}

interface HostState {
  readonly isOnline: boolean;
  /** Null: the state has none. */
  readonly timestamp: number | null;
}

/** A broker tells a state that it has in far less. It may have none, if the host was never there. */
const UNHEARD_MS = 5_000;

/** Older states than the last one at the same broker are ignored, over all connections. */
export function createPrimaryHost({
  primaryHost,
  legacyState,
}: Pick<SparkplugOptions, "primaryHost" | "legacyState">): PrimaryHost | null {
  if (primaryHost === null) return null;
  const newest = new Map<string, number>();
  let isOnline = false;

  function begin(broker: string, onOffline: () => void): HostOnConnection {
    let known: boolean | null = null;
    let wake = () => {};
    isOnline = false;
    return {
      receive(payload) {
        const state = readState(payload, legacyState);
        if (state === null) return;
        const { timestamp } = state;
        if (timestamp !== null && timestamp < (newest.get(broker) ?? timestamp)) return;
        if (timestamp !== null) newest.set(broker, timestamp);
        const wasOnline = known === true;
        known = state.isOnline;
        isOnline = state.isOnline;
        if (wasOnline && !isOnline) onOffline();
        wake();
      },
      async online(loss, hasOthers, clock) {
        let isUnheard = false;
        const cancel = clock.after(UNHEARD_MS, () => {
          isUnheard = known === null;
          wake();
        });
        const online = loss.orElse((done) => {
          wake = () => {
            if (known === true) done();
            else if (hasOthers && (known === false || isUnheard))
              done(new Error(`the primary host ${primaryHost} is not online at this broker`));
          };
          wake();
        });
        await online.finally(cancel);
      },
    };
  }

  return {
    begin,
    whyNot: () => (isOnline ? null : `waits for the primary host ${primaryHost}`),
  };
}

/** Null: it is no state. */
function readState(payload: Uint8Array, isLegacy: boolean): HostState | null {
  const text = Buffer.from(payload).toString("utf8");
  if (isLegacy)
    return text === "ONLINE" || text === "OFFLINE" ? { isOnline: text === "ONLINE", timestamp: null } : null;
  const read = readJson(text);
  if (!read.ok || !isJsonObject(read.value)) return null;
  const { online, timestamp } = read.value;
  return typeof online === "boolean" && typeof timestamp === "number"
    ? { isOnline: online, timestamp }
    : null;
}

/** Notices another gateway with the same group and node: it publishes a birth that is not ours. */
export interface DuplicateNode {
  /** A new connection. */
  begin(client: MqttClient): void;
  /** This birth of the node is ours. */
  noteOwn(payload: Buffer): void;
  /** A birth of the node has come from the broker. */
  receiveBirth(payload: Buffer): void;
  /** A death of the node has come: nobody else is there any more. */
  receiveDeath(): void;
  /** The problem as one sentence; null: there is no other gateway. */
  problem(): string | null;
}

/** Of our births, those that may still be under way. */
const KEPT_BIRTHS = 4;
/** MQTT 5, Disconnect: another client has connected with our client id. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * @param node group and node, as people write them
 * @param onDuplicate another gateway was found, or has left
 */
export function createDuplicateNode(
  node: string,
  log: Log,
  onDuplicate: (active: boolean, text: string) => void,
): DuplicateNode {
  const found = `another gateway is the Sparkplug node ${node} at this broker: one of the two must have another mqtt.sparkplug.nodeId`;
  let own: Buffer[] = [];
  let isThere = false;

  function set(active: boolean): void {
    if (active === isThere) return;
    isThere = active;
    const text = active ? found : `no other gateway is the Sparkplug node ${node} any more`;
    log.error({ active }, text);
    onDuplicate(active, text);
  }

  return {
    begin(client) {
      own = [];
      client.once("disconnect", ({ reasonCode }) => {
        if (reasonCode === SESSION_TAKEN_OVER) set(true);
      });
    },
    noteOwn(payload) {
      own = [...own.slice(1 - KEPT_BIRTHS), payload];
    },
    receiveBirth(payload) {
      if (!own.some((birth) => birth.equals(payload))) set(true);
    },
    receiveDeath: () => set(false),
    problem: () => (isThere ? found : null),
  };
}
