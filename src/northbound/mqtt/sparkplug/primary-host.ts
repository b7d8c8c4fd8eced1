import type { Clock } from "../../../platform/clock.ts";
import { isJsonObject } from "../../../platform/json.ts";
import type { Log } from "../../../platform/log.ts";
import { createRecurringProblem } from "../../../platform/log-bounds.ts";
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
  /** A state was ignored within the last half minute, although the host is online; null: none was. */
  problem(): string | null;
}

/** The host as one connection sees it. */
export interface HostOnConnection {
  /** A message on the topic of its state. */
  receive(payload: Uint8Array): void;
  /**
   * Resolves when it is online. Rejects if the connection is lost, or if the host is offline, or unheard for
   * a while, and the gateway should look for it at another of its brokers.
   */
  online(loss: Loss, brokers: number, clock: Pick<Clock, "after">): Promise<void>;
}

interface HostState {
  readonly isOnline: boolean;
  /** Null: the state has none. */
  readonly timestamp: number | null;
}

/** A broker tells a state that it has in far less. It may have none, if the host was never there. */
const UNHEARD_MS = 5_000;
/** No state has more. */
const LONGEST_STATE = 4 * 1024;
/** A state that is further ahead of the gateway's clock has a wrong time: no other is older for its sake. */
const LONGEST_AHEAD_MS = 86_400_000;
/** The longest stay at a broker without the host, when none of them has it. */
const LONGEST_STAY_MS = 30_000;

/** Older states than the last one at the same broker are ignored, over all connections. */
export function createPrimaryHost(
  { primaryHost, legacyState }: Pick<SparkplugOptions, "primaryHost" | "legacyState">,
  clock: Pick<Clock, "nowMs" | "monotonicMs" | "after">,
  log: Log,
): PrimaryHost | null {
  if (primaryHost === null) return null;
  const newest = new Map<string, number>();
  let isOnline = false;
  /** The newest state, if it was ignored, over all brokers: a visit to another one does not hide it. */
  let ignored: { readonly broker: string; readonly reason: string } | null = null;
  let current = "";
  const ignoring = createRecurringProblem(clock, () => {});
  /** The brokers that were left without the host, since it was online last. */
  let misses = 0;

  /**
   * The first round over the brokers looks for the host. Each later round waits for it, and is slower: a
   * connection more is a death more for the other hosts.
   */
  function stayMs(brokers: number): number {
    const rounds = Math.floor(misses / brokers);
    return rounds === 0 ? 0 : Math.min(LONGEST_STAY_MS, UNHEARD_MS * 2 ** (rounds - 1));
  }

  function ignore(broker: string, reason: string): void {
    const isKnown = ignored?.broker === broker && ignored.reason === reason;
    ignored = { broker, reason };
    if (ignoring.note() && !isKnown)
      log.warn({ primaryHost, broker, reason }, "a state of the primary host is ignored");
  }

  function begin(broker: string, onOffline: () => void): HostOnConnection {
    let known: boolean | null = null;
    let wake = () => {};
    isOnline = false;
    current = broker;
    return {
      receive(payload) {
        const state = readState(payload, legacyState);
        if (typeof state === "string") return ignore(broker, state);
        const { timestamp } = state;
        const lastMs = newest.get(broker) ?? null;
        if (timestamp !== null && lastMs !== null && timestamp < lastMs)
          return ignore(broker, `is older than one before it (timestamp ${lastMs})`);
        if (ignored?.broker === broker || state.isOnline) ignored = null;
        if (timestamp !== null && timestamp <= clock.nowMs() + LONGEST_AHEAD_MS)
          newest.set(broker, timestamp);
        const wasOnline = known === true;
        known = state.isOnline;
        isOnline = state.isOnline;
        if (wasOnline && !isOnline) onOffline();
        wake();
      },
      async online(loss, brokers, connectionClock) {
        const leave = new Error(`the primary host ${primaryHost} is not online at this broker`);
        let isOver = stayMs(brokers) === 0;
        let isUnheard = false;
        const cancels = [
          connectionClock.after(stayMs(brokers), () => {
            isOver = true;
            wake();
          }),
          connectionClock.after(UNHEARD_MS, () => {
            isUnheard = true;
            wake();
          }),
        ];
        const online = loss.orElse((done) => {
          wake = () => {
            if (known === true) {
              misses = 0;
              done();
            } else if (brokers > 1 && isOver && (known === false || isUnheard)) {
              misses += 1;
              done(leave);
            }
          };
          wake();
        });
        await online.finally(() => {
          wake = () => {};
          for (const cancel of cancels) cancel();
        });
      },
    };
  }

  return {
    begin,
    whyNot() {
      if (isOnline) return null;
      const host = `waits for the primary host ${primaryHost}`;
      if (ignored === null) return host;
      const where = ignored.broker === current ? "" : ` at ${ignored.broker}`;
      return `${host}, whose state${where} ${ignored.reason}`;
    },
    problem() {
      if (ignored === null || !isOnline || !ignoring.isRecurring()) return null;
      return `a state of the primary host ${primaryHost} is ignored: it ${ignored.reason}`;
    },
  };
}

/** A text is the reason why it is no state. */
function readState(payload: Uint8Array, isLegacy: boolean): HostState | string {
  if (payload.length > LONGEST_STATE) return `has more than ${LONGEST_STATE} bytes`;
  // It leaves out a byte order mark.
  const text = new TextDecoder().decode(payload);
  const isWord = text === "ONLINE" || text === "OFFLINE";
  if (isLegacy)
    return isWord
      ? { isOnline: text === "ONLINE", timestamp: null }
      : "is neither ONLINE nor OFFLINE, as mqtt.sparkplug.legacyState wants it";
  if (isWord) return `is the word ${text} of before Sparkplug 3.0: look at mqtt.sparkplug.legacyState`;
  const read = readJson(text);
  if (!read.ok || !isJsonObject(read.value)) return "is no JSON object";
  const { online, timestamp } = read.value;
  if (typeof online !== "boolean") return "has an online that is neither true nor false";
  if (typeof timestamp !== "number") return "has no timestamp that is a number";
  return { isOnline: online, timestamp };
}
