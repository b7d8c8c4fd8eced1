import { type OPCUAServer, ServiceFault, StatusCodes } from "node-opcua";

/** The part of node-opcua's channel that answers. */
interface Channel {
  send_response(type: string, response: unknown, ...rest: unknown[]): void;
}

/**
 * Refuses an answer that is too large for its client with BadResponseTooLarge (OPC UA part 4, 7.38).
 * node-opcua 2.182 sends BadTcpMessageTooLarge, on which other stacks close the connection. For an
 * initialised server that does not listen yet.
 */
export function nameLargeAnswers(server: OPCUAServer): void {
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const send = channel.send_response.bind(channel);
      channel.send_response = (type, response, ...rest) => {
        if (response instanceof ServiceFault) {
          const { responseHeader } = response;
          if (responseHeader.serviceResult === StatusCodes.BadTcpMessageTooLarge) {
            responseHeader.serviceResult = StatusCodes.BadResponseTooLarge;
          }
        }
        send(type, response, ...rest);
      };
    });
  }
}
