import type { Log } from "../../platform/log.ts";
import { brokerName, type MqttOptions } from "./options.ts";

/** Brokers whose connection was lost: they may show the gateway as online. */
export interface LeftBrokers {
  readonly isEmpty: () => boolean;
  lost(place: number): void;
  arrived(place: number): void;
  /** Tries to put right what they show; one that cannot be reached is tried the next time. */
  correct(signal: AbortSignal): Promise<void>;
}

export function createLeftBrokers(
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
