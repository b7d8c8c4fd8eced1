import { type Clock, every } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createTlsFiles, TLS_FILES_LOOK_MS } from "../../../platform/tls-files.ts";
import type { MqttOptions } from "../options.ts";

/** The certificates for the brokers of the plant, as their files have them now. */
export interface BrokerTls {
  /** Reads the files again when they change, until the signal is aborted. Once is enough. */
  watch(signal: AbortSignal): void;
  /** For the next connection. One that is open goes on as it is. */
  applyTo(options: MqttOptions): MqttOptions;
  /** Why the files as they are now are not used; null when they are. */
  problem(): string | null;
}

export function createBrokerTls({ broker }: MqttOptions, clock: Clock, log: Log): BrokerTls {
  if (broker.kind === "embedded" || Object.values(broker.tlsPaths).every((path) => path === null))
    return { watch() {}, applyTo: (options) => options, problem: () => null };
  const files = createTlsFiles(broker.tlsPaths, broker, clock, log);
  let isWatching = false;
  return {
    watch(signal) {
      if (isWatching) return;
      isWatching = true;
      void files.look();
      every(clock, TLS_FILES_LOOK_MS, signal, () => void files.look());
    },
    applyTo: (options) =>
      options.broker.kind === "embedded"
        ? options
        : { ...options, broker: { ...options.broker, ...files.current() } },
    problem: files.problem,
  };
}
