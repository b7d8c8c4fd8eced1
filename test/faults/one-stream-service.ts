import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createSecureServer, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";

/** A gRPC service that has one stream and nothing else. */
export interface OneStreamService {
  readonly address: string;
  close(): Promise<void>;
}

const UNIMPLEMENTED = "12";

/**
 * Answers `path` with one message and leaves it open; everything else is UNIMPLEMENTED.
 * @param caFile the simulator's authority, beside which its server certificate is
 */
export async function startOneStreamService(
  caFile: string,
  path: string,
  message: Uint8Array,
): Promise<OneStreamService> {
  const folder = dirname(caFile);
  const sessions = new Set<ServerHttp2Session>();
  const server = createSecureServer({
    cert: await readFile(join(folder, "server.pem")),
    key: await readFile(join(folder, "server.key")),
  });
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.resume();
    const answer = { ":status": 200, "content-type": "application/grpc+proto" };
    if (headers[":path"] !== path) {
      stream.respond({ ...answer, "grpc-status": UNIMPLEMENTED }, { endStream: true });
      return;
    }
    stream.respond(answer);
    const frame = Buffer.alloc(5 + message.length);
    frame.writeUInt32BE(message.length, 1);
    frame.set(message, 5);
    stream.write(frame);
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
