import { type Clock, every } from "../../../platform/clock.ts";
import { createLive, type Live } from "../../../platform/live.ts";
import type { Log } from "../../../platform/log.ts";
import { createTlsFiles, TLS_FILES_LOOK_MS, type TlsTexts } from "../../../platform/tls-files.ts";
import type { ExternalBrokerOptions } from "../options.ts";

/** The certificates for the brokers of the plant, as their files have them now. */
export interface BrokerTls {
  /** For the next connection. One that is open goes on as it is. */
  readonly texts: Live<TlsTexts>;
  /** Reads the files again when they change, until the signal is aborted. Once is enough. */
  watch(signal: AbortSignal): void;
  /** Why the files as they are now are not used; null when they are. */
  problem(): string | null;
}

export function createBrokerTls({ tls, tlsPaths }: ExternalBrokerOptions, clock: Clock, log: Log): BrokerTls {
  const open = () => createTlsFiles(tlsPaths.now(), tls.now(), clock, log);
  const texts = createLive(tls.now());
  let files = open();
  let isWatching = false;
  async function look(): Promise<void> {
    await files.look();
    texts.replace(files.current());
  }
  tlsPaths.onChange(() => {
    files = open();
    texts.replace(files.current());
    void look();
  });
  return {
    texts,
    watch(signal) {
      if (isWatching) return;
      isWatching = true;
      void look();
      every(clock, TLS_FILES_LOOK_MS, signal, () => void look());
    },
    problem: () => files.problem(),
  };
}
