import mqtt, {
  type DoneCallback,
  type IClientOptions,
  type IClientPublishOptions,
  type PacketCallback,
} from "mqtt";
import { generate } from "mqtt-packet";
import { connectFaultText, type Peer } from "../../../platform/connect-fault.ts";
import { messageOf } from "../../../platform/error-text.ts";
import { createTurnTime } from "../../../platform/loop-time.ts";
import type { MqttOptions } from "../options.ts";
import { type BrokerLimits, noLimits, readLimits } from "./broker-limits.ts";
import { brokerAddress } from "./dial.ts";

/** Reasons of CONNACK that a person mends with user or password, by MQTT 3.1.1 and 5. */
const ofUser: ReadonlySet<unknown> = new Set([4, 5, 0x86, 0x87]);

/**
 * Why the broker cannot be reached or refuses the gateway, in one line with what to do. It changes once a day
 * at most, so that it is one transition in log and health.
 */
export function brokerProblem(error: unknown, { broker }: MqttOptions, nowMs: number): string {
  const reason = messageOf(error);
  if (broker.kind === "embedded") return `the MQTT broker cannot be reached or refused: ${reason}`;
  if (ofUser.has(reasonOf(error)))
    return `the MQTT broker refuses the gateway: ${reason}; look at mqtt.username and mqtt.password`;
  const peer: Peer = {
    key: broker.setting,
    ...brokerAddress(broker.url),
    caKey: "mqtt.ca",
    certificateKey: "mqtt.clientCertificate",
  };
  const status = /^Unexpected server response: (\d+)$/.exec(reason)?.[1];
  const otherwise =
    status === undefined
      ? reason
      : `it answers HTTP ${status} and opens no WebSocket; look at the path of the URL`;
  const today = new Date(nowMs).toISOString().slice(0, "2026-01-31".length);
  return `the MQTT broker cannot be reached or refused: ${connectFaultText(error, peer, today, otherwise)}`;
}

/** The reason code of a packet by which the broker has refused something. */
export function reasonOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** PUBLISH, QoS 0 (MQTT 3.1.1 and 5, section 3.3.1). */
const PUBLISH = 0x30;
const RETAIN = 0x01;
/** MQTT 5, section 3.3.2.3.3: the message expiry interval, a number of four bytes. */
const MESSAGE_EXPIRY = 0x02;
const EXPIRY_BYTES = 5;
const LENGTH_BYTES = 2;

/**
 * A message of QoS 0 as bytes, in half the time of mqtt.js and mqtt-packet (README.md here).
 *
 * @param expirySeconds when the broker forgets it; null: never
 * @param hasProperties with MQTT 5
 */
export function statePacket(
  topic: string,
  payload: string | Buffer,
  expirySeconds: number | null,
  isRetained = true,
  hasProperties = expirySeconds !== null,
): Buffer {
  const topicBytes = Buffer.byteLength(topic);
  const expiryBytes = expirySeconds === null ? 0 : EXPIRY_BYTES;
  const propertyBytes = hasProperties ? 1 + expiryBytes : 0;
  const length = LENGTH_BYTES + topicBytes + propertyBytes + Buffer.byteLength(payload);
  const packet = Buffer.allocUnsafe(1 + varintBytes(length) + length);
  packet[0] = isRetained ? PUBLISH | RETAIN : PUBLISH;
  let at = writeVarint(packet, length, 1);
  at = packet.writeUInt16BE(topicBytes, at);
  at += packet.write(topic, at);
  if (hasProperties) at = packet.writeUInt8(expiryBytes, at);
  if (expirySeconds !== null) {
    at = packet.writeUInt8(MESSAGE_EXPIRY, at);
    at = packet.writeUInt32BE(expirySeconds, at);
  }
  if (typeof payload === "string") packet.write(payload, at);
  else packet.set(payload, at);
  return packet;
}

/** The length of a variable byte integer (MQTT 3.1.1, section 2.2.3). */
function varintBytes(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  return value < 0x20_0000 ? 3 : 4;
}

/** Writes it at `start` and gives the place behind it. */
function writeVarint(packet: Buffer, value: number, start: number): number {
  let at = start;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) at = packet.writeUInt8((rest & 0x7f) | 0x80, at);
  return packet.writeUInt8(rest, at);
}

/** A message that is larger than the broker takes. It was not sent; the connection goes on. */
export class PacketTooLarge extends Error {
  override readonly name = "PacketTooLarge";

