import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { listenMqtt } from "../e2e/mqtt-ear.ts";
import { haveMosquitto, startMosquitto } from "../northbound/mqtt/mosquitto.ts";
import { startSimulator } from "../support/simulator.ts";
import { startHere } from "./built-gateway.ts";
import { writeConfiguration } from "./daemon.ts";

const ROBOT = "cart-01";
/** Within the time until the alarm stands: they find each other, and then take longer turns. */
const MOST_CONNECTS = 20;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test.runIf(haveMosquitto)(
  "two gateways with one id and one client id say so, raise an alarm, and take long turns",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-duplicate-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator();
    cleanups.push(() => simulator.stop());
    const broker = await startMosquitto();
    cleanups.push(() => broker.stop());
    const ear = await listenMqtt(broker.url, "ear", "fleetgate/duplicate");
    cleanups.push(() => ear.close());

    const start = async (name: string) => {
      await mkdir(join(folder, name));
      const { endpoints } = simulator;
      const mqtt = { broker: broker.url };
      const config = await writeConfiguration(
        join(folder, name),
        "duplicate",
        endpoints,
        [ROBOT],
        broker.url,
        {
          mqtt,
        },
      );
      const gateway = await startHere(config);
      cleanups.push(gateway.stop);
      return gateway;
    };
    const gateways = [await start("first"), await start("second")];
    await ear.on("alarms", (text) => text.includes('"DUPLICATE_GATEWAY"'));

    const isSaid = (line: string) => line.includes("and the same MQTT client id");
    const lines = gateways.map(({ said }) => said().split("\n"));
    expect(lines.map((all) => all.filter(isSaid).length)).toEqual([1, 1]);
    const online = ear.texts("status").filter((text) => text.includes('"online"'));
    expect(online.length).toBeLessThan(MOST_CONNECTS);
  },
);
