import type { MqttClient } from "mqtt";
import type { Log } from "../../../platform/log.ts";

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
