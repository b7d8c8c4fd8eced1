import {
  create,
  type DescMessage,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Client, type ClientReadableStream, Metadata } from "@grpc/grpc-js";
import { tlsCredentials } from "../../src/platform/grpc-channel.ts";

/** A gRPC client of the fleet service for tests: typed by the descriptors, without our own session. */
export interface FleetClient {
  /** One unary call. Rejects with grpc-js's ServiceError. `bytes` sends those instead of a message. */
  call<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    request: MessageInitShape<I>,
  ): Promise<MessageShape<O>>;
  /** A unary call with any bytes for a request. */
  callBytes(path: string, request: Uint8Array): Promise<Uint8Array>;
  /** Opens a stream. */
  stream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    request: MessageInitShape<I>,
  ): FleetStream<MessageShape<O>>;
  close(): void;
}

/** A stream as a test reads it. */
export interface FleetStream<M> {
  /** The next message; rejects with grpc-js's ServiceError, or with an Error when the stream has ended. */
  next(): Promise<M>;
  /** How the stream ends: its gRPC code, 0 for a clean end. */
  readonly ended: Promise<number>;
  readonly raw: ClientReadableStream<Buffer>;
  cancel(): void;
}

export interface FleetClientOptions {
  /** `host:port`. */
  readonly address: string;
  /** The certificate to trust, PEM. */
  readonly ca: Buffer;
  /** The JWT; none is sent without it. */
  readonly token?: string;
  /** The service's full name, where it is not the method's own. */
  readonly serviceName?: string;
}

export function createFleetClient({ address, ca, token, serviceName }: FleetClientOptions): FleetClient {
  const client = new Client(address, tlsCredentials({ ca: String(ca), client: null }), {
    "grpc.service_config_disable_resolution": 1,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": -1,
  });
  const pass = (bytes: Buffer) => bytes;
  const metadata = () => {
    const made = new Metadata();
    if (token !== undefined) made.set("authorization", `Bearer ${token}`);
    return made;
  };
  const pathOf = (method: DescMethodUnary | DescMethodServerStreaming) =>
    `/${serviceName ?? method.parent.typeName}/${method.name}`;
  const callBytes = (path: string, request: Uint8Array) =>
    new Promise<Uint8Array>((resolve, reject) => {
      client.makeUnaryRequest(path, pass, pass, Buffer.from(request), metadata(), (error, answer) => {
        if (error !== null) reject(error);
        else resolve(answer ?? new Uint8Array());
      });
    });
  return {
    async call(method, request) {
      const bytes = toBinary(method.input, create(method.input, request));
      return fromBinary(method.output, await callBytes(pathOf(method), bytes));
    },
    callBytes,
    stream(method, request) {
      const bytes = Buffer.from(toBinary(method.input, create(method.input, request)));
      const raw = client.makeServerStreamRequest(pathOf(method), pass, pass, bytes, metadata());
      return read(raw, (message) => fromBinary(method.output, message));
    },
    close: () => client.close(),
  };
}

function read<M>(raw: ClientReadableStream<Buffer>, decode: (bytes: Buffer) => M): FleetStream<M> {
  let failure: unknown;
  raw.on("error", (error) => {
    failure = error;
  });
  const ended = new Promise<number>((resolve) => raw.on("status", (status) => resolve(status.code)));
  return {
    raw,
    ended,
    cancel: () => raw.cancel(),
    async next() {
      for (;;) {
        const bytes: Buffer | null = raw.read();
        if (bytes !== null) return decode(bytes);
        if (failure !== undefined) throw failure;
        if (raw.readableEnded) throw new Error("the stream has ended");
        await new Promise<void>((resolve) => {
          const wake = () => {
            for (const event of ["readable", "end", "error"]) raw.off(event, wake);
            resolve();
          };
          for (const event of ["readable", "end", "error"]) raw.on(event, wake);
        });
      }
    },
  };
}
