import {
  type DescMessage,
  type DescMethodBiDiStreaming,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  connectivityState,
  Metadata,
  type ServiceError,
  status,
} from "@grpc/grpc-js";
import type { Clock } from "../../platform/clock.ts";
import { messageOf } from "../../platform/error-text.ts";
import { closeQuietly } from "../../platform/grpc-channel.ts";
import { Maintenance, StatusRequestSchema } from "../../wire/etcd/rpc_pb.js";
import type { Fault } from "./outcome.ts";
import { callFault, connectFault, isRefusal } from "./outcome.ts";

/** How a call ended that has begun. */
export type CallEnd<Answer> =
  | { readonly kind: "answered"; readonly answer: Answer }
  /** Nothing was done: etcd says so, or nothing was sent. */
  | { readonly kind: "refused"; readonly fault: Fault }
  /** Nobody knows whether it was done. */
  | { readonly kind: "lost"; readonly fault: Fault };

export type Stream<Request extends DescMessage, Answer extends DescMessage> = ClientDuplexStream<
  MessageShape<Request>,
  MessageShape<Answer>
>;

/** One member of etcd, with a channel of its own. */
export interface EtcdMember {
  readonly endpoint: string;
  /** Waits for a connection. Resolves with null when it stands, and with the fault if there is none. */
  connect(limitMs: number): Promise<Fault | null>;
  /** Calls once. Never rejects. The member refuses if it knows no leader, unless `alone`. */
  call<Request extends DescMessage, Answer extends DescMessage>(
    method: DescMethodUnary<Request, Answer>,
    request: MessageShape<Request>,
    limitMs: number,
    alone?: "alone",
  ): Promise<CallEnd<MessageShape<Answer>>>;
  /** Sends one message on a stream, and ends it with the first answer. */
  callOnce<Request extends DescMessage, Answer extends DescMessage>(
    method: DescMethodBiDiStreaming<Request, Answer>,
    request: MessageShape<Request>,
    limitMs: number,
  ): Promise<CallEnd<MessageShape<Answer>>>;
  /** Opens a stream, which the member ends when it knows no leader. */
  open<Request extends DescMessage, Answer extends DescMessage>(
    method: DescMethodBiDiStreaming<Request, Answer>,
  ): Stream<Request, Answer>;
  close(): void;
}

const NEVER_MS = 2_147_483_647;
/** More frequent pings than one in 5 s, or pings without a call, let etcd close the connection. */
const KEEPALIVE_MS = 10_000;

const channelOptions = {
  "grpc.use_local_subchannel_pool": 1,
  "grpc.service_config_disable_resolution": 1,
  // grpc-js must never send a call again by itself.
  "grpc.enable_retries": 0,
  "grpc.enable_channelz": 0,
  "grpc.enable_http_proxy": 0,
  "grpc.client_idle_timeout_ms": NEVER_MS,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 1_000,
  "grpc.keepalive_time_ms": KEEPALIVE_MS,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.max_receive_message_length": 64 * 1024 * 1024,
  // Bytes that etcd may send ahead. With the usual 64 KiB a long page waits for this process again and again.
  "grpc-node.flow_control_window": 4 * 1024 * 1024,
};

export function createMember(endpoint: string, credentials: ChannelCredentials, clock: Clock): EtcdMember {
  const client = new Client(`dns:${endpoint}`, credentials, channelOptions);
  const channel = client.getChannel();

  function call<Request extends DescMessage, Answer extends DescMessage>(
    method: DescMethodUnary<Request, Answer>,
    request: MessageShape<Request>,
    limitMs: number,
    alone?: "alone",
  ): Promise<CallEnd<MessageShape<Answer>>> {
    return new Promise((resolve) => {
      const { path, serialize, deserialize } = codec(method);
      const metadata = alone === undefined ? requireLeader() : new Metadata();
      const deadline = new Date(Date.now() + limitMs);
      begin(resolve, () =>
        client.makeUnaryRequest(
          path,
          serialize,
          deserialize,
          request,
          metadata,
          { deadline },
          (error, answer) => {
            if (error === null && answer !== undefined) resolve({ kind: "answered", answer });
            else resolve(unhappy(endpoint, error));
          },
        ),
      );
    });
  }

  /** A channel that was closed a moment ago takes no call, so nothing was sent. */
  function begin(resolve: (end: CallEnd<never>) => void, make: () => unknown): void {
    try {
      make();
    } catch (error) {
      resolve({ kind: "refused", fault: connectFault(endpoint, messageOf(error)) });
    }
  }

  /** grpc-js tells the reason only to a call, which it ends at once if there is no connection. */
  async function reason(): Promise<Fault> {
    const { path, serialize, deserialize } = codec(Maintenance.method.status);
    const deadline = new Date(Date.now() + 1_000);
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, serialize, deserialize, statusRequest, { deadline }, (error) =>
        resolve(connectFault(endpoint, error?.details ?? "it came too late")),
      );
    });
  }

  return {
    endpoint,
    connect(limitMs) {
      return new Promise((resolve) => {
        let over = false;
        const cancel = clock.after(limitMs, () => {
          over = true;
          resolve(connectFault(endpoint, `none within ${Math.round(limitMs)} ms`));
        });
        const look = () => {
          if (over) return;
          const state = channel.getConnectivityState(true);
          const isFailed =
            state === connectivityState.TRANSIENT_FAILURE || state === connectivityState.SHUTDOWN;
          if (state !== connectivityState.READY && !isFailed) {
            channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, look);
            return;
          }
          over = true;
          cancel();
          if (state === connectivityState.READY) resolve(null);
          else if (state === connectivityState.SHUTDOWN)
            resolve(connectFault(endpoint, "the client is closed"));
          else void reason().then(resolve);
        };
        look();
      });
    },
    call,
    callOnce(method, request, limitMs) {
      return new Promise((resolve) => {
        const { path, serialize, deserialize } = codec(method);
        const deadline = new Date(Date.now() + limitMs);
        begin(resolve, () => {
          const stream = client.makeBidiStreamRequest(path, serialize, deserialize, requireLeader(), {
            deadline,
          });
          stream.on("data", (answer) => {
            resolve({ kind: "answered", answer });
            stream.cancel();
          });
          stream.on("error", (error: ServiceError) => resolve(unhappy(endpoint, error)));
          stream.on("end", () => resolve(unhappy(endpoint, null)));
          stream.write(request);
          stream.end();
        });
      });
    },
    open(method) {
      const { path, serialize, deserialize } = codec(method);
      return client.makeBidiStreamRequest(path, serialize, deserialize, requireLeader());
    },
    close: () => closeQuietly(client),
  };
}

const statusRequest: MessageShape<typeof StatusRequestSchema> = { $typeName: StatusRequestSchema.typeName };

function requireLeader(): Metadata {
  const metadata = new Metadata();
  metadata.set("hasleader", "true");
  return metadata;
}

function codec<Request extends DescMessage, Answer extends DescMessage>(
  method: DescMethodUnary<Request, Answer> | DescMethodBiDiStreaming<Request, Answer>,
) {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    serialize: (message: MessageShape<Request>) => Buffer.from(toBinary(method.input, message)),
    deserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  };
}

function unhappy(endpoint: string, error: ServiceError | null): CallEnd<never> {
  if (error === null) {
    return {
      kind: "lost",
      fault: callFault(endpoint, { code: status.UNKNOWN, details: "the call ended without an answer" }),
    };
  }
  return { kind: isRefusal(error) ? "refused" : "lost", fault: callFault(endpoint, error) };
}
