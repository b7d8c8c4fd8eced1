import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { sleep, systemClock } from "../../../../src/platform/clock.ts";
import { freePorts } from "../../../support/free-ports.ts";
import { endMosquitto, haveMosquitto, runMosquitto, startMosquitto } from "../mosquitto.ts";
import { external } from "../mqtt-harness.ts";
import { command, newNode, openHost, robotChange } from "./sparkplug-harness.ts";

const cleanups: Array<() => Promise<unknown> | unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** The link runner's shortest waits. */
const BACKOFF_MS = 50;
const WATCHED_MS = 3_000;

/** A gateway that connects again whenever its connection is lost, as the link runner does. */
function keepConnected(url: string, protocolVersion: 4 | 5) {
  const told: { active: boolean; text: string }[] = [];
  const stop = new AbortController();
  const link = newNode({
    options: { broker: external(url), protocolVersion },
    onDuplicate: (active, text) => told.push({ active, text }),
  });
  const running = (async () => {
    while (!stop.signal.aborted) {
      const connection = await link.connect(stop.signal).catch(() => null);
      if (connection !== null) {
        const ended = new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
        await connection.write({ changes: [robotChange("r1")], events: [] }).catch(() => 0);
        await Promise.race([connection.lost, ended]);
        await connection[Symbol.asyncDispose]();
      }
      await sleep(systemClock, BACKOFF_MS, stop.signal);
    }
  })();
  cleanups.push(() => {
    stop.abort();
    return running;
  });
  return { link, told };
}

describe.skipIf(!haveMosquitto).each([4, 5] as const)("MQTT %s", (protocolVersion) => {
  test("two gateways with one client id tell it, and do not cut each other for ever", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    const first = keepConnected(mosquitto.url, protocolVersion);
    const second = keepConnected(mosquitto.url, protocolVersion);
    await expect.poll(() => first.told.length + second.told.length).toBeGreaterThan(0);
    await sleep(systemClock, WATCHED_MS, new AbortController().signal);
    expect(host.seen.filter(({ type }) => type === "NBIRTH").length).toBeLessThan(9);
    const [found] = [...first.told, ...second.told];
    expect(found?.active).toBe(true);
    expect(found?.text).toContain("the Sparkplug node plant/fleet again and again");
    expect(found?.text).toContain('its client id "fleetgate-test-sparkplug"');
    expect(found?.text).toContain("gateway.id or mqtt.clientId, and another mqtt.sparkplug.nodeId");
  });

  test("a message that clears a retained birth is no other gateway", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    const { told } = keepConnected(mosquitto.url, protocolVersion);
    await host.on("NBIRTH");
    const birth = "spBv1.0/plant/NBIRTH/fleet";
    await host.client.publishAsync(birth, "", { qos: 1, retain: true });
    await host.askRebirth();
    await host.receive(() => host.seen.filter(({ type }) => type === "NBIRTH").length === 3);
    expect(told).toEqual([]);
    await host.client.publishAsync(birth, command([]), { qos: 1 });
    await expect.poll(() => told).toHaveLength(1);
  });

  test("after a stray birth, an empty death by hand ends the alarm, and is answered with births", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    const { told } = keepConnected(mosquitto.url, protocolVersion);
    await host.on("DBIRTH", "r1");
    await host.client.publishAsync("spBv1.0/plant/NBIRTH/fleet", command([]), { qos: 1 });
    await expect.poll(() => told).toMatchObject([{ active: true }]);
    await host.client.publishAsync("spBv1.0/plant/NDEATH/fleet", "");
    await expect.poll(() => told).toMatchObject([{ active: true }, { active: false }]);
    await host.receive(() => host.seen.filter(({ type }) => type === "DBIRTH").length === 2);
  });

  test("a birth that the broker has retained is no other gateway", async () => {
    const mosquitto = await startMosquitto();
    cleanups.push(() => mosquitto.stop());
    const host = await openHost(mosquitto.url);
    cleanups.push(() => host.client.endAsync(true));
    await host.client.publishAsync("spBv1.0/plant/NBIRTH/fleet", command([]), { qos: 1, retain: true });
    const { told } = keepConnected(mosquitto.url, protocolVersion);
    await host.on("DBIRTH", "r1");
    await host.askRebirth();
    await host.receive(() => host.seen.filter(({ type }) => type === "DBIRTH").length === 2);
    expect(told).toEqual([]);
  });

  test("a broker that is restarted again and again is no other gateway", async () => {
    const port = await freePorts(1);
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-mosquitto-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const run = () =>
      runMosquitto(join(folder, "conf"), `listener ${port} 127.0.0.1\nallow_anonymous true\n`);
    let mosquitto = await run();
    cleanups.push(() => endMosquitto(mosquitto, "SIGTERM"));
    const { told, link } = keepConnected(`mqtt://127.0.0.1:${port}`, protocolVersion);
    for (let restart = 0; restart < 3; restart += 1) {
      await expect.poll(() => link.peers()[0]?.state).toBe("connected");
      await endMosquitto(mosquitto, "SIGTERM");
      await sleep(systemClock, 5 * BACKOFF_MS, new AbortController().signal);
      mosquitto = await run();
    }
    await expect.poll(() => link.peers()[0]?.state).toBe("connected");
    expect(told).toEqual([]);
  });
});
