import mqtt from "mqtt";
import { afterEach, expect, it } from "vitest";
import { createCa, createServerCertificate } from "../../../src/simulator/tls/identity.ts";
import { startHttps } from "../../cli/online/online-harness.ts";
import { newLink } from "./link-harness.ts";
import { haveMosquitto, startMosquitto } from "./mosquitto.ts";
import { base, external, mqttOptions, recordingCommander } from "./mqtt-harness.ts";

const never = new AbortController().signal;
const cleanups: Array<() => unknown> = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

it("a broker with a certificate of another authority is named with host and key", async () => {
  const own = await createServerCertificate(await createCa(Date.now()), ["127.0.0.1"], Date.now());
  const server = await startHttps(own);
  cleanups.push(server.close);
  const link = newLink({ options: mqttOptions({ broker: external(`mqtts://${server.address}`) }) });
  await expect(link.connect(never)).rejects.toThrow(
    new RegExp(`mqtt\\.broker \\(${server.address}\\): .*CA that is not trusted.*let mqtt\\.ca name`),
  );
});

it.runIf(haveMosquitto)("a refused password names its keys, a refused message its topic", async () => {
  const rules = `user gate\ntopic read ${base}/#\n`;
  const mosquitto = await startMosquitto({ rules, users: ["gate"] });
  cleanups.push(() => mosquitto.stop());
  const link = (password: string) => {
    const broker = { ...external(mosquitto.url), username: "gate", password };
    return newLink({ options: mqttOptions({ broker, protocolVersion: 5 }) });
  };
  await expect(link("wrong").connect(never)).rejects.toThrow(/Not authorized; look at .*mqtt\.password/);
  const reader = link("gate");
  const connection = await reader.connect(never);
  cleanups.unshift(() => connection[Symbol.asyncDispose]());
  expect(reader.health()).toMatchObject({
    state: "degraded",
    detail: expect.stringContaining(
      `the broker refuses to let the gateway write to ${base}/status (Publish error: Not authorized): `,
    ),
  });
});

it.runIf(haveMosquitto)(
  "a reply that the broker's rules refuse is counted, and named with its topic",
  async () => {
    const rules = [
      "user gate",
      `topic readwrite ${base}/#`,
      `topic deny ${base}/clients/+/reply/#`,
      "user scada",
      `topic readwrite ${base}/clients/scada/#`,
    ];
    const mosquitto = await startMosquitto({ rules: `${rules.join("\n")}\n`, users: ["gate", "scada"] });
    cleanups.push(() => mosquitto.stop());
    const broker = { ...external(mosquitto.url), username: "gate", password: "gate" };
    const commander = recordingCommander();
    const link = newLink({ commander, options: mqttOptions({ broker, protocolVersion: 5 }) });
    const connection = await link.connect(never);
    cleanups.unshift(() => connection[Symbol.asyncDispose]());
    const scada = await mqtt.connectAsync(mosquitto.url, { username: "scada", password: "scada" });
    cleanups.unshift(() => scada.endAsync(true));
    const command = JSON.stringify({ id: "1", expires_in_ms: 10_000, request: { robot_id: "r1" } });
    await scada.publishAsync(`${base}/clients/scada/command/CreateMission`, command, { qos: 1 });
    await expect.poll(() => link.health().figures?.repliesDropped).toBe(1);
    expect(link.health()).toMatchObject({
      state: "degraded",
      detail: expect.stringMatching(
        `replies to commands are dropped: the broker refuses to let the gateway write to ${base}/clients/scada/reply/1: .*mqtt\\.base`,
      ),
    });
  },
);
