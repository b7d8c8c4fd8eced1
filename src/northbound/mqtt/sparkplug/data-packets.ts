import { type LimitedClient, PacketTooLarge } from "../client/limited-client.ts";
import { MessageWriter } from "./message-writer.ts";
import { type PayloadParts, writePayload } from "./payload.ts";

/** Messages of the edge node: QoS 0, not retained. Those of one turn of the event loop leave in one piece. */
export interface DataPackets {
  /** Throws if it is larger than the broker takes. */
  add(topic: Buffer, payload: PayloadParts): void;
  /** Hands over what was added. */
  flush(): void;
  /** Of what was added, in bytes. */
  readonly length: number;
}

/** PUBLISH, QoS 0, not retained (MQTT 3.1.1 and 5, section 3.3.1). */
const PUBLISH = 0x30;

/** They are written in place: a message needs no buffer of its own. */
export function createDataPackets({
  stream,
  limits,
  options,
}: Pick<LimitedClient, "stream" | "limits" | "options">): DataPackets {
  const writer = new MessageWriter();
  const { maximumPacketSize } = limits;
  const hasProperties = options.protocolVersion === 5;
  return {
    add(topic, payload) {
      const at = writer.length;
      writer.byte(PUBLISH);
      // Its length is written as that of an inner message.
      const start = writer.beginLength();
      writer.byte(topic.length >> 8);
      writer.byte(topic.length & 0xff);
      writer.raw(topic);
      if (hasProperties) writer.byte(0);
      writePayload(writer, payload);
      writer.end(start);
      if (writer.length - at <= maximumPacketSize) return;
      writer.cut(at);
      throw new PacketTooLarge(topic.toString(), maximumPacketSize);
    },
    flush() {
      if (writer.length === 0) return;
      const bytes = writer.take();
      if (stream.writable) stream.write(bytes);
    },
    get length() {
      return writer.length;
    },
  };
}
