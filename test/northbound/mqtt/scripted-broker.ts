import { type Duplex, duplexPair } from "node:stream";
import { generate, type Packet, parser } from "mqtt-packet";

/** A broker for one client that says exactly what a test tells it to, in one piece of bytes. */
export interface ScriptedBroker {
  /** For the gateway. */
  open(): Duplex;
  /** Resolves when the gateway has subscribed to commands. */
  readonly subscribed: Promise<void>;
  /** Writes these packets at once, as a broker does that has them waiting. */
  say(packets: readonly Packet[]): void;
  /** What the gateway has sent. */
  readonly received: Packet[];
  /** Reads nothing more, as over a connection that is too slow. */
  stall(): void;
  resume(): void;
}

/**
 * @param isRefused which subscriptions are refused
 * @param acknowledges false: it takes messages, and says nothing of them
 */
export function createScriptedBroker(
  isRefused = (_filter: string) => false,
  acknowledges = true,
): ScriptedBroker {
  const [near, far] = duplexPair();
  const received: Packet[] = [];
  let onSubscribed = () => {};
  const subscribed = new Promise<void>((resolve) => {
    onSubscribed = resolve;
  });
  const say = (packets: readonly Packet[]) => {
    far.write(Buffer.concat(packets.map((packet) => generate(packet))));
  };
  const read = parser({ protocolVersion: 4 });
  read.on("packet", (packet) => {
    received.push(packet);
    const { messageId = 0 } = packet;
    if (packet.cmd === "connect") say([{ cmd: "connack", returnCode: 0, sessionPresent: false }]);
    if (packet.cmd === "publish" && packet.qos === 1 && acknowledges) say([{ cmd: "puback", messageId }]);
    if (packet.cmd === "pingreq") say([{ cmd: "pingresp" }]);
    if (packet.cmd === "disconnect") far.end();
    if (packet.cmd !== "subscribe") return;
    const granted = packet.subscriptions.map(({ topic, qos }) => (isRefused(topic) ? 0x80 : qos));
    say([{ cmd: "suback", messageId, granted }]);
    if (packet.subscriptions.some(({ topic }) => topic.includes("/command/"))) onSubscribed();
  });
  far.on("data", (bytes: Buffer) => read.parse(bytes));
  return {
    ...{ open: () => near, subscribed, say, received },
    stall: () => void far.pause(),
    resume: () => void far.resume(),
  };
}
