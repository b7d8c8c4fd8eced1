import { isJsonObject } from "../../../platform/json.ts";
import { readJson } from "../../../platform/strict-json.ts";
import type { Loss } from "../loss.ts";
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
   * Resolves when it is online. Rejects if the connection is lost, or if the host is offline and the gateway
   * should look for it at another broker.
   */
  online(loss: Loss, hasOthers: boolean): Promise<void>;
}

interface HostState {
  readonly isOnline: boolean;
  /** Null: the state has none. */
  readonly timestamp: number | null;
}

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
      online: (loss, hasOthers) =>
        loss.orElse((done) => {
          wake = () => {
            if (known === true) done();
            else if (known === false && hasOthers)
              done(new Error(`the primary host ${primaryHost} is offline at this broker`));
          };
          wake();
        }),
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
