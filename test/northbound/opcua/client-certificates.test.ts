import "reflect-metadata";
import { mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { X509CertificateGenerator } from "@peculiar/x509";
import { StatusCodes } from "node-opcua";
import { afterAll, expect, test } from "vitest";
import {
  type ClientCertificates,
  createClientCertificates,
} from "../../../src/northbound/opcua/client-certificates.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { silentLog } from "../../../src/platform/log.ts";

const algorithm = {
  name: "RSASSA-PKCS1-v1_5",
  hash: "SHA-256",
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2_048,
};
const folder = mkdtempSync(join(tmpdir(), "fleetgate-clients-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function clientCertificate(name: string): Promise<Buffer> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ["sign", "verify"]);
  const made = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    signingAlgorithm: algorithm,
    keys,
  });
  return Buffer.from(made.rawData);
}

async function openStore(name: string): Promise<ClientCertificates> {
  const store = createClientCertificates(join(folder, name), systemClock, silentLog);
  await store.manager.initialize();
  return store;
}

/** As an operator does it. */
function approve({ manager }: ClientCertificates): void {
  const names = readdirSync(manager.rejectedFolder);
  expect(names).toHaveLength(1);
  for (const name of names) renameSync(join(manager.rejectedFolder, name), join(manager.trustedFolder, name));
}

/** The server asks in this way; node-opcua types only the older one. */
const check = ({ manager }: ClientCertificates, certificate: Buffer) =>
  (manager.checkCertificate as (chain: Buffer) => Promise<unknown>)(certificate);

test("a certificate that nobody knows waits for approval, and is good as soon as it is approved", async () => {
  const store = await openStore("plain");
  const certificate = await clientCertificate("scada: line/1");
  expect(await check(store, certificate)).toBe(StatusCodes.BadCertificateUntrusted);
  expect(await check(store, certificate)).toBe(StatusCodes.BadCertificateUntrusted);
  approve(store);
  expect(await check(store, certificate)).toBe(StatusCodes.Good);
  await store.manager.dispose();
});

test("an approval that falls between the verdict on a client and its note stays", async () => {
  const store = await openStore("race");
  const certificate = await clientCertificate("scada");
  await check(store, certificate);

  const verify = store.manager.verifyCertificate.bind(store.manager);
  Reflect.set(store.manager, "verifyCertificate", async (...asked: Parameters<typeof verify>) => {
    const verdict = await verify(...asked);
    Reflect.set(store.manager, "verifyCertificate", verify);
    approve(store);
    await store.manager.reloadCertificates();
    return verdict;
  });
  expect(await check(store, certificate)).toBe(StatusCodes.Good);
  expect(readdirSync(store.manager.trustedFolder)).toHaveLength(1);
  expect(readdirSync(store.manager.rejectedFolder)).toEqual([]);
  expect(await check(store, certificate)).toBe(StatusCodes.Good);
  await store.manager.dispose();
});
