// The x509 library wants this polyfill before it is loaded.
import "reflect-metadata";
import { createPrivateKey, generateKeyPairSync, webcrypto, X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  BasicConstraintsExtension,
  KeyUsagesExtension,
  Pkcs10CertificateRequest,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { afterEach, expect, it } from "vitest";
import { activateNext, importAnswer, makeNext, makeRequest } from "../../../src/cli/certs/renewal.ts";
import { algorithm, newPlant, type Plant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

const now = Date.now();
const DAY_MS = 86_400_000;
const [ownKey = "", otherKey = ""] = [1, 2].map(() =>
  generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey.export({ type: "pkcs8", format: "pem" }),
);

async function plantWithKey(key = ownKey, opcua = {}): Promise<Plant> {
  const plant = await newPlant({ alternateHostnames: ["10.1.2.3"], ...opcua });
  await plant.put("own/private/private_key.pem", key);
  return plant;
}

async function newAuthority() {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const name = "CN=Plant authority";
  const own = await X509CertificateGenerator.createSelfSigned({
    name,
    notBefore: new Date(now - DAY_MS),
    notAfter: new Date(now + 300 * DAY_MS),
    signingAlgorithm: algorithm,
    keys,
    extensions: [new BasicConstraintsExtension(true)],
  });
  return {
    pem: own.toString("pem"),
    /** Signs a request as it is, like most authorities do. */
    async sign(request: string, days = 200): Promise<string> {
      const asked = new Pkcs10CertificateRequest(request);
      const made = await X509CertificateGenerator.create({
        subject: asked.subject,
        issuer: name,
        notBefore: new Date(now - 300 * DAY_MS),
        notAfter: new Date(now + days * DAY_MS),
        signingAlgorithm: algorithm,
        publicKey: asked.publicKey,
        signingKey: keys.privateKey,
        extensions: asked.extensions,
      });
      return made.toString("pem");
    },
  };
}

const inUse = ({ store }: Plant) => readFileSync(join(store, "own/certs/certificate.pem"), "utf8");

it("a request asks for our key, application and names, and the answer is put in place with its chain", async () => {
  const plant = await plantWithKey();
  const text = await makeRequest(plant, now);
  expect(text).not.toContain("PRIVATE");
  const request = new Pkcs10CertificateRequest(text);
  expect(await request.verify()).toBe(true);
  const names = request.extensions.find((each) => each instanceof SubjectAlternativeNameExtension);
  expect(names?.names.items.map(({ value }) => value)).toEqual(
    expect.arrayContaining(["urn:fleetgate:plant1", "gateway.line1", "10.1.2.3"]),
  );
  expect(request.extensions.find((each) => each instanceof KeyUsagesExtension)?.usages).toBe(15);

  const authority = await newAuthority();
  const answer = join(plant.folder, "answer.pem");
  writeFileSync(answer, `${await authority.sign(text)}\n${authority.pem}\n`);
  const { facts, warnings } = await importAnswer(plant, answer, "own", now);
  expect(warnings).toEqual([]);
  expect(facts).toMatchObject({ applicationUri: "urn:fleetgate:plant1", daysLeft: 199 });
  expect(inUse(plant).match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
  expect(new X509Certificate(inUse(plant)).checkPrivateKey(createPrivateKey(ownKey))).toBe(true);
});

it("refuses an answer that does not fit, says why, and leaves the one in use", async () => {
  const plant = await plantWithKey();
  await makeNext(plant, now);
  await activateNext(plant, now);
  const before = inUse(plant);
  const [authority, stranger] = [await newAuthority(), await newAuthority()];
  const request = await makeRequest(plant, now);
  const otherRequest = await makeRequest(await plantWithKey(otherKey), now);
  const elsewhere = await plantWithKey();
  writeFileSync(elsewhere.config, "gateway: { id: plant2 }\nopcua: {}\n");
  const cases: ReadonlyArray<readonly [string, RegExp]> = [
    [await authority.sign(otherRequest), /is for another key/],
    [
      await authority.sign(await makeRequest(elsewhere, now)),
      /is for urn:fleetgate:plant2: .* urn:fleetgate:plant1/,
    ],
    [await authority.sign(request, -1), /has expired on/],
    [`${await authority.sign(request)}\n${stranger.pem}`, /is no chain: .* is not signed by/],
    [`${authority.pem}\n${await authority.sign(request)}`, /is for another key: the first certificate/],
    ["nothing", /no certificate that can be read/],
  ];
  const file = join(plant.folder, "answer.pem");
  for (const [text, problem] of cases) {
    writeFileSync(file, text);
    await expect(importAnswer(plant, file, "own", now), String(problem)).rejects.toThrow(problem);
  }
  await expect(importAnswer(plant, join(plant.folder, "none"), "own", now)).rejects.toThrow(/ENOENT/);
  expect(inUse(plant)).toBe(before);
});

it("the next certificate waits beside the one in use, and takes its place when it is activated", async () => {
  const plant = await plantWithKey();
  await expect(activateNext(plant, now)).rejects.toThrow(/no next certificate/);
  const first = await makeNext(plant, now);
  expect(first.warnings).toEqual([]);
  await activateNext(plant, now);
  const before = inUse(plant);
  const second = await makeNext(plant, now);
  expect(second.isWaiting).toBe(false);
  expect(second.facts.thumbprint).not.toBe(first.facts.thumbprint);
  expect(inUse(plant)).toBe(before);
  await activateNext(plant, now);
  expect(inUse(plant)).not.toBe(before);
  expect(readFileSync(join(plant.store, "own/certs/previous.pem"), "utf8").trim()).toBe(before.trim());
  expect(existsSync(join(plant.store, "own/certs/next.pem"))).toBe(false);
});

it("keeps a next certificate that waits already, unless it does not fit any more", async () => {
  const plant = await plantWithKey();
  const first = await makeNext(plant, now);
  expect(await makeNext(plant, now)).toEqual({ ...first, isWaiting: true });
  writeFileSync(
    plant.config,
    "gateway: { id: plant1 }\nopcua: { hostname: gateway.line1, alternateHostnames: [10.1.2.9] }\n",
  );
  const renamed = await makeNext(plant, now);
  expect(renamed.isWaiting).toBe(false);
  expect(renamed.facts.names).toContain("10.1.2.9");
  const later = await makeNext(plant, now + 3_640 * DAY_MS);
  expect(later.facts.thumbprint).not.toBe(renamed.facts.thumbprint);
});

it("says what is missing: a key, or that the certificate is the configuration's", async () => {
  await expect(makeRequest(await newPlant(), now)).rejects.toThrow(/no key yet .* start the gateway once/);
  const plant = await plantWithKey();
  await makeNext(plant, now);
  await activateNext(plant, now);
  const own = { certificate: "opcua.pem", key: "opcua.key" };
  const configured = await newPlant(own);
  writeFileSync(join(configured.folder, "opcua.pem"), inUse(plant));
  writeFileSync(join(configured.folder, "opcua.key"), ownKey, { mode: 0o600 });
  expect(await makeRequest(configured, now)).toContain("BEGIN CERTIFICATE REQUEST");
  await expect(makeNext(configured, now)).rejects.toThrow(/opcua\.certificate of the configuration names/);
});

it("writes through no link that lies in the service's folder", async () => {
  const plant = await plantWithKey();
  const outside = join(plant.folder, "outside");
  writeFileSync(outside, "as it was", { mode: 0o600 });
  for (const name of ["next.pem.new", "certificate.pem.new", "previous.pem.new", "certificate.pem"])
    symlinkSync(outside, join(plant.store, "own/certs", name));
  await makeNext(plant, now);
  await activateNext(plant, now);
  expect(readFileSync(outside, "utf8")).toBe("as it was");
  expect(statSync(outside).mode & 0o777).toBe(0o600);
  expect(existsSync(join(plant.store, "own/certs/previous.pem"))).toBe(false);
});
