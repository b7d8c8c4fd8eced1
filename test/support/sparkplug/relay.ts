import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import mqtt, { type MqttClient } from "mqtt";
import { type IConnectPacket, type Parser, parser } from "mqtt-packet";
import type { Recording } from "./wire.ts";

/** Stands between an edge node and a broker, and records what they say. */
export interface WireRelay {
  readonly port: number;
  close(): Promise<void>;
}

export interface RelayParts {
  readonly recording: Recording;
  /** Where the broker listens, which may change. */
  readonly brokerPort: () => number;
  /** Which clients are the edge node; others pass unrecorded. */
  readonly isEdgeNode?: (connect: IConnectPacket) => boolean;
}

export async function startWireRelay({
  recording,
  brokerPort,
  isEdgeNode = () => true,
}: RelayParts): Promise<WireRelay> {
  const sockets = new Set<Socket>();
  let broker = "";

  function serve(client: Socket): void {
    let connection: number | null = null;
    client.setNoDelay(true);
    const fromNode = parser({ protocolVersion: 4 });
    // What is sent is written in the version that the edge node says in its first packet.
    let toNode: Parser | null = null;
    fromNode.on("packet", (packet) => {
      if (packet.cmd === "connect" && isEdgeNode(packet)) {
        connection = recording.open();
        toNode = answers(connection, packet.protocolVersion ?? 4);
      }
      if (connection !== null) recording.fromNode(connection, broker, packet);
    });
    watch(client);
    client.once("close", () => {
      if (connection !== null) recording.closed(connection);
    });
    // Not before it has sent something: a CONNECT is recorded also if no broker is there.
    client.once("data", (first) => {
      client.pause();
      client.unshift(first);
      const upstream = connect(brokerPort(), "127.0.0.1").setNoDelay(true);
      watch(upstream);
      pipe(client, upstream, (bytes) => void fromNode.parse(bytes));
      pipe(upstream, client, (bytes) => void toNode?.parse(bytes));
      client.resume();
    });
  }

  function answers(connection: number, protocolVersion: number): Parser {
    return parser({ protocolVersion }).on("packet", (packet) => recording.toNode(connection, packet));
  }

  function watch(socket: Socket): void {
    sockets.add(socket);
    // The end is told by `close`.
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  }

  function pipe(from: Socket, to: Socket, read: (bytes: Buffer) => void): void {
    from.on("data", (bytes) => {
      read(bytes);
      to.write(bytes);
    });
    from.once("close", () => to.destroy());
  }

  const server = createServer(serve).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  broker = `localhost:${port}`;
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A subscriber beside, which connects again by itself: it records what the broker delivers. */
export async function recordDeliveries(url: string, recording: Recording): Promise<MqttClient> {
  const client = mqtt.connect(url, { reconnectPeriod: 100, resubscribe: true });
  client.on("error", () => {});
  client.on("message", (topic, bytes, { qos, retain }) => recording.delivered(topic, bytes, qos, retain));
  await new Promise<void>((resolve) => void client.once("connect", () => resolve()));
  await client.subscribeAsync(["spBv1.0/#", "STATE/#"], { qos: 1 });
  return client;
}
