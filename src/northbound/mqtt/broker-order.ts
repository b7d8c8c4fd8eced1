import type { Connection } from "../../contracts/link.ts";
import { type Clock, sleep } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import type { Log } from "../../platform/log.ts";
import { brokerName, type MqttOptions } from "./options.ts";

const LONGEST_MS = 3_600_000;

export interface BrokerOrderParts {
  /** The options of each broker, in the order of preference. */
  readonly brokers: readonly MqttOptions[];
  readonly clock: Clock;
  readonly log: Log;
  /** Opens the gateway's connection to a broker. */
  readonly open: (options: MqttOptions, signal: AbortSignal) => Promise<Connection>;
  /**
   * Resolves when a broker was reachable for this long without a break; rejects with the reason why it is
   * not. Calls `onReached` when that time begins. It must not disturb a connection of the gateway.
   */
  readonly reachable: (
    options: MqttOptions,
    durationMs: number,
    onReached: () => void,
    signal: AbortSignal,
  ) => Promise<void>;
  /** Publishes at a broker that was left without a goodbye that the gateway is not there. */
  readonly correctStatus: (options: MqttOptions, signal: AbortSignal) => Promise<void>;
}

/**
 * Chooses among the brokers of the plant: the first that accepts the gateway, and later an earlier one again.
 */
export interface BrokerOrder {
  connect(signal: AbortSignal): Promise<Connection>;
  /** The index of the broker in use, or last used, in the order of preference. */
  place(): number;
  /** Why a broker is not used, by its index; empty: no reason is known. */
  reason(place: number): string;
  /** Why the connection is not to the first broker, as one sentence; null: it is. */
  problem(): string | null;
}

const RETRY_MS = 10_000;

export function createBrokerOrder(parts: BrokerOrderParts): BrokerOrder {
  const { brokers, clock, log } = parts;
  const first = brokers[0]?.broker;
  const wait = createReturnWait(first?.kind === "external" ? first.returnMs : 0, clock);
  /** The index of the broker of the connection. */
  let current = 0;
  /** The earlier broker to which the gateway returns; null: it does not. */
  let target: number | null = null;
  /** Why each earlier broker is not used. */
  let reasons: readonly string[] = [];
  const left = createLeftBrokers(brokers, parts.correctStatus, log);

  function nameOf(place: number): string {
    const options = brokers[place];
    return options === undefined ? "" : brokerName(options);
  }

  function note(place: number, reason: string): void {
    reasons = brokers.map((_, other) => (other === place ? reason : (reasons[other] ?? "")));
  }

  /** The connection is open. Logged if it is to another broker than the last one. */
  function arrive(place: number, connection: Connection): void {
    const isReturn = target !== null;
    if (isReturn && place !== target) wait.failed();
    else if (isReturn) wait.returned(connection);
    if (place !== current) {
      const broker = brokers[place]?.broker;
      // A URL may have a token as its query.
      const fields = { address: broker?.kind === "external" ? new URL(broker.url).host : null };
      if (place < current) log.info(fields, `back at ${nameOf(place)}`);
      else
        log.warn({ ...fields, why: reasons[0] }, `now at ${nameOf(place)}: those before it cannot be used`);
    }
    current = place;
    target = null;
    left.arrived(place);
  }

  /** Whether an earlier broker was reachable for long enough. */
  async function isEarlierBack(place: number, signal: AbortSignal): Promise<boolean> {
    for (const [earlier, options] of brokers.slice(0, place).entries()) {
      const neededMs = wait.neededMs();
      const text = `it is reachable again, and is used when that has lasted ${neededMs / 1_000} s`;
      try {
        await parts.reachable(options, neededMs, () => note(earlier, text), signal);
        target = earlier;
        return true;
      } catch (error) {
        if (!signal.aborted) note(earlier, messageOf(error));
      }
    }
    return false;
  }

  /** Watches the other brokers; true: use an earlier one; false: the end. */
  async function tendOthers(place: number, signal: AbortSignal): Promise<boolean> {
    while (place > 0 || !left.isEmpty()) {
      if (!(await sleep(clock, RETRY_MS, signal))) return false;
      await left.correct(signal);
      if (await isEarlierBack(place, signal)) return true;
    }
    return false;
  }

  function tended(place: number, connection: Connection): Connection {
    const life = new AbortController();
    void connection.lost.then(() => {
      if (!life.signal.aborted) left.lost(place);
      life.abort();
    });
    const movesOn = new Promise<void>((resolve) => {
      void tendOthers(place, life.signal).then((isBack) => {
        if (isBack) resolve();
      });
    });
    return {
      lost: connection.lost,
      ...(place === 0 ? {} : { movesOn }),
      write: (batch) => connection.write(batch),
      async [Symbol.asyncDispose]() {
        life.abort();
        await connection[Symbol.asyncDispose]();
      },
    };
  }

  return {
    async connect(signal) {
      const failures: unknown[] = [];
      const places = [...brokers.keys()];
      if (target !== null) places.sort((one, other) => Number(other === target) - Number(one === target));
      for (const place of places) {
        try {
          const connection = await parts.open(brokers[place] as MqttOptions, signal);
          arrive(place, connection);
          return brokers.length === 1 ? connection : tended(place, connection);
        } catch (error) {
          if (signal.aborted) throw error;
          failures.push(error);
          note(place, messageOf(error));
        }
      }
      if (target !== null) wait.failed();
      target = null;
      if (failures.length === 1) throw failures[0];
      throw new Error(failures.map(messageOf).join("; "), { cause: failures[0] });
    },
    place: () => current,
    reason: (place) => reasons[place] ?? "",
    problem() {
      if (current === 0) return null;
      const [why = ""] = reasons;
      return `connected to ${nameOf(current)} instead of ${nameOf(0)}${why === "" ? "" : `: ${why}`}`;
    },
  };
}

