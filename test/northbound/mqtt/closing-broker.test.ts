import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { generate, type IPublishPacket, type Packet, parser } from "mqtt-packet";
import { afterEach, expect, test } from "vitest";
import type { Link } from "../../../src/contracts/link.ts";
import type { FleetEvent } from "../../../src/domain/event.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newLink } from "./link-harness.ts";
import { base, external, mqttOptions } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A broker of MQTT 3.1.1 that closes the connection on what it does not take, and says nothing. */
async function startClosingBroker(takes: (packet: IPublishPacket) => boolean) {
  const published: IPublishPacket[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    connections += 1;
    socket.on("error", () => {});
    const send = (packet: Packet) => void socket.write(generate(packet));
    const read = parser({ protocolVersion: 4 });
    read.on("packet", (packet) => {
      if (socket.destroyed) return;
      const { messageId = 0 } = packet;
      if (packet.cmd === "connect") send({ cmd: "connack", returnCode: 0, sessionPresent: false });
      if (packet.cmd === "subscribe")
        send({ cmd: "suback", messageId, granted: packet.subscriptions.map(({ qos }) => qos) });
      if (packet.cmd === "pingreq") send({ cmd: "pingresp" });
      if (packet.cmd === "disconnect") socket.end();
      if (packet.cmd !== "publish") return;
      if (!takes(packet)) return void socket.destroy();
      published.push(packet);
      if (packet.qos === 1) send({ cmd: "puback", messageId });
    });
    socket.on("data", (bytes: Buffer) => read.parse(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  });
  const { port } = server.address() as AddressInfo;
  return { url: `mqtt://127.0.0.1:${port}`, published, connections: () => connections };
}

function event(eventId: string, owner = "api"): FleetEvent {
  const states = { from: "STATE_RUNNING", to: "STATE_SUCCEEDED" } as const;
  const ids = { eventId, robotId: "r1", missionId: "m1" };
  return { kind: "mission", ...ids, atMs: 0, ...states, owner, command: null };
}

function openLink(url: string) {
  const clock = createManualClock();
  const said: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void said.push(message) };
  const link = newLink({ options: mqttOptions({ broker: external(url) }), clock, log });
  return { clock, said, link };
}

/** Hands over events as the link runner does: all of them again after each lost connection. */
async function handOver(link: Link, events: readonly FleetEvent[]): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const connection = await link.connect(never);
    const isDone = await connection.write({ changes: [], events }).then(
      () => true,
      () => false,
    );
    await connection[Symbol.asyncDispose]();
    if (isDone) return;
  }
  throw new Error("the events are not with the broker after ten connections");
}

const eventsOf = (published: readonly IPublishPacket[]) =>
  published
    .filter(({ topic }) => topic.startsWith(`${base}/robots/r1/event/`))
    .map(({ topic, payload }) => `${topic.split("/").at(-1)} ${JSON.parse(String(payload)).event_id}`);

const isSmall = ({ payload }: IPublishPacket) => payload.length < 3_000;

test("an event for which a broker closes the connection is told as dropped, and the others arrive", async () => {
  const broker = await startClosingBroker(isSmall);
  const { said, link, clock } = openLink(broker.url);
  await handOver(link, [event("e1"), event("e2", "x".repeat(5_000)), event("e3")]);
  // Once in a window with others, and three times alone.
  expect(broker.connections()).toBe(5);
  expect(new Set(eventsOf(broker.published))).toEqual(
    new Set(["mission e1", "dropped e2.dropped", "mission e3"]),
  );
  expect(eventsOf(broker.published).slice(-3)).toEqual(["mission e1", "dropped e2.dropped", "mission e3"]);
  expect(said).toEqual([
    expect.stringContaining("the broker closes the connection at this event"),
    "a message is larger than the broker takes, and is left out",
  ]);

  // The next one of that size costs no connection, for an hour; then the broker is tried again.
  await handOver(link, [event("e4", "x".repeat(6_000))]);
  expect(broker.connections()).toBe(6);
  clock.advance(3_600_001);
  await handOver(link, [event("e5", "x".repeat(6_000))]);
  expect(broker.connections()).toBe(10);
  expect(eventsOf(broker.published).slice(-2)).toEqual(["dropped e4.dropped", "dropped e5.dropped"]);
});

test("a broker that falls again and again takes no event with it that it would have taken", async () => {
  let falls = 6;
  const broker = await startClosingBroker(({ topic }) => {
    if (!topic.includes("/event/") || falls === 0) return true;
    falls -= 1;
    return false;
  });
  const { said, link } = openLink(broker.url);
  await handOver(link, [event("e1")]);
  expect(eventsOf(broker.published)).toEqual(["mission e1"]);
  expect(said).toEqual([]);
});
