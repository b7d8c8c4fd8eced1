import { once } from "node:events";
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";

/** An HTTP/2 server over TLS that is no gRPC service: what stands in its way, or is only a part of one. */
export interface BareHttp2 {
  readonly address: string;
  /** Cuts every connection. */
  close(): Promise<void>;
}

export async function startBareHttp2(
  credentials: { readonly cert: string | Buffer; readonly key: string | Buffer },
  answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
): Promise<BareHttp2> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createSecureServer(credentials);
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    // Clients that end the handshake, or the connection, are what the tests are about.
    session.on("error", () => {});
  });
  server.on("tlsClientError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `localhost:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const session of sessions) session.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
