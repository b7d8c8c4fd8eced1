import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { Agent, request as ask } from "undici";
import { afterAll, expect, test, vi } from "vitest";
import { haveMosquittoSub } from "../../e2e/mosquitto-sub.ts";
import { listenMqtt } from "../../e2e/mqtt-ear.ts";
import { openApprovedSession, openSession } from "../../northbound/opcua/opcua-harness.ts";
import { freePorts } from "../../support/free-ports.ts";
import { endPrograms, fleetgate, newFolder, ready, TEST_TIMEOUT_MS } from "../program.ts";
import { piped } from "../typed.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });
afterAll(endPrograms);

/** Logs in to the console as anna, who trusts `ca` alone. */
async function logIn(page: string, ca: string, password: string): Promise<void> {
  const dispatcher = new Agent({ connect: { ca, servername: "gateway.test" } });
  const answer = await ask(`${page}/api/v1/session`, {
    ...{ method: "POST", dispatcher, body: JSON.stringify({ user: "anna", password }) },
    headers: { "content-type": "application/json" },
  });
  expect(await answer.body.json()).toMatchObject({ open: false, name: "anna", role: "operator" });
  await dispatcher.close();
}

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
    ...["--web-user", "anna"],
    ...["--host", "gateway.test,127.0.0.2", "--web-port", `${webPort}`],
  ]);
  expect(made).toMatchObject({ code: 0, err: "" });
  const invented = readFileSync(join(folder, "etc/secrets/invented-passwords"), "utf8");
  const passwordOf = (user: string) =>
    new RegExp(`^Password of ${user}: (.*)$`, "m").exec(invented)?.[1] ?? "";
  const password = passwordOf("MQTT user scada");

  const gateway = fleetgate(folder, "run", "--config", "etc/fleetgate.yaml");
  await gateway.err.first("ready", (line) => line.includes('"msg":"ready"'));

  const ca = readFileSync(join(folder, "etc/gateway-ca.pem"), "utf8");
  const url = `mqtts://127.0.0.1:${mqttPort}`;
  const mqtt = await listenMqtt(url, "scada", "fleetgate/plant1", { password, ca });
  await mqtt.on("robots/cart-01/availability", (text) => text === "good");
  const navigateMission = { goal: { destinationId: "Station A" } };
  const request = { robotId: "cart-01", mission: { baseMission: { navigateMission } } };
  expect(await mqtt.send("CreateMission", "go", request)).toMatchObject({ outcome: "succeeded" });
  await mqtt.close();
  if (haveMosquittoSub) {
    const [line = ""] = /mosquitto_sub .*/.exec(made.out) ?? [];
    const pasted = line.replace("-h gateway.test", "-C 1 -h 127.0.0.1").replace("PASSWORD", password);
    const { stdout, stderr } = spawnSync("sh", ["-c", pasted], { encoding: "utf8" });
    expect(stdout, stderr).toMatch(/^fleetgate\/plant1\/robots\//);
  }
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

  await logIn(`https://127.0.0.1:${webPort}`, ca, passwordOf("console user anna"));
  const listed = fleetgate(folder, "robots", "--config", "etc/fleetgate.yaml");
  expect(await listed.ended).toMatchObject({ code: 0 });
  expect(listed.out.entries).toContainEqual(expect.stringMatching(/^cart-01 +good +\d+ %/));
  const acknowledged = fleetgate(folder, "alarms", "ack", "none-1", "--config", "etc/fleetgate.yaml");
  await acknowledged.ended;
  expect(acknowledged.out.entries.join("\n")).toContain('there is no alarm with the id "none-1"');
  gateway.send("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0 });
});
