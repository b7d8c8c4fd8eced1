import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { listenMqtt } from "../../e2e/mqtt-ear.ts";
import { openApprovedSession, openSession } from "../../northbound/opcua/opcua-harness.ts";
import { freePorts } from "../../support/free-ports.ts";
import { endPrograms, fleetgate, newFolder, ready, TEST_TIMEOUT_MS } from "../program.ts";
import { piped } from "../typed.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterAll(endPrograms);

test("the gateway runs with what init has written, and lets its users in", async () => {
  const folder = newFolder();
  const base = await freePorts(5);
  const { fleet } = await ready(fleetgate(folder, "simulate", "--json", "--base-port", String(base)));
  expect(piped(folder, ["passwd", "--out", "line1"], "words of line 1\n").code).toBe(0);
  const [mqttPort, opcuaPort, webPort] = [base + 2, base + 3, base + 4];
  const made = piped(folder, [
    ...["init", "--config", "etc/fleetgate.yaml", "--id", "plant1"],
    ...["--fleet", fleet.grpc, "--fleet-https", fleet.https, "--fleet-ca", fleet.ca],
    ...["--api-key", fleet.credentials, "--locations", fleet.locations.join(",")],
    ...[
      "--mqtt",
      "embedded",
      "--mqtt-user",
      "scada",
      "--mqtt-role",
      "operator",
      "--mqtt-port",
      `${mqttPort}`,
    ],
    ...["--opcua", "on", "--opcua-password-file", "line1", "--opcua-port", `${opcuaPort}`],
    ...["--host", "gateway.test,127.0.0.2", "--web-port", `${webPort}`],
  ]);
  expect(made).toMatchObject({ code: 0, err: "" });
  const password = /Password of MQTT user scada: (\S+)/.exec(made.out)?.[1] ?? "";
  expect(made.out).not.toContain("Password of OPC UA user");

  const gateway = fleetgate(folder, "run", "--config", "etc/fleetgate.yaml");
  await gateway.err.first("ready", (line) => line.includes('"msg":"ready"'));

  const ca = readFileSync(join(folder, "etc/mqtt-broker.pem"), "utf8");
  const url = `mqtts://127.0.0.1:${mqttPort}`;
  const mqtt = await listenMqtt(url, "scada", "fleetgate/plant1", { password, ca });
  await mqtt.on("robots/cart-01/availability", (text) => text === "good");
  const navigateMission = { goal: { destinationId: "Station A" } };
  const request = { robotId: "cart-01", mission: { baseMission: { navigateMission } } };
  expect(await mqtt.send("CreateMission", "go", request)).toMatchObject({ outcome: "succeeded" });
  await mqtt.close();
  await expect(listenMqtt(url, "scada", "fleetgate/plant1", { password: "no", ca })).rejects.toThrow(
    /refused/i,
  );

  const server = join(folder, "etc/data/opcua/server");
  const login = { secure: true, user: { name: "line1", password: "words of line 1" } };
  const opcua = `opc.tcp://127.0.0.1:${opcuaPort}`;
  await expect(openSession(opcua, login)).rejects.toThrow();
  for (const name of readdirSync(join(server, "rejected")))
    renameSync(join(server, "rejected", name), join(server, "trusted/certs", name));
  const session = await openApprovedSession(opcua, login);
  expect(await session.value("Robots.cart-01.Valid")).toBe(true);
  await session.close();
  gateway.send("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0 });
});
