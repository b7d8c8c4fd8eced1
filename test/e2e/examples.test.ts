import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { startHttpProxy } from "../faults/http-proxy.ts";
import { haveMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { openSession } from "../northbound/opcua/opcua-harness.ts";
import { createChronicle } from "../support/chronicle.ts";
import { type ExampleFiles, examplesFolder, layExampleFiles, passwordOf } from "../support/example-files.ts";
import { freePorts } from "../support/free-ports.ts";
import { https } from "../support/https.ts";
import {
  approveClients,
  type ExamplePlant,
  openExamplePlant,
  runExampleMosquitto,
  sessionOf,
  startReverseProxy,
} from "./examples-harness.ts";

/**
 * Each example of config/examples runs, with the ports and addresses of this machine in place of the plant's.
 */
let files: ExampleFiles;
beforeAll(async () => {
  files = await layExampleFiles();
});
afterAll(() => files[Symbol.asyncDispose]());

let plant: ExamplePlant;
afterEach(() => plant[Symbol.asyncDispose]());

/** How many the example is for. */
const ROBOTS = 500;
/** A loaded machine starts a gateway with OPC UA in many seconds. */
const PATIENCE_MS = 60_000;
const noRetry = { reconnectPeriod: 0 };

/** A client of the broker on a port, who speaks TLS and trusts the plant's authority. */
async function client(port: number, user: string, options: IClientOptions = {}) {
  const login = { username: user, password: passwordOf(user), ca: files.office.certificate };
  const url = `mqtts://127.0.0.1:${port}`;
  const connected = await mqtt.connectAsync(url, { ...login, reconnectPeriod: 0, ...options }, false);
  plant.onClose(() => connected.endAsync(true));
  return connected;
}

/** What a client hears, as topic and text with a space between; it is subscribed to everything. */
async function receive(subscriber: MqttClient) {
  const received = createChronicle<string>((message) => message);
  subscriber.on("message", (topic, payload) => received.add(`${topic} ${payload.toString()}`));
  await subscriber.subscribeAsync("fleetgate/plant1/#", { qos: 1 });
  return received;
}

/** For the examples with `web: {}`. */
const anyWebPort = async () => ({ web: { listen: { port: await freePorts(1) } } });

it(
  "one-line.yaml: the PLC of the line is approved, and sends a robot by numbers",
  async () => {
    plant = await openExamplePlant(files, 2);
    const port = await freePorts(1);
    await plant.run("one-line.yaml", { "opcua.listen.port": port, ...(await anyWebPort()) });
    await approveClients(plant);
    const plc = await sessionOf(plant, `opc.tcp://127.0.0.1:${port}`, "line1");
    await plc.until("Robots.AMR01.ReadyForCommand", true);
    expect(await plc.value("Robots.AMR02.RobotId")).toBe("cart-2");
    expect(await plc.nextId("Stations.line1.Slot.NextId")).toBeGreaterThan(0);
    expect(await plc.value("Stations.line1.Permitted")).toBe(false);

    const slot = "Robots.AMR01.MissionSlot";
    const ticket = await plc.nextId(`${slot}.NextId`);
    const command = [ticket, 1, 2, ...new Array(9).fill(0)];
    await plc.write([`${slot}.Command`, { dataType: "Int32", arrayType: "Array", value: command }]);
    await plc.until(`${slot}.DoneId`, ticket);
    expect(await plc.value(`${slot}.AcceptedText`)).toBe("navigate to Station B");
    expect(await plc.value(`${slot}.AcceptedByNo`)).toBe(1);
    expect(plant.simulator.control.record(0).map(({ robotId }) => robotId)).toContain("cart-1");
  },
  PATIENCE_MS,
);

describe.runIf(haveMosquitto)("with mosquitto", () => {
  it(
    "mosquitto.yaml: clients command under their own names, and nowhere else",
    async () => {
      plant = await openExamplePlant(files, 3);
      const port = await runExampleMosquitto(plant, ["hmi", "mes", "visitor"]);
      await plant.run("mosquitto.yaml", {
        "mqtt.broker": `mqtts://localhost:${port}`,
        ...(await anyWebPort()),
      });
      const five = { protocolVersion: 5 } as const;
      const [hmi, mes, visitor] = [
        await client(port, "hmi", five),
        await client(port, "mes", five),
        await client(port, "visitor", five),
      ];
      const received = await receive(hmi);
      await received.first(
        "the robot",
        (message) => message === "fleetgate/plant1/robots/cart-1/availability good",
      );

      const payload = (id: string, robotId = "cart-1") => {
        const navigateMission = { goal: { destinationId: "Station A" } };
        const request = { robotId, mission: { baseMission: { navigateMission } } };
        return JSON.stringify({ id, expires_in_ms: 10_000, request });
      };
      const send = (from: MqttClient, topic: string, text: string) =>
        from.publishAsync(`fleetgate/plant1/${topic}`, text, { qos: 1 });
      const commandOf = (name: string) => `clients/${name}/command/CreateMission`;

      for (const [from, topic] of [
        [hmi, commandOf("mes")],
        [mes, "clients/hmi/command/Hold"],
        [visitor, "clients/hmi/command/LeaseRobot"],
        [hmi, "clients/hmi/reply/a"],
        [hmi, "robots/cart-1/availability"],
        [hmi, "status"],
      ] as const)
        await expect(send(from, topic, payload("a")), topic).rejects.toThrow(/Not authorized/i);

      const visitors = await receive(visitor);
      await send(visitor, commandOf("visitor"), payload("v"));
      expect(await visitors.first("a reply", (message) => message.includes("/reply/v "))).toContain(
        '"refused"',
      );
      const hearing = await receive(mes);
      await send(mes, commandOf("mes"), payload("m"));
      expect(await hearing.first("a reply", (message) => message.includes("/reply/m "))).toContain(
        '"succeeded"',
      );
      await send(hmi, commandOf("hmi"), payload("h", "cart-2"));
      expect(await received.first("a reply", (message) => message.includes("/reply/h "))).toContain(
        '"succeeded"',
      );
      const replies = received.entries.filter((message) => message.includes("/reply/"));
      expect(replies).toHaveLength(1);

      for (const login of [
        { password: "wrong" },
        { username: "nobody" },
        { username: undefined, password: undefined },
      ])
        await expect(client(port, "hmi", { ...five, ...login } as IClientOptions)).rejects.toThrow(
          /Not authorized/i,
        );
    },
    PATIENCE_MS,
  );

  it(
    "500-robots.yaml: every robot of every location becomes good",
    async () => {
      plant = await openExamplePlant(files, ROBOTS);
      const port = await runExampleMosquitto(plant, ["scada"]);
      await plant.run("500-robots.yaml", {
        "mqtt.broker": `mqtts://localhost:${port}`,
        "opcua.listen.port": await freePorts(1),
        ...(await anyWebPort()),
      });
      const scada = await client(port, "scada");
      const good = new Set<string>();
      const all = new Promise<void>((resolve) => {
        scada.on("message", (topic, payload) => {
          if (payload.toString() === "good") good.add(topic);
          else good.delete(topic);
          if (good.size === ROBOTS) resolve();
        });
      });
      await scada.subscribeAsync("fleetgate/plant1/robots/+/availability", { qos: 1 });
      await all;
    },
    PATIENCE_MS,
  );
});

it(
  "opcua-ca.yaml: a client with the authority's certificate is let in, and no other",
  async () => {
    plant = await openExamplePlant(files, 1);
    const port = await freePorts(1);
    await plant.run("opcua-ca.yaml", { "opcua.listen.port": port, ...(await anyWebPort()) });
    const url = `opc.tcp://127.0.0.1:${port}`;
    const uri = "urn:fleetgate:test-client";
    const user = { name: "line2", password: passwordOf("line2") };
    const identity = await files.plant.issue(join(files.folder, "plc"), { uri });
    const plc = await openSession(url, { user, secure: true, identity });
    plant.onClose(() => plc.close());
    await plc.until("Robots.cart-1.ReadyForCommand", true);

    // With a certificate that signs itself.
    await expect(openSession(url, { user, secure: true })).rejects.toThrow();
    const wrong = { name: "line2", password: "wrong" };
    await expect(openSession(url, { user: wrong, secure: true, identity })).rejects.toThrow(
      /BadUserAccessDenied/,
    );
    await expect(openSession(url, { secure: true, identity })).rejects.toThrow();
  },
  PATIENCE_MS,
);

it(
  "webhooks-proxy.yaml: webhooks come through a reverse proxy, and all else goes out through a proxy",
  async () => {
    plant = await openExamplePlant(files, 1, {
      certificateNames: ["fleet.example.com"],
      resolve: async () => ["127.0.0.1"],
      unsafeWebhookTargets: { trustedCa: files.office.certificate },
    });
    const example = parse(await readFile(join(examplesFolder, "webhooks-proxy.yaml"), "utf8"));
    const publicUrl = new URL(example.fleet.events.publicUrl);
    const [webhookPort, webPort] = [await freePorts(1), await freePorts(1)];
    const reverse = await startReverseProxy(plant, publicUrl.pathname, () => webhookPort);
    publicUrl.port = String(reverse.port);
    const { endpoints } = plant.simulator;
    const fleet = { grpc: portOf(`tcp://${endpoints.grpc}`), https: portOf(endpoints.https) };
    const outgoing = await startHttpProxy("fleetgate", passwordOf("proxy"), (target) =>
      target.startsWith("fleet.example.com:") ? `localhost:${target.split(":")[1]}` : undefined,
    );
    plant.onClose(() => outgoing.close());
    await plant.run("webhooks-proxy.yaml", {
      "fleet.grpc.address": `fleet.example.com:${fleet.grpc}`,
      "fleet.https": `https://fleet.example.com:${fleet.https}`,
      "fleet.proxy.url": `http://localhost:${outgoing.port}`,
      "fleet.events.listen.port": webhookPort,
      "fleet.events.publicUrl": publicUrl.href,
      "web.listen.port": webPort,
    });

    await subscribed(plant);
    plant.simulator.control.happen({ kind: "battery", robotId: "cart-1", percent: 33 });
    await reverse.answers.first("a delivery that was taken", (status) => status === 204);
    const health = await page(webPort, "/healthz", example.web.hostnames[0]);
    expect(Number(/"webhooks_received":(\d+)/.exec(health.text)?.[1])).toBeGreaterThan(0);
    expect(new Set(outgoing.tunnels())).toEqual(
      new Set([`fleet.example.com:${fleet.grpc}`, `fleet.example.com:${fleet.https}`]),
    );
    const ca = Buffer.from(files.office.certificate);
    const url = `https://localhost:${reverse.port}${publicUrl.pathname}`;
    expect((await https({ url, ca, method: "POST", body: {} })).status).toBe(401);
    expect((await page(webPort, "/", "robots.elsewhere.example.com")).status).toBe(421);
  },
  PATIENCE_MS,
);

it(
  "two-networks.yaml: each network reaches its own listener only, with TLS and a user",
  async () => {
    plant = await openExamplePlant(files, 1);
    const [plantPort, officePort] = [await freePorts(1), await freePorts(1)];
    await plant.run("two-networks.yaml", {
      "opcua.listen": { host: "127.0.0.2", port: plantPort },
      "opcua.alternateHostnames": ["127.0.0.2"],
      "mqtt.listen": { host: "127.0.0.1", port: officePort },
      "web.listen.port": await freePorts(1),
    });
    await approveClients(plant);
    const plc = await sessionOf(plant, `opc.tcp://127.0.0.2:${plantPort}`, "line1");
    await plc.until("Robots.cart-1.ReadyForCommand", true);
    await expect(openSession(`opc.tcp://127.0.0.2:${plantPort}`, {})).rejects.toThrow();

    const dashboard = await client(officePort, "dashboard");
    const received = await receive(dashboard);
    await received.first(
      "the robot",
      (message) => message === "fleetgate/plant1/robots/cart-1/availability good",
    );
    await expect(client(officePort, "dashboard", { password: "wrong" })).rejects.toThrow();
    await expect(mqtt.connectAsync(`mqtt://127.0.0.1:${officePort}`, noRetry, false)).rejects.toThrow();

    expect(await connects("127.0.0.1", plantPort)).toBe(false);
    expect(await connects("127.0.0.2", officePort)).toBe(false);
  },
  PATIENCE_MS,
);

/** Waits until the service has both subscriptions of the gateway. */
async function subscribed({ simulator }: ExamplePlant): Promise<void> {
  for (;;) {
    const { webhooks = [] } = (await simulator.rest("POST", "/v1/webhook/list", {})).json() as {
      webhooks?: readonly unknown[];
    };
    if (webhooks.length === 2) return;
  }
}

/** A page of the gateway, asked for under a host's name as a proxy does. */
function page(port: number, path: string, host: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port, path, headers: { host } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    asked.on("error", reject).end();
  });
}

/** Whether something listens there. */
async function connects(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  const is = await new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
  });
  socket.destroy();
  return is;
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
