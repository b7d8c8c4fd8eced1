import type { OPCUAServer } from "node-opcua";
import { type Clock, every } from "../../../platform/clock.ts";
import { describeError, type Log } from "../../../platform/log.ts";
import type { ClientCertificates } from "../client-certificates.ts";

/** How soon the sessions of a client end whose certificate an operator has rejected. */
const LOOK_MS = 3_000;

/** The parts of node-opcua's channel that are needed here. */
interface Channel {
  readonly clientCertificate: Buffer | null;
  readonly remoteAddress: string;
  readonly sessionTokens: Readonly<Record<string, { readonly authenticationToken: unknown }>>;
  close(done: () => void): void;
}

/**
 * Ends sessions and connections of clients whose certificate lies among the rejected ones: node-opcua looks
 * at certificates only when a connection begins.
 */
export function endRejectedClients(
  server: OPCUAServer,
  clients: ClientCertificates,
  clock: Clock,
  log: Log,
  signal: AbortSignal,
): void {
  async function look(): Promise<void> {
    const channels = server.endpoints.flatMap(
      (endpoint) => endpoint.getChannels() as unknown as readonly Channel[],
    );
    const secured = channels.filter(({ clientCertificate }) => (clientCertificate?.length ?? 0) > 0);
    if (secured.length === 0) return;
    const isRejected = await clients.rejected();
    for (const channel of secured) {
      if (channel.clientCertificate !== null && isRejected(channel.clientCertificate)) end(channel);
    }
  }

  function end(channel: Channel): void {
    const { engine } = server;
    for (const { authenticationToken } of Object.values(channel.sessionTokens)) {
      Reflect.apply(Reflect.get(engine, "closeSession"), engine, [authenticationToken, true, "Forcing"]);
    }
    channel.close(() => {});
    log.warn({ from: channel.remoteAddress }, "the sessions of a rejected OPC UA client were ended");
  }

  every(clock, LOOK_MS, signal, () => {
    look().catch((error: unknown) => {
      log.error({ cause: describeError(error) }, "rejected OPC UA certificates cannot be looked at");
    });
  });
}
