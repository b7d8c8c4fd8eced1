import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from "node:http2";

const HEADER_BYTES = 5;
const READER_WINDOW_BYTES = 1_048_576;

/** A connection of a raw gRPC client, and the token that its calls carry. */
export interface RawConnection {
  readonly session: ClientHttp2Session;
  readonly token: string;
}

/** Connects; `fail` is told when the connection breaks later. */
export function openConnection(
  grpc: string,
  ca: Buffer,
  token: string,
  fail: (error: Error) => void,
): Promise<RawConnection> {
  return new Promise((resolve, reject) => {
    const session = connect(`https://${grpc}`, { ca, settings: { initialWindowSize: READER_WINDOW_BYTES } });
    session.once("error", reject);
    session.once("connect", () => {
      session.setLocalWindowSize(READER_WINDOW_BYTES);
      session.off("error", reject);
      session.on("error", fail);
      resolve({ session, token });
    });
  });
}

/** Opens a server stream with its one request. */
export function openStream(
  { session, token }: RawConnection,
  path: string,
  request: Uint8Array,
): ClientHttp2Stream {
  const stream = session.request({
    [constants.HTTP2_HEADER_METHOD]: "POST",
    [constants.HTTP2_HEADER_PATH]: path,
    [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc+proto",
    [constants.HTTP2_HEADER_TE]: "trailers",
    [constants.HTTP2_HEADER_AUTHORIZATION]: `Bearer ${token}`,
  });
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(request.length, 1);
  stream.end(Buffer.concat([header, request]));
  return stream;
}

/** Calls `onMessage` with the bytes of each message of a stream. */
export function readMessages(stream: ClientHttp2Stream, onMessage: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  stream.on("data", (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (bytes.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + bytes.readUInt32BE(at + 1);
      if (end > bytes.length) break;
      onMessage(bytes.subarray(at + HEADER_BYTES, end));
      at = end;
    }
    rest = bytes.subarray(at);
  });
}
