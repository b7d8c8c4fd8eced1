import { readFile } from "node:fs/promises";
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { dirname, join } from "node:path";
import type { Clock } from "../../src/platform/clock.ts";
import type { Endpoints } from "../../src/simulator/simulator.ts";
import { createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startBareHttp2 } from "./bare-http2.ts";

/** An HTTP/2 proxy before the service, which resets each stream that was quiet for too long. */
export interface QuietProxy {
  readonly address: string;
  /** Streams that were reset since the start because they were quiet. */
  ended(): number;
  /**
   * Answers subscriptions that are asked for from now on with 503; those that stand end when they are quiet.
   */
  shut(): void;
  close(): Promise<void>;
}

export async function startQuietProxy(
  { grpc, ca }: Pick<Endpoints, "grpc" | "ca">,
  quietMs: number,
  clock: Clock,
): Promise<QuietProxy> {
  const authority = {
    certificate: await readFile(ca, "utf8"),
    key: await readFile(join(dirname(ca), "ca.key"), "utf8"),
  };
  const { certificate, key } = await createServerCertificate(authority, ["localhost"], Date.now());
  const service = connect(`https://${grpc}`, { ca: authority.certificate });
  let ended = 0;
  let isShut = false;
  const server = await startBareHttp2({ cert: certificate, key }, (stream, headers) => {
    const isSubscription = headers[":path"]?.includes("/Subscribe") ?? false;
    if (isShut && isSubscription) return stream.respond({ ":status": 503 }, { endStream: true });
    forward(service, stream, headers, (end) =>
      clock.after(quietMs, () => {
        ended += 1;
        end();
      }),
    );
  });
  return {
    address: server.address,
    ended: () => ended,
    shut() {
      isShut = true;
    },
    async close() {
      service.destroy();
      await server.close();
    },
  };
}

/** @param watch begins to wait for the next message, and ends the stream if none comes in time */
function forward(
  service: ClientHttp2Session,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  watch: (end: () => void) => () => void,
): void {
  const call = service.request(headers);
  let trailers: IncomingHttpHeaders = {};
  let unwatch = () => {};
  const received = () => {
    unwatch();
    unwatch = watch(() => {
      stream.close(constants.NGHTTP2_CANCEL);
      call.close(constants.NGHTTP2_CANCEL);
    });
  };
  received();
  call.on("error", () => {});
  call.on("response", ({ ":status": status, ...others }, flags) => {
    const endStream = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
    stream.respond({ ":status": status, ...others }, { endStream, waitForTrailers: !endStream });
  });
  call.on("trailers", (came) => {
    trailers = came;
  });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  call.on("data", (bytes: Buffer) => {
    received();
    stream.write(bytes);
  });
  call.on("end", () => stream.end());
  stream.on("data", (bytes: Buffer) => call.write(bytes));
  stream.on("end", () => call.end());
  stream.on("close", () => {
    unwatch();
    call.close(constants.NGHTTP2_CANCEL);
  });
}
