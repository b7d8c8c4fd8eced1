import type { Clock } from "../../../platform/clock.ts";
import type { MqttOptions } from "../options.ts";
import { endClient, openClient } from "./client.ts";

const LARGEST_PACKET = 16 * 1024;
const nothing = {
  will: null,
  maximumPacketSize: LARGEST_PACKET,
  openBroker: null,
  sort: (bytes: Buffer) => ({ rest: [bytes], acks: null }),
  onTooLarge: () => {},
};

/** The client id of connections that only look whether a broker takes the gateway. */
export function checkingClientId(clientId: string): string {
  return `${clientId}-check`;
}

/**
 * Resolves when a broker has kept a connection for so long; rejects with the reason it has not. The
 * connection has a client id of its own: in a cluster the gateway's own would end the one it has.
 */
export async function reachable(
  options: MqttOptions,
  clock: Clock,
  durationMs: number,
  onReached: () => void,
  signal: AbortSignal,
): Promise<void> {
  const client = await openClient(
    { ...options, clientId: checkingClientId(options.clientId) },
    nothing,
    signal,
  );
  client.on("error", () => {});
  onReached();
  try {
    await new Promise<void>((resolve, reject) => {
      const end = (error: Error | null) => {
        cancel();
        signal.removeEventListener("abort", giveUp);
        if (error === null) resolve();
        else reject(error);
      };
      const cancel = clock.after(durationMs, () => end(null));
      const giveUp = () => end(new Error("given up", { cause: signal.reason }));
      client.once("close", () => end(new Error("the MQTT broker has closed the connection again")));
      signal.addEventListener("abort", giveUp, { once: true });
      if (signal.aborted) giveUp();
    });
  } finally {
    await endClient(client, clock);
  }
}
