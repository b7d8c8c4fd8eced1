import type { MqttClient } from "mqtt";
import type { Clock } from "../../platform/clock.ts";

/** Signs in a row, without a steady connection between them, that are no accident. */
const SIGNS = 2;
/** A connection that lasts so long has no rival: each would throw the other off in seconds. */
const STEADY_MS = 60_000;
/** MQTT 5, Disconnect: another client has come with our client identifier. */
const SESSION_TAKEN_OVER = 0x8e;

/**
 * Notices another gateway with our client identifier, as a copied configuration has: the broker lets only the
 * newer connection live, so the two never meet, and each finds what the other said while it was away.
 */
export interface RivalWatch {
  /** A new connection; what comes of it is over when it is lost. */
  serve(client: MqttClient): void;
  /** The status that was retained when we came back is of another session. */
  foundOther(sessionId: string): void;
  /** The session of the rival, "" where it is not known; null when there is none. */
  rival(): string | null;
}

export function createRivalWatch(clock: Clock, onChange: () => void): RivalWatch {
  let connections = 0;
  let signs = 0;
  let session = "";

  function sign(of: string): void {
    signs += 1;
    if (of !== "") session = of;
    if (signs === SIGNS) onChange();
  }

  function clear(): void {
    const was = signs;
    signs = 0;
    session = "";
    if (was >= SIGNS) onChange();
  }

  return {
    serve(client) {
      connections += 1;
      const cancel = clock.after(STEADY_MS, clear);
      client.once("close", cancel);
      client.once("disconnect", ({ reasonCode }) => {
        if (reasonCode === SESSION_TAKEN_OVER) sign("");
      });
    },
    foundOther(sessionId) {
      // At our first connection it is our predecessor's.
      if (connections > 1) sign(sessionId);
    },
    rival: () => (signs >= SIGNS ? session : null),
  };
}
