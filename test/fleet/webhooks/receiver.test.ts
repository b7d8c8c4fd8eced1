import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, test } from "vitest";
import { createReceiver, type Receiver, SECRET_HEADER } from "../../../src/fleet/webhooks/receiver.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { https } from "../../support/https.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { createPatientClock } from "../../support/patient-clock.ts";

const MOST = 200;
const clock = createManualClock();
const closers: Array<() => Promise<void> | void> = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open() {
  const authority = await createCa(Date.now());
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  const lines: string[] = [];
  const delivered: string[] = [];
  const receiver = createReceiver(
    { listen: { host: "127.0.0.1", port: 0 }, tls: { cert: own.certificate, key: own.key } },
    clock,
    createLog("info", { write: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg) }),
    (eventId) => void delivered.push(eventId),
  );
  await receiver.open("secret");
  closers.push(() => receiver.close());
  const deliver = () =>
    https({
      url: `https://localhost:${receiver.port()}/hook`,
      ca: Buffer.from(authority.certificate),
      method: "POST",
      headers: { [SECRET_HEADER]: "secret", "x-service-webhook-event-id": "e1" },
      body: "{}",
    });
  return { receiver, lines, delivered, deliver, ca: authority.certificate };
}

/** How much time passes from now on, without what keeps this process from running. */
function startWatch(): () => number {
  const watch = createPatientClock();
  closers.push(() => watch.close());
  return watch.monotonicMs;
}

/** A client that says nothing, and when its connection was closed. */
function silentClient({ port }: Receiver): { readonly socket: Socket; readonly closed: Promise<void> } {
  const socket = connect(port(), "127.0.0.1");
  // The server's end is what ends it, and its own end follows: data that nobody reads would hide it.
  socket.resume();
  socket.on("error", () => {});
  closers.push(() => void socket.destroy());
  return { socket, closed: new Promise((resolve) => socket.on("close", () => resolve())) };
}

test("a client whose handshake ends after the close does not hold the close up", async () => {
  const { receiver, ca } = await open();
  const { socket } = silentClient(receiver);
  await expect.poll(() => receiver.counts.connections).toBe(1);
  const closed = receiver.close();
  connectTls({ socket, ca, servername: "localhost" }).on("error", () => {});
  await closed;
  // Shorter than the time that a connection at rest may have.
}, 10_000);

test("clients that hold all connections are logged once, and lose them within seconds", async () => {
  const { receiver, lines, deliver } = await open();
  expect(receiver.isFull()).toBe(false);
  const clients = Array.from({ length: MOST }, () => silentClient(receiver));
  await Promise.all(clients.map(({ socket }) => once(socket, "connect")));
  const passedMs = startWatch();
  // Connections are taken in their order, so these two come after all others.
  await expect(deliver()).rejects.toThrow();
  await silentClient(receiver).closed;
  expect(receiver.counts).toMatchObject({ connections: MOST, closed: 2 });
  expect(receiver.isFull()).toBe(true);
  await Promise.all(clients.map(({ closed }) => closed));
  expect(passedMs()).toBeLessThan(8_000);
  expect((await deliver()).status).toBe(204);
  clock.advance(31_000);
  expect(receiver.isFull()).toBe(false);
  expect(lines).toEqual([
    "webhook connections are closed, for there are too many",
    "webhook connections are taken again",
  ]);
});

test("a connection that finishes TLS and asks nothing is closed within seconds too", async () => {
  const { receiver, ca } = await open();
  const socket = connectTls({ port: receiver.port(), host: "127.0.0.1", servername: "localhost", ca });
  closers.push(() => void socket.destroy());
  socket.on("error", () => {});
  await new Promise((resolve) => socket.on("secureConnect", resolve));
  const passedMs = startWatch();
  socket.resume();
  await new Promise((resolve) => socket.on("close", resolve));
  expect(passedMs()).toBeLessThan(8_000);
});

test("a port that was taken is tried again on the same receiver", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const address = other.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const authority = await createCa(Date.now());
  const own = await createServerCertificate(authority, ["localhost"], Date.now());
  const tls = { cert: own.certificate, key: own.key };
  const log = createLog("info", { write: () => {} });
  const receiver = createReceiver({ listen: { host: "127.0.0.1", port }, tls }, clock, log, () => {});
  closers.push(() => receiver.close());
  for (const _attempt of [1, 2]) await expect(receiver.open("secret")).rejects.toThrow(/is taken/);
  other.close();
  await once(other, "close");
  await receiver.open("secret");
  expect(receiver.port()).toBe(port);
});
