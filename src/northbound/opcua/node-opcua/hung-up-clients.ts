import type { OPCUAServer } from "node-opcua";

/** The parts of node-opcua's channel that are needed here. */
interface Channel {
  readonly aborted: boolean;
  beforeHandleOpenSecureChannelRequest: () => Promise<void>;
}

/**
 * Opens no channel for a client that hung up while its certificate was being checked. node-opcua 2.182 opens
 * it all the same, and the timer of its token keeps the channel for up to 12.5 minutes. For an initialised
 * server that does not listen yet.
 */
export function forgetHungUpClients(server: OPCUAServer): void {
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const before = channel.beforeHandleOpenSecureChannelRequest.bind(channel);
      channel.beforeHandleOpenSecureChannelRequest = async () => {
        await before();
        // Nothing holds a promise that never settles, so it is collected with all that waits for it.
        if (channel.aborted) await new Promise(() => {});
      };
    });
  }
}
