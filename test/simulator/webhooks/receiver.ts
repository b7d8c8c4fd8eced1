import type { IncomingHttpHeaders } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";

/** One request that a receiver of webhooks got. */
export interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * What a receiver answers to a request: a status, or nothing at all (the connection is cut, or left open).
 */
export type Answer = number | "cut" | "silence" | { readonly redirect: string };

/** An HTTPS server on loopback, with a certificate of its own authority. */
export interface Receiver {
  readonly url: string;
  readonly ca: string;
  /** What to answer from now on. */
  answer(next: () => Answer): void;
  /** The next request, in order, also one that came before it was asked for. */
  next(): Promise<Received>;
  readonly count: () => number;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const authority = await createCa(Date.now());
  const { certificate, key } = await createServerCertificate(
    authority,
    ["localhost", "127.0.0.1"],
    Date.now(),
  );
  let answer: () => Answer = () => 204;
  let count = 0;
  const arrived: Received[] = [];
  const waiting: Array<(received: Received) => void> = [];
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      count += 1;
      const received = { headers: request.headers, body: Buffer.concat(chunks).toString("utf8") };
      const waiter = waiting.shift();
      if (waiter === undefined) arrived.push(received);
      else waiter(received);
      const given = answer();
      if (given === "silence") return;
      if (given === "cut") request.socket.destroy();
      else if (typeof given === "number") response.writeHead(given).end();
      else response.writeHead(302, { location: given.redirect }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://localhost:${port}/hook`,
    ca: authority.certificate,
    answer(next) {
      answer = next;
    },
    next() {
      const received = arrived.shift();
      if (received !== undefined) return Promise.resolve(received);
      return new Promise((resolve) => waiting.push(resolve));
    },
    count: () => count,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
