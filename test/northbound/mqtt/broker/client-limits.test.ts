import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { generate, type Packet, parser } from "mqtt-packet";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { EmbeddedBroker } from "../../../../src/northbound/mqtt/broker/broker.ts";
import { createLive } from "../../../../src/platform/live.ts";
import { newBroker } from "../link-harness.ts";
import { embedded, start } from "../mqtt-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];
let broker: EmbeddedBroker;

beforeEach(async () => {
  const users = createLive(["hmi", "scada", "wall"].map((name) => ({ name, password: name })));
  broker = newBroker({ ...embedded, anonymousLoopback: false, users });
  cleanups.push(await start(broker));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function open(): Promise<Socket> {
  const socket = connect(broker.port(), "127.0.0.1").on("error", () => {});
  cleanups.push(() => socket.destroy());
  await once(socket, "connect");
  return socket;
}

/** Logs in, and gives the code of the answer: 0 is accepted, 3 server unavailable (MQTT 3.1.1, 3.2.2.3). */
async function logIn(user: string, clientId: string): Promise<number> {
  const socket = await open();
  const answer = new Promise<Packet>((resolve) => {
    const read = parser({ protocolVersion: 4 });
    read.on("packet", resolve);
    socket.on("data", (bytes) => read.parse(bytes));
  });
  const username = { username: user, password: Buffer.from(user) };
  socket.write(
    generate({ cmd: "connect", protocolId: "MQTT", protocolVersion: 4, clean: true, clientId, ...username }),
  );
  const packet = await answer;
  return packet.cmd === "connack" ? (packet.returnCode ?? -1) : -1;
}

test("connections that send no CONNECT keep nobody out, and health tells of them", async () => {
  for (let number = 0; number < 150; number += 1) await open();
  await expect.poll(() => broker.health().figures?.unfinishedClosed).toBe(50);
  expect(await logIn("hmi", "h1")).toBe(0);
  expect(broker.health()).toMatchObject({
    state: "degraded",
    detail: "more than 100 connections have sent no CONNECT: the oldest are closed for new ones",
    figures: { clients: 1 },
  });
});

test("a connection that sends no CONNECT is closed after some seconds", async () => {
  const socket = await open();
  socket.resume();
  const beganMs = performance.now();
  await once(socket, "close");
  expect(performance.now() - beganMs).toBeLessThan(12_000);
  await expect.poll(() => broker.health().figures?.unfinished).toBe(0);
});

test("one user cannot take all places", async () => {
  const codes: number[] = [];
  for (let number = 0; number < 251; number += 1) codes.push(await logIn("scada", `s${number}`));
  expect([codes.filter((code) => code === 0).length, codes.at(-1)]).toEqual([250, 3]);
  expect(broker.health()).toMatchObject({
    state: "degraded",
    detail: "250 MQTT clients of one user are connected: no more of it are accepted",
    figures: { clients: 250, clientsRefused: 1 },
  });
  expect(await logIn("hmi", "h1")).toBe(0);
});

test("nor can two users take the places of a third", async () => {
  for (const user of ["scada", "wall"]) {
    for (let number = 0; number < 250; number += 1) await logIn(user, `${user}${number}`);
  }
  expect(broker.health()).toMatchObject({ state: "degraded", figures: { clients: 496, clientsRefused: 4 } });
  for (let number = 0; number < 4; number += 1) expect(await logIn("hmi", `h${number}`)).toBe(0);
  expect(await logIn("hmi", "h4")).toBe(3);
});
