import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { generate, type IConnackPacket, type IConnectPacket, type IPublishPacket, parser } from "mqtt-packet";

/** A broker of MQTT 5 for one client, which says in CONNACK what a test wants it to. */
export interface LimitedBroker {
  readonly url: string;
  /** What clients have said to connect, in order. */
  readonly connects: IConnectPacket[];
  /** What they have published, in order. */
  readonly published: IPublishPacket[];
  readonly subscribed: string[];
  /** Resolves when a publish is there that the test accepts. */
  received(test: (packet: IPublishPacket) => boolean): Promise<IPublishPacket>;
  /** How many clients have said goodbye. */
  readonly disconnects: () => number;
  /** The reason code that acknowledges a message. */
  answer: (packet: IPublishPacket) => number;
  /** Keeps acknowledgements from now on, until the next call; resolves how many messages wait for one. */
  holdAcks(): () => void;
  /** Publishes to the client. */
  say(topic: string, payload: string): void;
  /** Ends the connection for this reason. */
  end(reasonCode: number): void;
  close(): Promise<void>;
}

export async function startLimitedBroker(
  properties: NonNullable<IConnackPacket["properties"]>,
): Promise<LimitedBroker> {
  const connects: IConnectPacket[] = [];
  const published: IPublishPacket[] = [];
  const subscribed: string[] = [];
  const waiting = new Set<() => void>();
  const sockets = new Set<Socket>();
  let disconnects = 0;
  let held: Array<() => void> | null = null;
  let say: LimitedBroker["say"] = () => {};
  let end: LimitedBroker["end"] = () => {};

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const send = (packet: Parameters<typeof generate>[0]) =>
      void socket.write(generate(packet, { protocolVersion: 5 }));
    say = (topic, payload) =>
      send({ cmd: "publish", topic, payload, qos: 0, retain: false, dup: false, messageId: 1 });
    end = (reasonCode) => {
      send({ cmd: "disconnect", reasonCode });
      socket.end();
    };
    const read = parser({ protocolVersion: 5 });
    const accept = (packet: IConnectPacket) => {
      connects.push(packet);
      const refuses = packet.will?.retain === true && properties.retainAvailable === false;
      const isQosRefused = (packet.will?.qos ?? 0) > (properties.maximumQoS ?? 2);
      const reasonCode = refuses ? 0x9a : isQosRefused ? 0x9b : 0;
      send({ cmd: "connack", reasonCode, sessionPresent: false, properties });
      if (reasonCode !== 0) socket.end();
    };
    read.on("packet", (packet) => {
      const { messageId = 0 } = packet;
      switch (packet.cmd) {
        case "connect":
          return accept(packet);
        case "publish": {
          published.push(packet);
          const acknowledge = () => send({ cmd: "puback", messageId, reasonCode: broker.answer(packet) });
          if (packet.qos === 1 && held !== null) held.push(acknowledge);
          else if (packet.qos === 1) acknowledge();
          for (const look of waiting) look();
          return;
        }
        case "subscribe":
          subscribed.push(...packet.subscriptions.map(({ topic }) => topic));
          return send({ cmd: "suback", messageId, granted: packet.subscriptions.map(({ qos }) => qos) });
        case "pingreq":
          return send({ cmd: "pingresp" });
        case "disconnect":
          disconnects += 1;
          return void socket.end();
        default:
      }
    });
    socket.on("data", (bytes) => read.parse(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const broker: LimitedBroker = {
    url: `mqtt://127.0.0.1:${port}`,
    connects,
    published,
    subscribed,
    disconnects: () => disconnects,
    answer: () => 0,
    say: (topic, payload) => say(topic, payload),
    end: (reasonCode) => end(reasonCode),
    received: (test) =>
      new Promise((resolve) => {
        const look = () => {
          const found = published.find(test);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
    holdAcks() {
      held = [];
      return () => {
        const late = held ?? [];
        held = null;
        for (const acknowledge of late) acknowledge();
      };
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
  return broker;
}
