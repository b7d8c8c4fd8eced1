import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type BareHttp2, startBareHttp2 } from "../support/bare-http2.ts";

const UNIMPLEMENTED = "12";

/**
 * A gRPC service that has one stream and nothing else: answers `path` with one message and leaves it open;
 * everything else is UNIMPLEMENTED.
 * @param caFile the simulator's authority, beside which its server certificate is
 */
export async function startOneStreamService(
  caFile: string,
  path: string,
  message: Uint8Array,
): Promise<BareHttp2> {
  const folder = dirname(caFile);
  const credentials = {
    cert: await readFile(join(folder, "server.pem")),
    key: await readFile(join(folder, "server.key")),
  };
  return startBareHttp2(credentials, (stream, headers) => {
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
}
