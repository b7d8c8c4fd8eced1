import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { Aedes } from "aedes";
import { afterEach, beforeAll, expect, test } from "vitest";
import { createLive } from "../../../src/platform/live.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newBroker, newLink } from "./link-harness.ts";
import { embedded, external, listen, mqttOptions, start } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => Promise<unknown> | unknown> = [];
let pems: { readonly ca: string; readonly cert: string; readonly key: string };

beforeAll(async () => {
  const authority = await createCa(Date.now());
  const server = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
  pems = { ca: authority.certificate, cert: server.certificate, key: server.key };
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test("the embedded broker speaks TLS to clients that trust its authority", async () => {
  const options = { ...embedded, tls: createLive({ cert: pems.cert, key: pems.key }) };
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

  const trusting = newLink({
    options: mqttOptions({
      broker: { ...external(url), tls: createLive({ ca: pems.ca, clientCert: null }) },
    }),
  });
  const connection = await trusting.connect(never);
  await connection[Symbol.asyncDispose]();
  await expect(newLink({ options: mqttOptions({ broker: external(url) }) }).connect(never)).rejects.toThrow(
    /certificate/,
  );
});

test("a new certificate of the gateway's is used by the next connection, and the one that is open stays", async () => {
  const authority = await createCa(Date.now());
  const [server, before, after, other] = await Promise.all(
    ["127.0.0.1", "before", "after", "other"].map((name) =>
      createServerCertificate(authority, [name], Date.now()),
    ),
  );
  if (!server || !before || !after || !other) throw new Error("no certificates");
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-tls-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  const paths = { ca: join(folder, "ca.pem"), cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const write = async ({ certificate, key }: typeof before) => {
    await writeFile(paths.cert, certificate);
    await writeFile(paths.key, key);
  };
  await writeFile(paths.ca, authority.certificate);
  await write(before);

  const seen: string[] = [];
  const aedes = await Aedes.createBroker();
  const options = {
    cert: server.certificate,
    key: server.key,
    ca: authority.certificate,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const listener = createServer(options, (socket) => {
    seen.push(socket.getPeerX509Certificate()?.subjectAltName ?? "none");
    aedes.handle(socket);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  cleanups.push(() => void listener.close());
  cleanups.push(() => new Promise<void>((resolve) => aedes.close(() => resolve())));
  const address = listener.address();
  const url = `mqtts://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;

  const clock = createManualClock(Date.now());
  let changes = 0;
  const log: Log = {
    ...silentLog,
    info(_, text) {
      if (text.includes("files have changed")) changes += 1;
    },
  };
  const textsOf = ({ certificate: cert, key }: typeof before) => ({
    ca: authority.certificate,
    clientCert: { cert, key },
  });
  const files = createLive({ tls: textsOf(before), tlsPaths: paths });
  const [tls, tlsPaths] = [files.pick((now) => now.tls), files.pick((now) => now.tlsPaths)];
  const broker = { ...external(url), tls, tlsPaths };
  const link = newLink({ options: mqttOptions({ broker }), clock, log });
  const connection = await link.connect(never);
  await write(after);
  await expect
    .poll(() => {
      clock.advance(10_000);
      return changes;
    })
    .toBe(1);
  expect(link.health().state).toBe("up");
  expect(seen).toEqual(["DNS:before"]);
  await connection[Symbol.asyncDispose]();
  const next = await link.connect(never);
  expect(seen).toEqual(["DNS:before", "DNS:after"]);

  // A reload names other files: no look at the disk is waited for.
  const others = { ...paths, cert: join(folder, "other.pem"), key: join(folder, "other-key.pem") };
  await writeFile(others.cert, other.certificate);
  await writeFile(others.key, other.key);
  files.replace({ tls: textsOf(other), tlsPaths: others });
  expect(link.health().state).toBe("up");
  await next[Symbol.asyncDispose]();
  const third = await link.connect(never);
  cleanups.push(() => third[Symbol.asyncDispose]());
  expect(seen).toEqual(["DNS:before", "DNS:after", "DNS:other"]);
});

test("the embedded broker shows a new certificate to new clients, and open connections go on", async () => {
  const tls = createLive({ cert: pems.cert, key: pems.key });
  const broker = newBroker({ ...embedded, tls });
  cleanups.push(await start(broker));
  const url = `mqtts://127.0.0.1:${broker.port()}`;
  const before = await listen(url, { ca: pems.ca });
  cleanups.push(() => before.client.endAsync(true));
  const authority = await createCa(Date.now());
  const next = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
  tls.replace({ cert: next.certificate, key: next.key });
  await expect(listen(url, { ca: pems.ca })).rejects.toThrow(/certificate/);
  const after = await listen(url, { ca: authority.certificate });
  cleanups.push(() => after.client.endAsync(true));
  expect(before.client.connected).toBe(true);
});
