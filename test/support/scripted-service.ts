import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { ServerHttp2Stream } from "node:http2";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startBareHttp2 } from "./bare-http2.ts";

/** The bytes of a message on one of the service's streams. */
export type StreamMessage = Uint8Array;

/**
 * What a scripted service answers. Functions are asked anew each time, so that a test may change its mind.
 */
export interface Script {
  /** Each server stream by its method: its first messages, which come at once. It stays open. */
  readonly streams: Readonly<Record<string, () => readonly StreamMessage[]>>;
  /** Each unary gRPC method: its answer's bytes. Methods that are not named are UNIMPLEMENTED. */
  readonly unary?: Readonly<Record<string, () => Uint8Array>>;
  /** An HTTPS path without its query: the JSON text that is answered. Others are answered 501. */
  readonly http?: Readonly<Record<string, (query: string) => string>>;
  /** What is answered to every other HTTPS path; 501 unless told. */
  readonly anyHttp?: (path: string) => { readonly status: number; readonly text: string };
  /** What the exchange answers: a token, or anything else; a good token unless told. */
  readonly token?: () => string | TokenAnswer;
}

/** An answer of the authentication server. */
export interface TokenAnswer {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A fleet service of a test's own: it says whatever the test wants, right or wrong, byte for byte. */
export interface ScriptedService {
  readonly grpc: string;
  readonly https: string;
  /** Path of the certificate to trust. */
  readonly ca: string;
  /** Path of an API key document. */
  readonly credentials: string;
  readonly otherCredentials: undefined;
  readonly locations: readonly string[];
  /** Sends a message on every open stream of this method. */
  push(method: string, message: StreamMessage): void;
  /** Ends every open stream of this method with any status, which may be none that gRPC knows. */
  end(method: string, grpcStatus: string, grpcMessage: string): void;
  /** How many streams of this method are open. */
  open(method: string): number;
  close(): Promise<void>;
}

const UNIMPLEMENTED = "12";
const LIFE_SECONDS = 3_600;
let tokens = 0;

/** A JWT that is valid for an hour. Nobody looks at its signature here. */
export function goodToken(): string {
  tokens += 1;
  const part = (json: unknown) => Buffer.from(JSON.stringify(json)).toString("base64url");
  const exp = Math.floor(Date.now() / 1_000) + LIFE_SECONDS;
  return `${part({ alg: "none" })}.${part({ exp, jti: String(tokens) })}.signature`;
}

/** Starts the service on free ports of the loopback interface. */
export async function startScriptedService(script: Script): Promise<ScriptedService> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-scripted-"));
  const authority = await createCa(Date.now());
  const { certificate, key } = await createServerCertificate(
    authority,
    ["localhost", "127.0.0.1"],
    Date.now(),
  );
  const [ca, credentials] = [join(folder, "ca.pem"), join(folder, "key.json")];
  await writeFile(ca, authority.certificate);
  await writeFile(credentials, JSON.stringify({ api_key: "key", scope: "acme", secret: "secret" }));

  const open = new Map<string, Set<ServerHttp2Stream>>();
  const openOf = (method: string) => {
    const streams = open.get(method) ?? new Set();
    open.set(method, streams);
    return streams;
  };
  const grpc = await startBareHttp2({ cert: certificate, key }, (stream, headers) => {
    // A client may have given up before the stream was told here.
    if (stream.destroyed) return;
    stream.resume();
    const method = String(headers[":path"]).split("/").at(-1) ?? "";
    answerGrpc(stream, script, method);
    if (script.streams[method] === undefined) return;
    openOf(method).add(stream);
    stream.once("close", () => openOf(method).delete(stream));
  });
  const https = await startHttps({ cert: certificate, key }, script);
  return {
    grpc: grpc.address,
    https: https.url,
    ca,
    credentials,
    otherCredentials: undefined,
    locations: ["site"],
    push(method, message) {
      for (const stream of openOf(method)) stream.write(frameOf(message));
    },
    end(method, grpcStatus, grpcMessage) {
      for (const stream of openOf(method)) {
        stream.once("wantTrailers", () =>
          stream.sendTrailers({ "grpc-status": grpcStatus, "grpc-message": grpcMessage }),
        );
        stream.end();
      }
    },
    open: (method) => openOf(method).size,
    async close() {
      await grpc.close();
      await https.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function answerGrpc(stream: ServerHttp2Stream, script: Script, method: string): void {
  const answer = { ":status": 200, "content-type": "application/grpc+proto" };
  const first = script.streams[method]?.();
  const unary = script.unary?.[method]?.();
  if (first !== undefined) {
    stream.respond(answer, { waitForTrailers: true });
    for (const message of first) stream.write(frameOf(message));
  } else if (unary !== undefined) {
    stream.respond(answer, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(frameOf(unary));
  } else stream.respond({ ...answer, "grpc-status": UNIMPLEMENTED }, { endStream: true });
}

/** A message as gRPC puts it on the wire: not compressed, its length, its bytes. */
function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(5 + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, 5);
  return frame;
}

/** To encrypt some megabytes at once would be a long turn of a test's own. */
const PIECE = 64 * 1024;

function* pieces(text: string): Iterable<string> {
  for (let from = 0; from < text.length; from += PIECE) yield text.slice(from, from + PIECE);
}

async function startHttps(credentials: { cert: string; key: string }, { http, anyHttp, token }: Script) {
  const server = createServer(credentials, (request, response) => {
    request.resume();
    request.once("end", () => {
      const [path = "", query = ""] = String(request.url).split("?");
      if (path === "/authorizeApiAccess") {
        const given = (token ?? goodToken)();
        const answer = typeof given === "string" ? { status: 200, text: given } : given;
        return void response.writeHead(answer.status, answer.headers).end(answer.text);
      }
      const known = http?.[path]?.(query);
      const { status, text } =
        known === undefined ? (anyHttp?.(path) ?? { status: 501, text: "" }) : { status: 200, text: known };
      response.statusCode = status;
      Readable.from(pieces(text)).pipe(response);
    });
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
