import type { MqttClient } from "mqtt";
import type { Clock } from "../../platform/clock.ts";

/** This many signs in a row, without a lasting connection between them, are no accident. */
const SIGNS = 2;
/**
 * A connection of this length shows that no other gateway has our client id: two would disconnect each other
 * in seconds.
 */
const LASTING_MS = 60_000;
/** MQTT 5, Disconnect: another client has connected with our client id. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * Notices another gateway with our MQTT client id, for example from a copied configuration. The broker keeps
 * only the newer connection, so the two are never connected at once; each finds the status that the other has
 * published.
 */
export interface TakeoverWatch {
  /**
   * A new connection.
   *
   * @param broker names the broker among several
   */
  serve(client: MqttClient, broker: string): void;
  /** After a reconnect the retained status was that of another session. */
  foundOther(sessionId: string): void;
  /** The other gateway's session, "" if unknown; null when there is no other. */
  otherSession(): string | null;
}

export function createTakeoverWatch(clock: Clock, onChange: () => void): TakeoverWatch {
  const known = new Set<string>();
  let isReconnect = false;
  let signs = 0;
  let session = "";

  function addSign(of: string): void {
    signs += 1;
    if (of !== "") session = of;
    if (signs === SIGNS) onChange();
  }

  function clear(): void {
    const before = signs;
    signs = 0;
    session = "";
    if (before >= SIGNS) onChange();
  }

  return {
    serve(client, broker) {
      isReconnect = known.has(broker);
      known.add(broker);
      const cancel = clock.after(LASTING_MS, clear);
      client.once("close", cancel);
      client.once("disconnect", ({ reasonCode }) => {
        if (reasonCode === SESSION_TAKEN_OVER) addSign("");
      });
    },
    foundOther(sessionId) {
      // At the first connection to a broker it is the status of this gateway's previous run.
      if (isReconnect) addSign(sessionId);
    },
    otherSession: () => (signs >= SIGNS ? session : null),
  };
}