  constructor(topic: string, limitBytes: number) {
    super(`the message on ${topic} is larger than the ${limitBytes} bytes that the broker takes`);
  }
}

/** The broker has not taken a message, and never will on this topic. The connection goes on. */
export class TopicRefused extends Error {
  override readonly name = "TopicRefused";

  constructor(topic: string, cause: Error) {
    const why = `the broker refuses to let the gateway write to ${topic}: ${cause.message}`;
    super(`${why}; let its rules allow everything under mqtt.base`, { cause });
  }
}

/** The broker has not taken a message, and may take it later. The connection goes on. */
export class NotTakenYet extends Error {
  override readonly name = "NotTakenYet";

  constructor(topic: string, cause: Error) {
    super(`the broker does not take now what is published on ${topic}: ${cause.message}`, { cause });
  }
}

/** Reasons of MQTT 5, PUBACK: from here on the broker has not taken the message. */
const NOT_TAKEN = 0x80;
/** Another try does not change these: not authorized, topic name invalid, payload format invalid. */
const REFUSED_FOR_GOOD: ReadonlySet<unknown> = new Set([0x87, 0x90, 0x99]);
const QUOTA_EXCEEDED = 0x97;

/** What a connection has to say of messages that did not arrive. */
export interface LeftOut {
  /** It was not sent because of its size. */
  readonly onTooLarge: (topic: string, limitBytes: number) => void;
  /** The broker takes nothing on this topic from us, and gives a reason. */
  readonly onRefused: (topic: string, reason: string) => void;
  /** The broker has not taken a message, for a reason that may pass. Returns whether to try it again. */
  readonly onNotTaken: (topic: string, reason: string, isQuota: boolean) => boolean;
  /** The broker has taken a message on this topic. */
  readonly onTaken: (topic: string) => void;
}

/** A message that waits for acknowledgements, or who waits for those before it to leave. */
type Waiting =
  | {
      readonly kind: "message";
      readonly topic: string;
      readonly message: string | Buffer;
      readonly options: IClientPublishOptions;
      readonly done: PacketCallback;
    }
  | { readonly kind: "marker"; readonly done: (error?: Error) => void };

/** More than header, packet identifier and properties need: the largest property is correlation data. */
const ROOM_FOR_REST = 4_096;
/** The longest encoding of a UTF-16 unit. */
const BYTES_A_CHARACTER = 3;

/**
 * An MQTT client that respects what the broker said when it accepted the connection; mqtt.js does not. What
 * must wait does so in the order of publishing.
 */
export class LimitedClient extends mqtt.MqttClient {
  #limits = noLimits;
  #unacknowledged = 0;
  #waiting: Waiting[] = [];
  readonly #leftOut: LeftOut;
  readonly #turn = createTurnTime();

