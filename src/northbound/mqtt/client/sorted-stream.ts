import { Duplex } from "node:stream";
import type { IPublishPacket } from "mqtt";
import { parser } from "mqtt-packet";

/** What a piece of the connection's bytes came to, beside the messages that were taken out of it. */
export interface Sorted {
  /** For the MQTT client, in order. */
  readonly rest: readonly Buffer[];
  /** To the broker: the acknowledgements of what was taken; null when there are none. */
  readonly acks: Buffer | null;
}

const PUBLISH = 3;
/** No message that is read is longer. Longer packets of other types are for the MQTT client, byte by byte. */
const LONGEST_FRAME = 320 * 1024;
/** Of MQTT 5, in bytes. Decoding many user properties would hold the event loop. */
const MOST_PROPERTIES = 16 * 1024;
const MOST_TOPICS = 4_096;
const NOTHING: Buffer = Buffer.alloc(0);

/** A connection to a broker for mqtt.js, from which some messages are taken before it sees them. */
export class SortedStream extends Duplex {
  readonly #connection: Duplex;

  constructor(connection: Duplex, sort: (bytes: Buffer) => Sorted) {
    super();
    this.#connection = connection;
    connection.on("data", (bytes: Buffer) => {
      const { rest, acks } = sort(bytes);
      if (acks !== null && connection.writable) connection.write(acks);
      for (const piece of rest) if (!this.push(piece)) connection.pause();
    });
    connection.on("end", () => this.push(null));
    connection.on("error", (error) => this.destroy(error));
    connection.on("close", () => this.destroy());
  }

  override _read(): void {
    this.#connection.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#connection.write(chunk, done);
  }

  override _writev(
    chunks: ReadonlyArray<{ readonly chunk: Buffer }>,
    done: (error?: Error | null) => void,
  ): void {
    this.#connection.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#connection.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#connection.destroy();
    done(error);
  }
}

/** Where a packet of the buffer lies. */
interface Frame {
  readonly bodyAt: number;
  readonly end: number;
}

/** The beginning of a PUBLISH packet. */
interface Head {
  readonly topic: string;
  /** With QoS 1. */
  readonly id: number | null;
  readonly isRetained: boolean;
  /** Of MQTT 5. */
  readonly propertyBytes: number;
}

/** What becomes of messages that are taken out of a connection's bytes. */
export interface FrameTakers {
  readonly protocolVersion: 4 | 5;
  /** Which topics' messages are taken. */
  readonly isWanted: (topic: string) => boolean;
  /** Is given a whole PUBLISH packet, which keeps no other packet's memory. */
  readonly take: (topic: string, frame: Buffer) => void;
  /** A message of any topic was dropped, for this reason. */
  readonly onTooLong: (topic: string, reason: string, isRetained: boolean) => void;
}

/**
 * Takes the PUBLISH packets of some topics out of a connection's bytes and acknowledges them, and drops what
 * is too long. mqtt.js needs 40 µs for each: the stop of one client would wait more than a second behind
 * 30,000 messages of another one. It would also collect all bytes of a packet, whatever its length.
 */
