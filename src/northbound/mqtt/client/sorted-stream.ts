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
/** A longer packet is for the MQTT client, byte by byte: nothing of it is held here. */
const LONGEST_FRAME = 320 * 1024;
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

/**
 * Takes the PUBLISH packets of some topics out of a connection's bytes and acknowledges them. mqtt.js needs
 * 40 µs for each: the stop of one client would wait more than a second behind 30,000 messages of another one.
 *
 * @param isWanted which topics' messages are taken
 * @param take is given a whole PUBLISH packet, which keeps no other packet's memory
 */
export function createFrameSorter(
  isWanted: (topic: string) => boolean,
  take: (topic: string, frame: Buffer) => void,
): (bytes: Buffer) => Sorted {
  const topics = new Map<string, boolean>();
  let held: Buffer = NOTHING;
  /** Bytes of a long packet that are still to come. */
  let passing = 0;

  function isKnownWanted(topic: string): boolean {
    let known = topics.get(topic);
    if (known === undefined) {
      if (topics.size >= MOST_TOPICS) topics.clear();
      known = isWanted(topic);
      topics.set(topic, known);
    }
    return known;
  }

  /** Whether the packet was taken. QoS 2 has a handshake of its own, and is not subscribed to. */
  function takeFrame(data: Buffer, at: number, { bodyAt, end }: Frame, acks: number[]): boolean {
    const header = data[at] ?? 0;
    const qos = (header >> 1) & 3;
    if (header >> 4 !== PUBLISH || qos > 1 || bodyAt + 2 > end) return false;
    const topicEnd = bodyAt + 2 + data.readUInt16BE(bodyAt);
    if (topicEnd + (qos === 1 ? 2 : 0) > end) return false;
    const topic = data.toString("utf8", bodyAt + 2, topicEnd);
    if (!isKnownWanted(topic)) return false;
    // Success needs no more than these in MQTT 3.1.1 and 5.
    if (qos === 1) acks.push(0x40, 2, data[topicEnd] ?? 0, data[topicEnd + 1] ?? 0);
    take(topic, Buffer.from(data.subarray(at, end)));
    return true;
  }

  return (bytes) => {
    const data = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    held = NOTHING;
    const rest: Buffer[] = [];
    const acks: number[] = [];
    let at = Math.min(passing, data.length);
    passing -= at;
    let restFrom = 0;
    while (at < data.length) {
      const frame = frameAt(data, at);
      if (frame === "partial") break;
      if (frame === "broken" || frame.end - at > LONGEST_FRAME) {
        passing = frame === "broken" ? Number.POSITIVE_INFINITY : Math.max(0, frame.end - data.length);
        at = frame === "broken" ? data.length : Math.min(frame.end, data.length);
        continue;
      }
      if (frame.end > data.length) break;
      if (takeFrame(data, at, frame, acks)) {
        if (at > restFrom) rest.push(data.subarray(restFrom, at));
        restFrom = frame.end;
      }
      at = frame.end;
    }
    if (at > restFrom) rest.push(data.subarray(restFrom, at));
    if (at < data.length) held = data.subarray(at);
    return { rest, acks: acks.length === 0 ? null : Buffer.from(acks) };
  };
}

/** The remaining length: seven bits a byte, lowest first, at most four bytes (MQTT 3.1.1, 2.2.3). */
function frameAt(data: Buffer, at: number): Frame | "partial" | "broken" {
  let length = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = data[at + 1 + index];
    if (byte === undefined) return "partial";
    length += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) {
      const bodyAt = at + 2 + index;
      return { bodyAt, end: bodyAt + length };
    }
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
