import type { IPublishPacket } from "mqtt";
import { parser } from "mqtt-packet";

/** Reads whole PUBLISH packets, as bytes. Null for one that is not well formed. */
export function createPublishReader(protocolVersion: 4 | 5): (frame: Buffer) => IPublishPacket | null {
  let read: IPublishPacket | null = null;
  let parse = create();

  function create() {
    const created = parser({ protocolVersion });
    created.on("packet", (packet) => {
      if (packet.cmd === "publish") read = packet;
    });
    created.on("error", () => {
      // It keeps what it could not read.
      parse = create();
    });
    return created;
  }

  return (frame) => {
    read = null;
    parse.parse(frame);
    return read;
  };
}