  constructor(
    streamBuilder: ConstructorParameters<typeof mqtt.MqttClient>[0],
    options: IClientOptions,
    leftOut: LeftOut,
  ) {
    super(streamBuilder, options);
    this.#leftOut = leftOut;
    this.on("connect", (packet) => {
      this.#limits = readLimits(packet);
    });
    this.on("close", () => this.#giveUpWaiting());
  }

  /** What the broker said; nothing before it has accepted the connection. */
  get limits(): BrokerLimits {
    return this.#limits;
  }

  /** Whether the broker takes messages more slowly than they come. */
  get isBehind(): boolean {
    return this.stream.writableNeedDrain || this.#waiting.length > 0;
  }

  /** mqtt.js calls it after each message: a flood is read no faster than beside everything else. */
  override handleMessage(_packet: unknown, done: DoneCallback): void {
    if (this.#turn.isOver()) this.#turn.inNextTurn(done);
    else done();
  }

  override publish(
    topic: string,
    message: string | Buffer,
    options: IClientPublishOptions | PacketCallback = {},
    callback: PacketCallback = () => {},
  ): this {
    if (typeof options === "function") return this.publish(topic, message, {}, options);
    const fitting = this.#fitting(options);
    if (this.#isTooLarge(topic, message, fitting)) this.#leaveOut(topic, message, fitting, callback);
    else if (this.#waiting.length === 0 && this.#hasRoom(fitting))
      this.#send(topic, message, fitting, callback);
    else this.#waiting.push({ kind: "message", topic, message, options: fitting, done: callback });
    return this;
  }

  /** Publishes retained state of QoS 0 at a fraction of the cost of `publish`. */
  publishState(topic: string, payload: string, expirySeconds: number | null): void {
    const properties = expirySeconds === null ? {} : { messageExpiryInterval: expirySeconds };
    if (this.#waiting.length > 0) this.publish(topic, payload, { qos: 0, retain: true, properties });
    else this.#write(topic, payload, expirySeconds, true);
  }

  #write(topic: string, payload: string | Buffer, expirySeconds: number | null, retain: boolean): void {
    if (!this.stream.writable) return;
    const { retainAvailable, maximumPacketSize } = this.#limits;
    const hasProperties = this.options.protocolVersion === 5;
    const packet = statePacket(topic, payload, expirySeconds, retain && retainAvailable, hasProperties);
    if (packet.length > maximumPacketSize) this.#leaveOut(topic, payload, { qos: 0, retain }, () => {});
    else this.stream.write(packet);
  }

  /** Calls back when everything that was published before has left; with an error if it cannot any more. */
  afterWaiting(done: (error?: Error) => void): void {
    if (this.#waiting.length === 0) done();
    else this.#waiting.push({ kind: "marker", done });
  }

  #fitting(options: IClientPublishOptions): IClientPublishOptions {
    const { maximumQos, retainAvailable } = this.#limits;
    const isFitting = (options.qos ?? 0) <= maximumQos && (retainAvailable || options.retain !== true);
    if (isFitting) return options;
    return {
      ...options,
      qos: maximumQos === 0 ? 0 : (options.qos ?? 0),
      retain: retainAvailable && options.retain === true,
    };
  }

  #hasRoom({ qos = 0 }: IClientPublishOptions): boolean {
    return qos === 0 || this.#unacknowledged < this.#limits.receiveMaximum;
  }

  #isTooLarge(topic: string, message: string | Buffer, options: IClientPublishOptions): boolean {
    const { maximumPacketSize } = this.#limits;
    if ((topic.length + message.length) * BYTES_A_CHARACTER + ROOM_FOR_REST <= maximumPacketSize)
      return false;
    const { qos = 0, retain = false, properties } = options;
    const packet = generate(
      {
        cmd: "publish",
        topic,
        payload: message,
        qos,
        retain,
        dup: false,
        messageId: 1,
        ...(properties === undefined ? {} : { properties }),
      },
      { protocolVersion: 5 },
    );
    return packet.length > maximumPacketSize;
  }

  /** Of a retained topic the older value goes too: nobody would know that it is not the newest. */
  #leaveOut(
    topic: string,
    message: string | Buffer,
    options: IClientPublishOptions,
    callback: PacketCallback,
  ): void {
    const { maximumPacketSize } = this.#limits;
    this.#leftOut.onTooLarge(topic, maximumPacketSize);
    if (options.retain === true && message.length > 0) this.publish(topic, "", options, callback);
    else callback(new PacketTooLarge(topic, maximumPacketSize));
  }

  #send(topic: string, message: string | Buffer, options: IClientPublishOptions, done: PacketCallback): void {
    if (options.qos !== 1) {
      super.publish(topic, message, options, done);
      return;
    }
    this.#unacknowledged += 1;
    super.publish(topic, message, options, (error, packet) => {
      this.#unacknowledged -= 1;
      done(this.#evaluate(topic, error), packet);
      this.#sendWaiting();
    });
  }

  #evaluate(topic: string, error: Error | undefined): Error | undefined {
    if (!error) {
      this.#leftOut.onTaken(topic);
      return error;
    }
    const code = reasonOf(error);
    if (typeof code !== "number" || code < NOT_TAKEN) return error;
    const mayPass = !REFUSED_FOR_GOOD.has(code);
    if (mayPass && this.#leftOut.onNotTaken(topic, error.message, code === QUOTA_EXCEEDED))
      return new NotTakenYet(topic, error);
    this.#leftOut.onRefused(topic, error.message);
    return new TopicRefused(topic, error);
  }

  #sendWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || !this.connected || this.disconnecting) return;
      if (next.kind === "message" && !this.#hasRoom(next.options)) return;
      this.#waiting.shift();
      if (next.kind === "marker") next.done();
      else this.#send(next.topic, next.message, next.options, next.done);
    }
  }

  #giveUpWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const one of waiting) one.done(new Error("Connection closed"));
  }
}
