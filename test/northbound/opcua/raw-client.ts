import { connect } from "node:net";
import {
  BinaryStream,
  MessageSecurityMode,
  OpenSecureChannelRequest,
  OpenSecureChannelResponse,
  SecurityTokenRequestType,
} from "node-opcua";

/** A frame of OPC UA's TCP mapping: type and flag, the length of the whole, and a body. */
export function frame(typeAndFlag: string, body: Uint8Array): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(8 + body.byteLength);
  return Buffer.concat([Buffer.from(typeAndFlag, "latin1"), size, body]);
}

/** A Hello that every server takes. */
export function hello(url = "opc.tcp://localhost:4840", maxMessageBytes = 0): Buffer {
  const numbers = Buffer.alloc(24);
  numbers.writeUInt32LE(maxMessageBytes, 12);
  numbers.writeUInt32LE(65_536, 4);
  numbers.writeUInt32LE(65_536, 8);
  numbers.writeUInt32LE(url.length, 20);
  return frame("HELF", Buffer.concat([numbers, Buffer.from(url)]));
}

/** How a server answers bytes; `next` makes of all that came so far what is sent next, null: nothing more. */
export type Script = (answers: Buffer) => Buffer | null;

/**
 * Sends what the script says, each part when something came back, and ends when the server closes or is
 * silent for so long, or when it is told to hang up.
 */
export async function exchange(
  url: string,
  script: Script,
  silenceMs: number,
  hangUp?: AbortSignal,
): Promise<Buffer> {
  const { hostname, port } = new URL(url.replace("opc.tcp", "tcp"));
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let answers = Buffer.alloc(0);
  const speak = () => {
    const bytes = script(answers);
    if (bytes !== null && !socket.destroyed) socket.write(bytes);
  };
  socket.on("data", (bytes) => {
    answers = Buffer.concat([answers, bytes]);
    speak();
  });
  // A server that closes on what it has not read resets the connection.
  socket.on("error", () => socket.destroy());
  socket.setTimeout(silenceMs, () => socket.destroy());
  hangUp?.addEventListener("abort", () => socket.destroy());
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  speak();
  await closed;
  return answers;
}

/** A request or response of node-opcua's, which knows how it is written. */
interface Encodable {
  encode(stream: BinaryStream): void;
  readonly schema: { readonly encodingDefaultBinary?: { readonly value: unknown } };
}
interface Decodable {
  decode(stream: BinaryStream): void;
}

/** A secure channel without security, over which anything can be sent. */
export interface RawChannel {
  /**
   * Sends a request and resolves with the body of its answer, type id first; null when the server hung up.
   */
  call(request: Encodable): Promise<RawAnswer | null>;
  /** The same with a body as it is, type id first. Rejects when the answer is another request's. */
  ask(body: Buffer): Promise<RawAnswer | null>;
  /** Sends a request of so many bytes, in chunks, and waits for nothing. */
  sendRequest(body: Buffer): void;
  /** Reads no answers any more. */
  pause(): void;
  /** What the server has not read yet, as far as it lies here. */
  unsentBytes(): number;
  /** Sends bytes as they are: a chunk that is not final, or anything else. */
  send(bytes: Buffer): void;
  /** The beginning of a MSG frame of this channel, with its sequence and request number. */
  message(flag: "F" | "C" | "A", body: Buffer): Buffer;
  readonly closed: Promise<void>;
  hangUp(): void;
}

interface RawAnswer {
  /** The numeric id of the answer's binary encoding. */
  readonly type: number;
  readonly bytes: number;
  /** ResponseHeader.ServiceResult. */
  readonly status: number;
  read<T extends Decodable>(into: T): T;
}

const MESSAGE_HEADER_BYTES = 24;
const CHUNK_BYTES = 60_000;

/**
 * Opens a channel with SecurityPolicy None. Rejects when the server does not open it.
 *
 * @param maxMessageBytes what the client takes of an answer; 0: all of it
 * @param localAddress the address from which it comes
 */
