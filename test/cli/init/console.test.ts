import { createPublicKey, X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from "@peculiar/x509";
import { beforeEach, expect, it, vi } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { createCatalogue } from "../../../src/fleet/operations.ts";
import { newFolder, TEST_TIMEOUT_MS } from "../program.ts";
import { piped } from "../typed.ts";
import { flags, hasInvented } from "./init-harness.ts";

vi.setConfig({ testTimeout: TEST_TIMEOUT_MS });

let folder: string;
beforeEach(() => {
  folder = newFolder();
  writeFileSync(join(folder, "key.json"), JSON.stringify({ api_key: "key-1", scope: "acme", secret: "s" }));
});

it("opens the console by TLS and a log-in, with the certificate of the broker", async () => {
  const args = [...flags("etc/fleetgate.yaml"), "--mqtt", "embedded", "--host", "gw1.plant,10.0.0.5"];
  const { code, out, err } = piped(folder, [...args, "--web-user", "anna"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const loaded = await loadConfig(join(folder, "etc/fleetgate.yaml"), {}, createCatalogue(), Date.now());
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { web, mqtt, rights } = loaded.config;
  expect(web).toMatchObject({
    listen: { host: "0.0.0.0", port: 8080 },
    hostnames: ["gw1.plant", "10.0.0.5"],
    tls: mqtt?.broker.kind === "embedded" ? mqtt.broker.tls : null,
    access: { users: [{ name: "anna", role: "operator", robots: null }] },
  });
  expect(rights).toMatchObject({ rules: [{ source: { protocol: "cli", name: "*" }, role: "operator" }] });
  const passwords = [await hasInvented(folder, "MQTT user scada", "mqtt-scada")];
  passwords.push(await hasInvented(folder, "console user anna", "web-anna"));
  for (const password of passwords) expect(out).not.toContain(password);

  const certificate = new X509Certificate(readFileSync(join(folder, "etc/gateway.pem")));
  const authority = new X509Certificate(readFileSync(join(folder, "etc/gateway-ca.pem")));
  expect(authority.ca && certificate.verify(authority.publicKey)).toBe(true);
  // Nobody but its owner reads it: the gateway does not need it.
  expect(statSync(join(folder, "etc/secrets/gateway-ca.key")).mode & 0o777).toBe(0o600);
  for (const line of [
    "https://gw1.plant:8080, for anna",
    certificate.fingerprint256,
    authority.fingerprint256,
  ])
    expect(out).toContain(line);
  const request = new Pkcs10CertificateRequest(readFileSync(join(folder, "etc/gateway.csr"), "utf8"));
  expect(await request.verify()).toBe(true);
  const alternatives = request.extensions.find((each) => each instanceof SubjectAlternativeNameExtension);
  const names = alternatives?.names.items.map(({ value }) => value);
  expect(names).toEqual(["gw1.plant", "10.0.0.5", "localhost", "127.0.0.1"]);
  const publicKey = createPublicKey({
    key: Buffer.from(request.publicKey.rawData),
    format: "der",
    type: "spki",
  });
  expect(certificate.publicKey.equals(publicKey)).toBe(true);
});

it("keeps the console to this machine without a user, and speaks no TLS there", async () => {
  const { code, out } = piped(folder, [...flags("etc/fleetgate.yaml"), "--opcua", "on", "--host", "gw1"]);
  expect(code).toBe(0);
  expect(out).toContain("The console is http://localhost:8080, without a log-in");
  expect(readdirSync(join(folder, "etc")).sort()).toEqual(["fleetgate.yaml", "secrets"]);
});

it("ends with a line for the first values, and the steps of the first approval", () => {
  const { out } = piped(folder, [...flags("etc/fleetgate.yaml"), "--mqtt", "embedded", "--opcua", "on"]);
  const config = join(folder, "etc/fleetgate.yaml");
  const [, steps = ""] = out.split("\nNext:\n");
  expect(steps.split("\n").filter((line) => line.startsWith("  "))).toEqual([
    `  fleetgate check --config ${config} --online`,
    `  fleetgate run --config ${config}`,
    `  fleetgate robots --config ${config}`,
    "  mosquitto_sub -h localhost -p 1883 -u scada -P PASSWORD -v -t 'fleetgate/plant1/robots/#'",
    `  fleetgate certs list --config ${config}`,
    `  fleetgate certs approve THUMBPRINT --config ${config}`,
  ]);
});

it("--if-missing leaves a configuration alone, whatever else is said", () => {
  const args = [...flags("etc/fleetgate.yaml"), "--if-missing"];
  expect(piped(folder, args).code).toBe(0);
  const before = readdirSync(folder, { recursive: true });
  const again = piped(folder, ["init", "--config", "etc/fleetgate.yaml", "--if-missing"]);
  expect(again).toEqual({
    code: 0,
    out: "etc/fleetgate.yaml is there already: nothing was done\n",
    err: "",
  });
  expect(readdirSync(folder, { recursive: true })).toEqual(before);
});
