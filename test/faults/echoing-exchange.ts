import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { createServerCertificate } from "../../src/simulator/tls/identity.ts";

/** A token exchange that fails in every way, and repeats what it was asked, the secret included. */
export interface EchoingExchange {
  readonly url: string;
  /** Resolves when each of its answers was given. */
  askedForEach(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts one that the gateway trusts.
 * @param caFile the authority, beside which its key is
 */
export async function startEchoingExchange(caFile: string): Promise<EchoingExchange> {
  const [certificate, key] = await Promise.all([
    readFile(caFile, "utf8"),
    readFile(join(dirname(caFile), "ca.key"), "utf8"),
  ]);
  const own = await createServerCertificate({ certificate, key }, ["localhost"], Date.now());
  const answers = [
    (asked: string) => ({ status: 200, body: asked }),
    (asked: string) => ({
      status: 200,
      body: `{"token":"eyJhbGciOiJIUzI1NiJ9.eyJ4IjoxfQ.x","error":${asked}}`,
    }),
    (asked: string) => ({ status: 503, body: JSON.stringify({ error: { message: `bad key ${asked}` } }) }),
    (asked: string) => ({ status: 401, body: JSON.stringify({ message: `unknown ${asked}` }) }),
  ];
  let count = 0;
  let done = () => {};
  const all = new Promise<void>((resolve) => {
    done = resolve;
  });
  const server = createServer({ cert: own.certificate, key: own.key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    const { status = 500, body = "" } = answer?.(Buffer.concat(chunks).toString("utf8")) ?? {};
    response.writeHead(status, { "content-type": "application/json" }).end(body);
    if (count === answers.length) done();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    askedForEach: () => all,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
