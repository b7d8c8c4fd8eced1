import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterEach, expect, it, vi } from "vitest";
import { createBroker } from "../../src/northbound/mqtt/broker/broker.ts";
import { createTopics } from "../../src/northbound/mqtt/topics.ts";
import { createOpcUaServer } from "../../src/northbound/opcua/server.ts";
import { createWebServer } from "../../src/northbound/web/server.ts";
import { createStartRetry, type StartRetry } from "../../src/platform/backoff.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Component } from "../../src/platform/component.ts";
import { createLive, type Live } from "../../src/platform/live.ts";
import { createLog, silentLog } from "../../src/platform/log.ts";
import type { ListenerPair } from "../../src/platform/tls-files.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { freePorts } from "../support/free-ports.ts";
import { weakCertificate } from "../support/weak-certificate.ts";
import { base, embedded, noAudit, start } from "./mqtt/mqtt-harness.ts";
import { opcUaOptions, opcUaParts } from "./opcua/opcua-harness.ts";
import { openListener, webParts } from "./web/web-harness.ts";

const host = "127.0.0.1";
const SOON = { timeout: 20_000 };
const closers: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Tls = Live<ListenerPair | null>;
type Make = (port: number, retry: StartRetry, tls: Tls) => Component;

const mqtt: Make = (port, retry, tls) =>
  createBroker({
    options: { ...embedded, port, tls },
    topics: createTopics(base),
    clientId: "gateway",
    retry,
    clock: systemClock,
    log: silentLog,
    audit: noAudit,
  });
const web: Make = (port, retry, tls) =>
  createWebServer(
    { listen: { host, port }, hostnames: [], ...openListener, tls },
    { ...webParts(systemClock).parts, retry },
  );
const opcua: Make = (port, retry) => createOpcUaServer(opcUaOptions({ host, port }), opcUaParts({ retry }));

let attempts = 0;

/** Starts a listener that waits. @param logged called with each line of its wait */
async function startWaiting(
  make: Make,
  port: number,
  tls: Tls = createLive(null),
  logged: (msg: string, level: number) => void = () => {},
): Promise<Component> {
  attempts = 0;
  const write = (line: string) => {
    const { msg, level } = JSON.parse(line) as { msg: string; level: number };
    logged(msg, level);
  };
  const backoff = { baseMs: 20, capMs: 50 };
  const log = createLog("info", { write });
  const random = () => {
    attempts += 1;
    return Math.random();
  };
  const retry = createStartRetry({ backoff, clock: systemClock, random, log });
  const component = retry.shown(make(port, retry, tls));
  closers.push(await start(component));
  expect(component.health().state).toBe("down");
  return component;
}

const isUp = (component: Component) =>
  vi.waitFor(() => expect(component.health()).toMatchObject({ state: "up" }), SOON);

/** Asks for a port in this turn of the event loop. */
function ask(port: number): Server {
  const server = createServer()
    .on("error", () => {})
    .listen(port, host);
  closers.push(() => server.close());
  return server;
}

it.each([
  ["mqtt", mqtt],
  ["web", web],
  ["opcua", opcua],
])("%s waits for its port, whoever takes it before it listens", async (name, make) => {
  const port = await freePorts(1);
  const other = ask(port);
  await once(other, "listening");
  const warnings: string[] = [];
  const listener = await startWaiting(make, port, createLive(null), (msg, level) => {
    if (level === 40) warnings.push(msg);
    // The wait is over. At this moment another program asks for the port.
    else ask(port);
  });
  expect(listener.health().detail).toMatch(
    `${name} cannot listen on ${host}, port ${port}: another program has it`,
  );
  // Node.js warns if handlers of failed attempts add up to more than ten.
  const warn = vi.fn();
  process.on("warning", warn);
  closers.push(() => process.off("warning", warn));
  await vi.waitFor(() => expect(attempts).toBeGreaterThan(12), SOON);
  other.close();
  await isUp(listener);
  expect(warnings).toHaveLength(1);
  expect(warn).not.toHaveBeenCalled();
});

const authority = await createCa(Date.now());

async function goodPair() {
  const { certificate: cert, key } = await createServerCertificate(authority, [host], Date.now());
  return { cert, key };
}

const printOf = ({ cert }: ListenerPair) => new X509Certificate(cert).fingerprint256;

/** The fingerprint of the certificate that a listener shows. */
async function shownBy(port: number): Promise<string> {
  const socket = connect({ host, port, ca: authority.certificate });
  await once(socket, "secureConnect");
  const shown = socket.getPeerCertificate().fingerprint256;
  socket.destroy();
  return shown;
}

const secured = [
  ["mqtt", mqtt],
  ["web", web],
] as const;

it.each(secured)(
  "%s waits for a certificate that TLS takes, and reads its files again",
  async (name, make) => {
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-listener-"));
    closers.push(() => rm(folder, { recursive: true }));
    const paths = { cert: join(folder, "own.pem"), key: join(folder, "own.key") };
    const write = async ({ cert, key }: ListenerPair) => {
      await writeFile(paths.cert, cert);
      await writeFile(paths.key, key);
    };
    const weak = await weakCertificate();
    await write(weak);
    const port = await freePorts(1);
    const listener = await startWaiting(make, port, createLive<ListenerPair | null>({ ...weak, paths }));
    expect(listener.health().detail).toBe(
      `${name} cannot listen on ${host}, port ${port}: ${paths.cert} has a key that is too short for TLS: it needs RSA with 2048 bits or more, or an elliptic curve, signed with SHA-256; replace certificate and key; the gateway tries again by itself`,
    );
    const good = await goodPair();
    await write(good);
    await isUp(listener);
    expect(await shownBy(port)).toBe(printOf(good));
  },
);

it.each(secured)("%s takes the certificate that a reload brings while it waits", async (_name, make) => {
  const tls = createLive<ListenerPair | null>(await weakCertificate());
  const port = await freePorts(1);
  const listener = await startWaiting(make, port, tls);
  const good = await goodPair();
  tls.replace(good);
  await isUp(listener);
  expect(await shownBy(port)).toBe(printOf(good));
  const next = await goodPair();
  tls.replace(next);
  expect(await shownBy(port)).toBe(printOf(next));
});
