import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Aedes } from "aedes";
import { afterEach, describe, expect, it } from "vitest";
import { createWebSocketStream, WebSocketServer } from "ws";
import { createLive } from "../../../src/platform/live.ts";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { freePorts } from "../../support/free-ports.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import { external, listen, missionChange, mqttOptions } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A broker that is reached over WebSocket at one path only. */
async function startBroker(server: Server): Promise<number> {
  const aedes = await Aedes.createBroker();
  const sockets = new WebSocketServer({ server, path: "/plant/mqtt", handleProtocols: () => "mqtt" });
  sockets.on("connection", (socket, request) => {
    const stream = createWebSocketStream(socket);
    stream.on("error", () => {});
    aedes.handle(stream, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(async () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    server.close();
    await new Promise<void>((resolve) => aedes.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}

describe("MQTT over WebSocket", () => {
  it("connects at the path of the URL, publishes, and says goodbye", async () => {
    const url = `ws://127.0.0.1:${await startBroker(createServer())}/plant/mqtt`;
    const watcher = await listen(url, { protocolVersion: 4 });
    cleanups.push(() => watcher.client.endAsync(true));
    const connection = await newLink({ options: mqttOptions({ broker: external(url) }) }).connect(never);
    const changes = Array.from({ length: 200 }, (_, i) => missionChange(`r${i}`));
    await connection.write({ changes, events: [] });
    await watcher.on("robots/r199/mission");
    await connection[Symbol.asyncDispose]();
    await watcher.on("status", ({ text }) => text.includes('"offline"'));
  });

  it("names key and address where the path is another", async () => {
    const port = await startBroker(createServer());
    const link = newLink({ options: mqttOptions({ broker: external(`ws://127.0.0.1:${port}/mqtt`) }) });
    await expect(link.connect(never)).rejects.toThrow(
      /mqtt\.broker \(127\.0\.0\.1:\d+\).*answers HTTP 400.*path of the URL/,
    );
  });

  it("speaks TLS by the same keys as mqtts://", async () => {
    const authority = await createCa(Date.now());
    const own = await createServerCertificate(authority, ["127.0.0.1"], Date.now());
    const port = await startBroker(createTlsServer({ cert: own.certificate, key: own.key }));
    const broker = external(`wss://127.0.0.1:${port}/plant/mqtt`);
    const tls = createLive({ ca: authority.certificate, clientCert: null });
    const trusting = newLink({ options: mqttOptions({ broker: { ...broker, tls } }) });
    await (await trusting.connect(never))[Symbol.asyncDispose]();
    await expect(newLink({ options: mqttOptions({ broker }) }).connect(never)).rejects.toThrow(
      /CA that is not trusted.*let mqtt\.ca name/,
    );
  });

  it("says that nothing listens there", async () => {
    const link = newLink({ options: mqttOptions({ broker: external("ws://127.0.0.1:1/mqtt") }) });
    await expect(link.connect(never)).rejects.toThrow(/nothing listens there/);
  });

  it("is given up when the gateway stops", async () => {
    const server = createServer();
    // It takes the connection, and never answers.
    server.on("upgrade", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    cleanups.push(
      () => void server.closeAllConnections(),
      () => void server.close(),
    );
    const stop = new AbortController();
    const { port } = server.address() as AddressInfo;
    const link = newLink({ options: mqttOptions({ broker: external(`ws://127.0.0.1:${port}/`) }) });
    const connecting = link.connect(stop.signal);
    const failed = expect(connecting).rejects.toThrow("connecting was given up");
    await once(server, "upgrade");
    stop.abort();
    await failed;
  });

  it.runIf(haveMosquitto)("works with mosquitto, MQTT 5", async () => {
    const port = await freePorts(1);
    // It does not start with listeners for WebSocket alone.
    const broker = await startMosquitto(undefined, [`listener ${port} 127.0.0.1`, "protocol websockets"]);
    cleanups.push(() => broker.stop());
    const url = `ws://127.0.0.1:${port}/mqtt`;
    const options = mqttOptions({ broker: external(url), protocolVersion: 5 });
    const connection = await newLink({ options }).connect(never);
    cleanups.push(() => connection[Symbol.asyncDispose]());
    const watcher = await listen(url, { protocolVersion: 5 });
    cleanups.push(() => watcher.client.endAsync(true));
    await connection.write({ changes: [missionChange("r1")], events: [] });
    await watcher.on("robots/r1/mission");
  });
});