export function createFrameSorter({
  protocolVersion,
  isWanted,
  take,
  onTooLong,
}: FrameTakers): (bytes: Buffer) => Sorted {
  const topics = new Map<string, boolean>();
  let held: Buffer = NOTHING;
  /** Bytes of a long packet that are still to come: for the MQTT client, and for nobody. */
  let passing = 0;
  let skipping = 0;

  function isKnownWanted(topic: string): boolean {
    let known = topics.get(topic);
    if (known === undefined) {
      if (topics.size >= MOST_TOPICS) topics.clear();
      known = isWanted(topic);
      topics.set(topic, known);
    }
    return known;
  }

  /** Whether the message was taken or dropped. */
  function takeFrame(data: Buffer, at: number, end: number, head: Head, acks: number[]): boolean {
    const { topic, id, isRetained } = head;
    const tooLong = whyTooLong(end - at, head);
    if (tooLong === null && !isKnownWanted(topic)) return false;
    // Success needs no more than these in MQTT 3.1.1 and 5.
    if (id !== null) acks.push(0x40, 2, id >> 8, id & 0xff);
    if (tooLong === null) take(topic, Buffer.from(data.subarray(at, end)));
    else onTooLong(topic, tooLong, isRetained);
    return true;
  }

  return (bytes) => {
    const data = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    held = NOTHING;
    const rest: Buffer[] = [];
    const acks: number[] = [];
    let restFrom = Math.min(skipping, data.length);
    skipping -= restFrom;
    let at = restFrom + Math.min(passing, data.length - restFrom);
    passing -= at - restFrom;
    while (at < data.length) {
      const frame = frameAt(data, at);
      if (frame === "partial") break;
      if (frame === "broken") {
        passing = Number.POSITIVE_INFINITY;
        at = data.length;
        break;
      }
      if (frame.end > data.length && frame.end - at <= LONGEST_FRAME) break;
      const head = headAt(data, at, frame, protocolVersion);
      if (head === "partial") break;
      const end = Math.min(frame.end, data.length);
      if (head !== null && takeFrame(data, at, frame.end, head, acks)) {
        if (at > restFrom) rest.push(data.subarray(restFrom, at));
        restFrom = end;
        skipping = frame.end - end;
      } else passing = frame.end - end;
      at = end;
    }
    if (at > restFrom) rest.push(data.subarray(restFrom, at));
    if (at < data.length) held = data.subarray(at);
    return { rest, acks: acks.length === 0 ? null : Buffer.from(acks) };
  };
}

function whyTooLong(bytes: number, { propertyBytes }: Head): string | null {
  if (bytes > LONGEST_FRAME) return `the message has ${bytes} bytes; at most ${LONGEST_FRAME} are read`;
  if (propertyBytes <= MOST_PROPERTIES) return null;
  return `the message has ${propertyBytes} bytes of properties; at most ${MOST_PROPERTIES} are read`;
}

function frameAt(data: Buffer, at: number): Frame | "partial" | "broken" {
  const length = varintAt(data, at + 1);
  if (typeof length === "string") return length;
  return { bodyAt: length.end, end: length.end + length.value };
}

/**
 * Null: it is no PUBLISH, or is not well formed. Nothing is subscribed to with QoS 2, which has another
 * handshake.
 */
function headAt(data: Buffer, at: number, { bodyAt, end }: Frame, version: 4 | 5): Head | "partial" | null {
  const header = data[at] ?? 0;
  const qos = (header >> 1) & 3;
  if (header >> 4 !== PUBLISH || qos > 1 || bodyAt + 2 > end) return null;
  if (bodyAt + 2 > data.length) return "partial";
  const topicEnd = bodyAt + 2 + data.readUInt16BE(bodyAt);
  const idEnd = topicEnd + (qos === 1 ? 2 : 0);
  if (idEnd > end) return null;
  if (idEnd > data.length) return "partial";
  const properties = version === 5 && idEnd < end ? varintAt(data, idEnd) : "broken";
  if (properties === "partial" && end > data.length) return "partial";
  return {
    topic: data.toString("utf8", bodyAt + 2, topicEnd),
    id: qos === 1 ? data.readUInt16BE(topicEnd) : null,
    isRetained: (header & 1) === 1,
    propertyBytes: typeof properties === "string" ? 0 : properties.value,
  };
}

/** A variable byte integer: seven bits a byte, lowest first, at most four bytes (MQTT 3.1.1, 2.2.3). */
function varintAt(data: Buffer, at: number): { value: number; end: number } | "partial" | "broken" {
  let value = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = data[at + index];
    if (byte === undefined) return "partial";
    value += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) return { value, end: at + index + 1 };
  }
  return "broken";
}

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
