import {
  create,
  type DescMessage,
  fromBinary,
  type Message,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
  type status,
} from "@grpc/grpc-js";
import {
  KV,
  Watch,
  type WatchRequest,
  WatchRequestSchema,
  type WatchResponse,
  WatchResponseSchema,
} from "../../../src/wire/etcd/rpc_pb.js";

type Answer = MessageInitShape<typeof WatchResponseSchema>;

/** A server with the behaviour of an etcd that a test cannot get a real one to show. */
export interface ScriptedEtcd {
  readonly endpoint: string;
  /** How each transaction ends from now on. */
  refuse(code: status, details: string): void;
  /** Transactions that came in. */
  transactions(): number;
  /** From which revision each watch was to begin. */
  readonly watches: readonly bigint[];
  close(): void;
}

/** @param watches what the first, second, … watch is sent; then the stream ends */
export async function startScriptedEtcd(
  watches: ReadonlyArray<readonly Answer[]> = [],
): Promise<ScriptedEtcd> {
  const begun: bigint[] = [];
  let transactions = 0;
  let refusal: { code: status; details: string } | null = null;
  const server = new Server();
  const { watch } = Watch.method;
  server.addService(
    {
      Watch: definition(Watch.typeName, watch, WatchRequestSchema, WatchResponseSchema),
    },
    {
      Watch(call: ServerDuplexStream<WatchRequest, WatchResponse>) {
        call.once("data", ({ requestUnion }: WatchRequest) => {
          if (requestUnion.case !== "createRequest") return;
          begun.push(requestUnion.value.startRevision);
          for (const answer of watches[begun.length - 1] ?? [])
            call.write(create(WatchResponseSchema, answer));
          call.end();
        });
      },
    },
  );
  const { txn } = KV.method;
  server.addService(
    { Txn: definition(KV.typeName, txn, txn.input, txn.output) },
    {
      Txn(_call: ServerUnaryCall<Message, Message>, callback: sendUnaryData<Message>) {
        transactions += 1;
        if (refusal === null) callback(null, create(txn.output, {}));
        else callback(refusal);
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return {
    endpoint: `127.0.0.1:${port}`,
    refuse(code, details) {
      refusal = { code, details };
    },
    transactions: () => transactions,
    watches: begun,
    close: () => server.forceShutdown(),
  };
}

function definition(
  service: string,
  { name, methodKind }: { readonly name: string; readonly methodKind: string },
  input: DescMessage,
  output: DescMessage,
) {
  const isStream = methodKind === "bidi_streaming";
  const codec = (schema: DescMessage) => ({
    serialize: (message: Message) => Buffer.from(toBinary(schema, message)),
    deserialize: (bytes: Buffer) => fromBinary(schema, bytes),
  });
  return {
    path: `/${service}/${name}`,
    requestStream: isStream,
    responseStream: isStream,
    requestSerialize: codec(input).serialize,
    requestDeserialize: codec(input).deserialize,
    responseSerialize: codec(output).serialize,
    responseDeserialize: codec(output).deserialize,
  };
}
