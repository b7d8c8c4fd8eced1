import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Control } from "../../src/simulator/control.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { startHere } from "../daemon/built-gateway.ts";
import { writeConfiguration } from "../daemon/daemon.ts";
import { startMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { freePorts } from "../support/free-ports.ts";
import { startSimulator } from "../support/simulator.ts";
import { blockOf } from "./page.ts";
import { type Started, startShell, writeShims } from "./shell.ts";

export const PAGES = ["docs/mqtt.md", "docs/mqtt-reference.md"];

/** A client of the broker: the version of MQTT that it speaks, and its user. */
export interface PlantClient {
  readonly version: "mqttv311" | "mqttv5";
  readonly user: string;
}

/** The plant of the MQTT pages: mosquitto by their rules, and the built gateway at it. */
export interface PlantShell {
  /** What nobody commands: it moves conveyors, and lets them fail. */
  readonly control: Control;
  /** Starts a line of the pages as it stands, with this plant in place of the demo. */
  start(line: string, client: PlantClient): Started;
  close(): Promise<void>;
}

const ROBOTS = ["cart-01", "cart-02", "cart-03"];
const DAY_MS = 86_400_000;
/** The gateway's certificate ends within 60 days: an alarm of the gateway itself. */
const ISSUED_DAYS_AGO = 370;

export async function openPlantShell(users: readonly string[]): Promise<PlantShell> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-plant-"));
  const ends: Array<() => Promise<unknown>> = [() => rm(folder, { recursive: true, force: true })];
  const put = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const nowMs = Date.now();
  const authority = await createCa(nowMs - ISSUED_DAYS_AGO * DAY_MS);
  const server = await createServerCertificate(authority, ["localhost", "127.0.0.1"], nowMs);
  const own = await createServerCertificate(authority, ["gateway"], nowMs - ISSUED_DAYS_AGO * DAY_MS);
  const ca = await put("plant-ca.pem", authority.certificate);

  const tlsPort = await freePorts(1);
  const rules = blockOf(PAGES, "user fleetgate");
  const broker = await startMosquitto({ rules, users: ["fleetgate", ...users] }, [
    `listener ${tlsPort} 127.0.0.1`,
    `certfile ${await put("broker.pem", server.certificate)}`,
    `keyfile ${await put("broker.key", server.key)}`,
  ]);
  ends.push(() => broker.stop());
  const { port } = new URL(broker.url);

  // A robot that arrived before the line that holds it would not be paused by it.
  const simulator = await startSimulator({ seed: 7, timeFactor: 0.1 });
  ends.push(() => simulator.stop());
  await mkdir(join(folder, "secrets"));
  const url = `mqtts://localhost:${tlsPort}`;
  const config = await writeConfiguration(folder, "plant1", simulator.endpoints, ROBOTS, url, {
    mqtt: {
      broker: url,
      ca,
      clientCertificate: await put("gateway.pem", own.certificate),
      clientKey: await put("gateway.key", own.key),
      username: "fleetgate",
      password: await put("password", "fleetgate"),
      tags: true,
      commands: { brokerEnforcesClientNames: true },
    },
    stations: { dock: { destinations: ["Station A"], heartbeatMs: 60_000 } },
  });
  const gateway = await startHere(config);
  ends.push(gateway.stop);

  const bin = join(folder, "bin");
  const shim = (name: string) => [`exec "$(which -a ${name} | sed -n 2p)" $FOREIGN "$@"`];
  writeShims(bin, {
    mosquitto_sub: shim("mosquitto_sub"),
    mosquitto_pub: shim("mosquitto_pub"),
    mosquitto_rr: shim("mosquitto_rr"),
  });
  const open = new Set<Started>();
  return {
    control: simulator.control,
    start(line, { version, user }) {
      const text = line
        .replace(
          "-h broker.example.com -p 8883 --cafile plant-ca.pem",
          `-h localhost -p ${tlsPort} --cafile ${ca}`,
        )
        .replace(/fleetgate\/(?:demo|plant1)/g, "fleetgate/plant1")
        .replaceAll("clients/hmi/", `clients/${user}/`)
        .replace("-u hmi ", `-u ${user} `);
      const given = `export HMI_PASSWORD=${user} FOREIGN='-V ${version} -p ${port} -u ${user} -P ${user}'`;
      const started = startShell(`${given}\n${text}`, folder, bin);
      open.add(started);
      void started.ended.then(() => open.delete(started));
      return started;
    },
    async close() {
      for (const started of open) await started.stop();
      for (const end of ends.reverse()) await end();
    },
  };
}