export async function openRawChannel(
  url: string,
  maxMessageBytes = 0,
  localAddress = "127.0.0.1",
): Promise<RawChannel> {
  const { hostname, port } = new URL(url.replace("opc.tcp", "tcp"));
  const socket = connect({ host: hostname, port: Number(port), localAddress, noDelay: true });
  const frames: Buffer[] = [];
  const waiting: Array<(bytes: Buffer | null) => void> = [];
  let rest = Buffer.alloc(0);
  let isClosed = false;
  socket.on("data", (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 8 && rest.length >= rest.readUInt32LE(4)) {
      const whole = rest.subarray(0, rest.readUInt32LE(4));
      rest = rest.subarray(whole.length);
      const next = waiting.shift();
      if (next === undefined) frames.push(whole);
      else next(whole);
    }
  });
  socket.on("error", () => socket.destroy());
  const closed = new Promise<void>((resolve) =>
    socket.on("close", () => {
      isClosed = true;
      for (const next of waiting.splice(0)) next(null);
      resolve();
    }),
  );
  const nextFrame = () =>
    new Promise<Buffer | null>((resolve) => {
      const frameThere = frames.shift();
      if (frameThere !== undefined) resolve(frameThere);
      else if (isClosed) resolve(null);
      else waiting.push(resolve);
    });

  let sequence = 0;
  let channelId = 0;
  let tokenId = 0;
  function numbers(...values: readonly number[]): Buffer {
    const bytes = Buffer.alloc(values.length * 4);
    values.forEach((value, index) => {
      bytes.writeUInt32LE(value, index * 4);
    });
    return bytes;
  }
  function chunk(flag: "F" | "C" | "A", requestId: number, body: Uint8Array): Buffer {
    sequence += 1;
    return frame(`MSG${flag}`, Buffer.concat([numbers(channelId, tokenId, sequence, requestId), body]));
  }
  const message = (flag: "F" | "C" | "A", body: Buffer) => chunk(flag, sequence + 1, body);

  socket.write(hello(url, maxMessageBytes));
  const ack = await nextFrame();
  if (ack?.toString("latin1", 0, 3) !== "ACK") throw new Error("the server did not acknowledge");
  const policy = Buffer.from("http://opcfoundation.org/UA/SecurityPolicy#None");
  const open = new OpenSecureChannelRequest({
    clientProtocolVersion: 0,
    requestType: SecurityTokenRequestType.Issue,
    securityMode: MessageSecurityMode.None,
    requestedLifetime: 600_000,
  });
  sequence += 1;
  const opening = [numbers(0, policy.length), policy, numbers(0xffff_ffff, 0xffff_ffff, sequence, sequence)];
  socket.write(frame("OPNF", Buffer.concat([...opening, encoded(open)])));
  const opened = await nextFrame();
  if (opened?.toString("latin1", 0, 3) !== "OPN") throw new Error("the server did not open the channel");
  channelId = opened.readUInt32LE(8);
  const body = opened.subarray(8 + 4 + 4 + policy.length + 8 + 8);
  tokenId = answerOf(body).read(new OpenSecureChannelResponse()).securityToken.tokenId;

  /** Answers with the number of the request. */
  function sendRequest(body: Buffer): number {
    const requestId = sequence + 1;
    let at = 0;
    for (; body.length - at > CHUNK_BYTES; at += CHUNK_BYTES) {
      socket.write(chunk("C", requestId, body.subarray(at, at + CHUNK_BYTES)));
    }
    socket.write(chunk("F", requestId, body.subarray(at)));
    return requestId;
  }

  async function ask(body: Buffer): Promise<RawAnswer | null> {
    const requestId = sendRequest(body);
    const parts: Buffer[] = [];
    for (;;) {
      const answer = await nextFrame();
      if (answer?.toString("latin1", 0, 3) !== "MSG") return null;
      if (answer.readUInt32LE(MESSAGE_HEADER_BYTES - 4) !== requestId) throw new Error("of another request");
      parts.push(answer.subarray(MESSAGE_HEADER_BYTES));
      if (answer.toString("latin1", 3, 4) === "F") return answerOf(Buffer.concat(parts));
    }
  }

  return {
    call: (request) => ask(encoded(request)),
    ask,
    sendRequest,
    pause: () => void socket.pause(),
    unsentBytes: () => socket.writableLength,
    send: (bytes) => void socket.write(bytes),
    message,
    closed,
    hangUp: () => socket.destroy(),
  };
}

/** The id of a request's binary encoding, as a four-byte NodeId, and the request. */
export function encoded(request: Encodable): Buffer {
  const stream = BinaryStream.createGrowable(1024, 8 * 1024 * 1024);
  request.encode(stream);
  const id = Number(request.schema.encodingDefaultBinary?.value);
  return Buffer.concat([Buffer.from([1, 0, id & 0xff, id >> 8]), stream.buffer.subarray(0, stream.length)]);
}

function answerOf(body: Buffer): RawAnswer {
  return {
    type: body.readUInt16LE(2),
    bytes: body.length,
    // After the time (8 bytes) and the request's handle (4).
    status: body.readUInt32LE(4 + 12),
    read(into) {
      into.decode(new BinaryStream(body.subarray(4)));
      return into;
    },
  };
}
