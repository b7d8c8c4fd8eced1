import type { MqttClient } from "mqtt";
import { type Clock, sleep } from "../../platform/clock.ts";

/** This many signs in a row, without a lasting connection between them, are no accident. */
const SIGNS = 2;
/**
 * A connection of this length shows that no other gateway has our client id: two would disconnect each other
 * in seconds.
 */
const LASTING_MS = 60_000;
/** The waits if another gateway has the same client id. Each connection publishes the whole state. */
const FIRST_TURN_MS = 10_000;
/** With the wait of the link runner it is shorter than a lasting connection. */
const LONGEST_TURN_MS = 40_000;
/** MQTT 5, Disconnect: another client has connected with our client id. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * Notices another gateway with our MQTT client id, for example from a copied configuration. The broker keeps
 * only the newer connection, so the two are never connected at once.
 */
export interface TakeoverWatch {
  /** A new connection. With MQTT 5 the broker says that another one has ended it. */
  serve(client: MqttClient): void;
  /** Something else says that there is another gateway: its session, "" if unknown. */
  addSign(session: string): void;
  /** The other gateway's session, "" if unknown; null when there is no other. */
  otherSession(): string | null;
  /**
   * Resolves when the next connection may be opened: the two end each other's connection as fast as they
   * connect, so each sign makes the wait longer.
   */
  turn(signal: AbortSignal): Promise<void>;
}

/** @param onChange another gateway was found, or is not there any more */
export function createTakeoverWatch(clock: Clock, onChange: () => void): TakeoverWatch {
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
    serve(client) {
      const cancel = clock.after(LASTING_MS, clear);
      client.once("close", cancel);
      client.once("disconnect", ({ reasonCode }) => {
        if (reasonCode === SESSION_TAKEN_OVER) addSign("");
      });
    },
    addSign,
    otherSession: () => (signs >= SIGNS ? session : null),
    async turn(signal) {
      if (signs < SIGNS) return;
      await sleep(clock, Math.min(LONGEST_TURN_MS, FIRST_TURN_MS * 2 ** (signs - SIGNS)), signal);
    },
  };
}
