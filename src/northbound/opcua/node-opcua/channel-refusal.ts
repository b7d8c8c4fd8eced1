import { type OPCUAServer, ServiceFault } from "node-opcua";
import { errorFrame } from "./error-frame.ts";

/** The parts of node-opcua's channel that a refusal needs. */
interface Channel {
  send_response(type: string, response: unknown, message: unknown, done?: (error?: Error) => void): void;
  write(frame: Buffer): void;
}

/**
 * Answers a client whose secure channel is refused with an Error message (OPC UA part 6, 6.7.6 and 7.1.2.5).
 * node-opcua 2.182 sends a secured OPN with a ServiceFault instead of the response, on which clients fail
 * that decode every OPN as an OpenSecureChannelResponse (asyncua, open62541). If it cannot secure one, it
 * sends a ServiceFault in a frame of type ERR, which is no Error message. For an initialised server that does
 * not listen yet.
 */
export function refuseWithErrorMessages(server: OPCUAServer): void {
  for (const endpoint of server.endpoints) {
    endpoint.on("newChannel", (channel: Channel) => {
      const send = channel.send_response.bind(channel);
      channel.send_response = (type, response, message, done) => {
        if ((type !== "OPN" && type !== "ERR") || !(response instanceof ServiceFault)) {
          send(type, response, message, done);
          return;
        }
        const { serviceResult } = response.responseHeader;
        channel.write(errorFrame(serviceResult.value, serviceResult.name));
        done?.();
      };
    });
  }
}