/** Brokers whose connection was lost: they may show the gateway as online. */
interface LeftBrokers {
  readonly isEmpty: () => boolean;
  lost(place: number): void;
  arrived(place: number): void;
  /** Tries to put right what they show; one that cannot be reached is tried the next time. */
  correct(signal: AbortSignal): Promise<void>;
}

function createLeftBrokers(
  brokers: readonly MqttOptions[],
  correctStatus: (options: MqttOptions, signal: AbortSignal) => Promise<void>,
  log: Log,
): LeftBrokers {
  const left = new Set<number>();
  return {
    isEmpty: () => left.size === 0,
    lost: (place) => void left.add(place),
    arrived: (place) => void left.delete(place),
    async correct(signal) {
      for (const place of [...left]) {
        const options = brokers[place];
        if (options === undefined || signal.aborted) return;
        try {
          await correctStatus(options, signal);
          left.delete(place);
        } catch (error) {
          log.debug({ err: error }, `cannot correct the status at ${brokerName(options)}`);
        }
      }
    },
  };
}

/** How long an earlier broker must have been reachable: longer after each return that did not last. */
interface ReturnWait {
  neededMs(): number;
  /** The gateway has returned, with this connection. */
  returned(connection: Connection): void;
  /** The broker did not accept the gateway again. */
  failed(): void;
}

function createReturnWait(returnMs: number, clock: Clock): ReturnWait {
  let failures = 0;
  const neededMs = () => Math.min(returnMs * 2 ** failures, Math.max(returnMs, LONGEST_MS));
  return {
    neededMs,
    returned(connection) {
      const sinceMs = clock.monotonicMs();
      const enoughMs = neededMs();
      void connection.lost.then(() => {
        failures = clock.monotonicMs() - sinceMs < enoughMs ? failures + 1 : 0;
      });
    },
    failed() {
      failures += 1;
    },
  };
}
