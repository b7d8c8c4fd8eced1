import type { OPCUAServer } from "node-opcua";
import { type Clock, every } from "../../../platform/clock.ts";
import { describeError } from "../../../platform/error-text.ts";
import type { Log } from "../../../platform/log.ts";
import { type ClientCertificates, nameOfClient } from "../client-certificates.ts";
import type { OpcUaTrustList } from "../options.ts";

/** How soon the sessions of a client end after an operator has rejected its certificate. */
const LOOK_MS = 3_000;

/** The parts of node-opcua's channel that are needed here. */
interface Channel {
  readonly isOpened: boolean;
  readonly clientCertificate: Buffer | null;
  readonly remoteAddress: string;
  readonly sessionTokens: Readonly<Record<string, { readonly authenticationToken: unknown }>>;
  close(done: () => void): void;
}

/** Ends clients that are no longer trusted. */
export interface RejectedClients {
  /** Trusts only clients of these CAs, and ends those that other CAs had admitted. */
  trust(trustList: OpcUaTrustList): void;
  /** What is wrong with the CAs; null: nothing. */
  problem(): string | null;
}

const NOT_WRITTEN = "OPC UA's CAs cannot be written: clients of those before the reload are still trusted";

/**
 * Ends sessions and connections of clients whose certificate is among the rejected ones, or whose CA a reload
 * has removed: node-opcua checks certificates only when a connection begins.
 */
export function endRejectedClients(
  server: OPCUAServer,
  clients: ClientCertificates,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): RejectedClients {
  /** CAs that are not trusted yet, because the disk has not taken them. */
  let waiting: OpcUaTrustList | null = null;
  let isFailing = false;
  /** A client may have been checked just before the CAs changed: the next look checks all again. */
  let hasNews = false;

  /**
   * Without channels that are being refused: their clients would lose the connection before they get the
   * reason.
   */
  function secured(): readonly Channel[] {
    const channels = server.endpoints.flatMap(
      (endpoint) => endpoint.getChannels() as unknown as readonly Channel[],
    );
    return channels.filter(
      ({ isOpened, clientCertificate }) => isOpened && (clientCertificate?.length ?? 0) > 0,
    );
  }

  async function look(): Promise<void> {
    if (waiting !== null) await follow(waiting);
    else if (hasNews) await endUntrusted();
    const channels = secured();
    if (channels.length === 0) return;
    const isRejected = await clients.rejected();
    for (const channel of channels)
      if (channel.clientCertificate !== null && isRejected(channel.clientCertificate))
        end(channel, channel.clientCertificate);
  }

  async function follow(trustList: OpcUaTrustList): Promise<void> {
    waiting = trustList;
    try {
      await clients.trust(trustList);
    } catch (error) {
      if (!isFailing) log.error({ cause: describeError(error) }, NOT_WRITTEN);
      isFailing = true;
      return;
    }
    if (isFailing) log.info({}, "OPC UA trusts the CAs of the configuration again");
    isFailing = false;
    // A reload may have brought other CAs meanwhile.
    if (waiting === trustList) waiting = null;
    await endUntrusted();
    hasNews = true;
  }

  async function endUntrusted(): Promise<void> {
    hasNews = false;
    for (const channel of secured()) {
      const { clientCertificate } = channel;
      if (clientCertificate !== null && !(await clients.isTrusted(clientCertificate)))
        end(channel, clientCertificate);
    }
  }

  function end(channel: Channel, certificate: Buffer): void {
    const { engine } = server;
    const sessions = Object.values(channel.sessionTokens);
    for (const { authenticationToken } of sessions) {
      Reflect.apply(Reflect.get(engine, "closeSession"), engine, [authenticationToken, true, "Forcing"]);
    }
    channel.close(() => {});
    log.warn(
      { ...nameOfClient(certificate), from: channel.remoteAddress, sessions: sessions.length },
      sessions.length === 0
        ? "the connection of an OPC UA client without a session was ended: its certificate is not trusted"
        : "the sessions of an OPC UA client were ended: its certificate is not trusted any more",
    );
  }

  function failed(error: unknown): void {
    log.error({ cause: describeError(error) }, "rejected OPC UA certificates cannot be looked at");
  }

  every(clock, LOOK_MS, signal, () => {
    look().catch(failed);
  });
  return {
    trust(trustList) {
      follow(trustList).catch(failed);
    },
    problem: () => (isFailing ? NOT_WRITTEN : null),
  };
}
