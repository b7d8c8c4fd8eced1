import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { parser } from "mqtt-packet";

/** A message that a client published with QoS 1, and whether its broker has said that it has it. */
export interface Published {
  readonly topic: string;
  readonly text: string;
  isAcknowledged: boolean;
}

/** Stands between the clients of a broker and the broker, and keeps what was published. */
export interface RecordingRelay {
  readonly port: number;
  /** In the order in which it was published. */
  readonly published: readonly Published[];
  close(): Promise<void>;
}

/** @param isKept which topics are kept */
export async function startRecordingRelay(
  brokerPort: number,
  isKept: (topic: string) => boolean,
): Promise<RecordingRelay> {
  const published: Published[] = [];
  const sockets = new Set<Socket>();

  function serve(client: Socket): void {
    const broker = connect(brokerPort, "127.0.0.1").setNoDelay(true);
    client.setNoDelay(true);
    const underWay = new Map<number, Published>();
    const toBroker = parser({ protocolVersion: 4 });
    toBroker.on("packet", (packet) => {
      if (packet.cmd !== "publish" || packet.qos !== 1 || !isKept(packet.topic)) return;
      const one = { topic: packet.topic, text: packet.payload.toString(), isAcknowledged: false };
      published.push(one);
      underWay.set(packet.messageId ?? 0, one);
    });
    const toClient = parser({ protocolVersion: 4 });
    toClient.on("packet", (packet) => {
      const one = packet.cmd === "puback" ? underWay.get(packet.messageId ?? 0) : undefined;
      if (one !== undefined) one.isAcknowledged = true;
    });
    join(client, broker, (bytes) => toBroker.parse(bytes));
    join(broker, client, (bytes) => toClient.parse(bytes));
  }

  function join(from: Socket, to: Socket, read: (bytes: Buffer) => unknown): void {
    sockets.add(from);
    from.on("data", (bytes) => {
      read(bytes);
      to.write(bytes);
    });
    from.on("error", () => {});
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    published,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
