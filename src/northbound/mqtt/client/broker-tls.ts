import { isDeepStrictEqual } from "node:util";
import { type Clock, every } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/log.ts";
import { createTlsFiles, TLS_FILES_LOOK_MS, type TlsFiles } from "../../../platform/tls-files.ts";
import type { ExternalBrokerOptions, MqttOptions } from "../options.ts";

/** The certificates for the brokers of the plant, as their files have them now. */
export interface BrokerTls {
  /** Reads the files again when they change, until the signal is aborted. Once is enough. */
  watch(signal: AbortSignal): void;
  /** The configuration may name other files: the next connection uses them. */
  follow(): void;
  /** For the next connection. One that is open goes on as it is. */
  applyTo(options: MqttOptions): MqttOptions;
  /** Why the files as they are now are not used; null when they are. */
  problem(): string | null;
}

/** @param options whose paths a reload changes */
export function createBrokerTls({ broker }: MqttOptions, clock: Clock, log: Log): BrokerTls {
  if (broker.kind === "embedded")
    return { watch() {}, follow() {}, applyTo: (options) => options, problem: () => null };
  let paths = broker.tlsPaths;
  let files = filesOf(broker, clock, log);
  let isWatching = false;
  return {
    watch(signal) {
      if (isWatching) return;
      isWatching = true;
      void files.look();
      every(clock, TLS_FILES_LOOK_MS, signal, () => void files.look());
    },
    follow() {
      if (isDeepStrictEqual(paths, broker.tlsPaths)) return;
      paths = broker.tlsPaths;
      files = filesOf(broker, clock, log);
      void files.look();
    },
    applyTo: (options) =>
      options.broker.kind === "embedded"
        ? options
        : { ...options, broker: { ...options.broker, ...files.current() } },
    problem: () => files.problem(),
  };
}

function filesOf({ tlsPaths, ca, clientCert }: ExternalBrokerOptions, clock: Clock, log: Log): TlsFiles {
  return createTlsFiles(tlsPaths, { ca, clientCert }, clock, log);
}
