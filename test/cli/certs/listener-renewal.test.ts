import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { activateNextOfListeners, makeNextOfListeners } from "../../../src/cli/certs/listener-renewal.ts";
import { createSelfSigned } from "../../../src/platform/keyed-certificate.ts";
import { clientCertificate, newPlant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

const names = ["gateway.line1", "10.1.2.3"];
/** A box without a battery clock made them. */
const THEN = Date.UTC(2010, 0, 1);

/** A plant with TLS in MQTT and web, whose certificates were made in 2010. */
async function plantOf2010() {
  const { config, folder } = await newPlant();
  const put = async (name: string) => {
    const { certificate, key } = await createSelfSigned(names, THEN);
    writeFileSync(join(folder, `${name}.pem`), certificate);
    writeFileSync(join(folder, `${name}.key`), key);
    return { certificate: `${name}.pem`, key: `${name}.key` };
  };
  const sections = {
    mqtt: { broker: "embedded", ...(await put("mqtt-broker")) },
    web: { tls: await put("web") },
  };
  writeFileSync(config, stringify({ ...parse(readFileSync(config, "utf8")), ...sections }));
  return { config, folder, pem: (name: string) => readFileSync(join(folder, name), "utf8") };
}

it("makes the next certificate of each listener, and uses it when told to", async () => {
  const { config, folder, pem } = await plantOf2010();
  const before = pem("mqtt-broker.pem");
  const made = await makeNextOfListeners({ config }, Date.now());
  expect(made.map(({ name, path }) => [name, path])).toEqual([
    ["mqtt.certificate", join(folder, "mqtt-broker.next.pem")],
    ["web.tls.certificate", join(folder, "web.next.pem")],
  ]);
  expect(pem("mqtt-broker.pem")).toBe(before);
  const [old, next] = [before, pem("mqtt-broker.next.pem")].map((text) => new X509Certificate(text));
  expect(next?.subjectAltName).toBe(old?.subjectAltName);
  expect(next?.publicKey.equals(old?.publicKey as never)).toBe(true);
  expect(Date.parse(next?.validTo ?? "")).toBeGreaterThan(Date.now() + 3_600 * 86_400_000);

  const used = await activateNextOfListeners({ config }, Date.now());
  expect(used.map(({ previous }) => previous)).toEqual(
    ["mqtt-broker", "web"].map((name) => join(folder, `${name}.previous.pem`)),
  );
  expect(new X509Certificate(pem("mqtt-broker.pem")).fingerprint).toBe(next?.fingerprint);
  expect(pem("mqtt-broker.previous.pem")).toBe(before);
  expect(existsSync(join(folder, "mqtt-broker.next.pem"))).toBe(false);
  expect(await activateNextOfListeners({ config }, Date.now())).toEqual([]);
});

it("leaves the certificates of the plant alone", async () => {
  const { config, folder } = await plantOf2010();
  const foreign = await clientCertificate("plant");
  writeFileSync(join(folder, "mqtt-broker.pem"), foreign.pem);
  const made = await makeNextOfListeners({ config }, Date.now());
  expect(made.map(({ name }) => name)).toEqual(["web.tls.certificate"]);
});
