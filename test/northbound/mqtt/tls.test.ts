import { once } from "node:events";
import { createServer } from "node:tls";
import { Aedes } from "aedes";
import { afterEach, beforeAll, expect, test } from "vitest";
import { createAuthority, createServerCertificate } from "../../../src/simulator/tls/certificate.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { embedded, external, listen, mqttOptions, start } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let pems: { readonly ca: string; readonly cert: string; readonly key: string };

beforeAll(async () => {
  const authority = await createAuthority(Date.now());
  const server = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
  pems = { ca: authority.certificate, cert: server.certificate, key: server.key };
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("the embedded broker speaks TLS to clients that trust its authority", async () => {
  const options = { ...embedded, tls: { cert: pems.cert, key: pems.key } };
  const broker = newBroker(options);
  cleanups.push(await start(broker));
  const connection = await newLink({
    options: mqttOptions({ broker: options }),
    openBroker: broker.open,
  }).connect(never);
  cleanups.push(() => connection[Symbol.asyncDispose]());
  const watcher = await listen(`mqtts://127.0.0.1:${broker.port()}`, { ca: pems.ca });
  cleanups.push(() => watcher.client.endAsync(true));
  expect((await watcher.on("status")).text).toContain('"online"');
  await expect(listen(`mqtt://127.0.0.1:${broker.port()}`)).rejects.toThrow();
});

test("an external broker must show a certificate of the given authority", async () => {
  const aedes = await Aedes.createBroker();
  const server = createServer({ cert: pems.cert, key: pems.key }, (socket) => aedes.handle(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  cleanups.push(() => new Promise<void>((resolve) => aedes.close(() => resolve())));
  const address = server.address();
  const url = `mqtts://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;

  const trusting = newLink({ options: mqttOptions({ broker: { ...external(url), ca: pems.ca } }) });
  const connection = await trusting.connect(never);
  await connection[Symbol.asyncDispose]();
  await expect(newLink({ options: mqttOptions({ broker: external(url) }) }).connect(never)).rejects.toThrow(
    /certificate/,
  );
});
