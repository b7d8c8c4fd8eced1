import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import {
  activateNextOfListeners,
  listenersToRenew,
  makeNextOfListeners,
} from "../../../src/cli/certs/listener-renewal.ts";
import { ownAuthority } from "../../../src/config/key-pairs.ts";
import {
  createAuthority,
  isIssuedBy,
  issueCertificate,
} from "../../../src/platform/certificate-authority.ts";
import { piped } from "../typed.ts";
import { clientCertificate, newPlant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

const names = ["gateway.line1", "10.1.2.3"];
/** A box without a battery clock made them. */
const THEN = Date.UTC(2010, 0, 1);

const YEAR_MS = 365 * 86_400_000;

/** A plant with TLS in MQTT and web, whose CA and certificates were made in 2010. */
async function plantOf2010() {
  const { config, folder, put: putInStore } = await newPlant();
  const authority = await createAuthority("Fleetgate plant1", 40 * YEAR_MS, THEN);
  writeFileSync(join(folder, ownAuthority.certificate), authority.certificate);
  writeFileSync(join(folder, ownAuthority.key), authority.key);
  const order = { commonName: "gateway.line1", names, uses: ["server"], lifeMs: 10 * YEAR_MS } as const;
  const put = async (name: string) => {
    const { certificate, key } = await issueCertificate(authority, order, THEN);
    writeFileSync(join(folder, `${name}.pem`), certificate);
    writeFileSync(join(folder, `${name}.key`), key);
    return { certificate: `${name}.pem`, key: `${name}.key` };
  };
  const sections = {
    mqtt: { broker: "embedded", ...(await put("mqtt-broker")) },
    web: { tls: await put("web") },
  };
  writeFileSync(config, stringify({ ...parse(readFileSync(config, "utf8")), ...sections }));
  return { config, folder, putInStore, pem: (name: string) => readFileSync(join(folder, name), "utf8") };
}

it("makes the next certificate of each listener, and uses it when told to", async () => {
  const { config, folder, pem } = await plantOf2010();
  const before = pem("mqtt-broker.pem");
  const { renewable, passedOver, problems } = await listenersToRenew({ config }, Date.now());
  expect([passedOver, problems]).toEqual([[], []]);
  const placed = await makeNextOfListeners(renewable, Date.now());
  expect(placed.map(({ name, path }) => [name, path])).toEqual([
    ["mqtt.certificate", join(folder, "mqtt-broker.next.pem")],
    ["web.tls.certificate", join(folder, "web.next.pem")],
  ]);
  expect(pem("mqtt-broker.pem")).toBe(before);
  const [old, next] = [before, pem("mqtt-broker.next.pem")].map((text) => new X509Certificate(text));
  expect(next?.subjectAltName).toBe(old?.subjectAltName);
  expect(next?.publicKey.equals(old?.publicKey as never)).toBe(true);
  expect(Date.parse(next?.validTo ?? "")).toBeGreaterThan(Date.now() + 9 * YEAR_MS);
  expect(isIssuedBy(pem(ownAuthority.certificate), next?.toString() ?? "")).toBe(true);

  const used = await activateNextOfListeners({ config }, Date.now());
  expect(used.map(({ previous }) => previous)).toEqual(
    ["mqtt-broker", "web"].map((name) => join(folder, `${name}.previous.pem`)),
  );
  expect(new X509Certificate(pem("mqtt-broker.pem")).fingerprint).toBe(next?.fingerprint);
  expect(pem("mqtt-broker.previous.pem")).toBe(before);
  expect(existsSync(join(folder, "mqtt-broker.next.pem"))).toBe(false);
  expect(await activateNextOfListeners({ config }, Date.now())).toEqual([]);
});

it("makes one for two listeners that share a certificate, as init does it", async () => {
  const { config, folder } = await plantOf2010();
  const document = parse(readFileSync(config, "utf8"));
  const { certificate, key } = document.mqtt;
  writeFileSync(config, stringify({ ...document, web: { tls: { certificate, key } } }));
  const { renewable } = await listenersToRenew({ config }, Date.now());
  const placed = await makeNextOfListeners(renewable, Date.now());
  expect(placed.map(({ name, path }) => [name, path])).toEqual([
    ["mqtt.certificate, web.tls.certificate", join(folder, "mqtt-broker.next.pem")],
  ]);
});

it("names the certificates of the plant, and leaves them alone", async () => {
  const { config, folder } = await plantOf2010();
  const foreign = await clientCertificate("plant");
  writeFileSync(join(folder, "mqtt-broker.pem"), foreign.pem);
  const { renewable, passedOver } = await listenersToRenew({ config }, Date.now());
  expect(renewable.map(({ pair }) => pair.name)).toEqual(["web.tls.certificate"]);
  expect(passedOver).toEqual([`mqtt.certificate (${join(folder, "mqtt-broker.pem")})`]);
});

it("says whose CA has no key, when somebody keeps that elsewhere", async () => {
  const { config, folder } = await plantOf2010();
  rmSync(join(folder, ownAuthority.key));
  const { renewable, problems } = await listenersToRenew({ config }, Date.now());
  expect(renewable).toEqual([]);
  expect(problems).toEqual([
    expect.stringContaining(
      `mqtt.certificate is not renewed: the key of its CA is not in ${join(folder, ownAuthority.key)}`,
    ),
    expect.stringContaining("web.tls.certificate"),
  ]);
});

it("says what it cannot renew before it makes the one of OPC UA", async () => {
  const { config, folder, putInStore } = await plantOf2010();
  rmSync(join(folder, ownAuthority.key));
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  await putInStore("own/private/private_key.pem", privateKey.export({ type: "pkcs8", format: "pem" }));
  const { code, out } = piped(folder, ["certs", "renew", "-c", config]);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^! mqtt\.certificate is not renewed: [\s\S]*\n! web[\s\S]*\n[0-9a-f]{40} .*\n {2}is the next one/,
  );
});
