import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createCa } from "../../src/simulator/tls/identity.ts";
import { createPlantAuthority, type PlantAuthority } from "../northbound/opcua/plant-authority.ts";
import { type ConfigFolder, createConfigFolder, minimal } from "./config-folder.ts";

const made = mkdtempSync(join(tmpdir(), "fleetgate-certificates-"));
const DAY_MS = 86_400_000;
let folder: ConfigFolder;
let authority: PlantAuthority;
beforeAll(async () => {
  authority = await createPlantAuthority();
});
afterAll(() => rmSync(made, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await createConfigFolder();
});
afterEach(async () => {
  await folder[Symbol.asyncDispose]();
});

async function issue(options: { bits?: number; lifeMs?: number; uri?: string } = {}) {
  const files = await authority.issue(join(made, "gate"), { uri: "urn:plant:gateway", ...options });
  await folder.write("gate.pem", readFileSync(files.certificateFile, "utf8"));
  await folder.write("gate.key", readFileSync(files.privateKeyFile, "utf8"));
}
const withCertificate = `${minimal}opcua:\n  certificate: gate.pem\n  key: gate.key\n`;

it("OPC UA's certificate names the application, and CAs and lists come one by one", async () => {
  await issue();
  await folder.write("authorities.pem", `${authority.pem}\n${authority.pem}\n`);
  await folder.write("crl.pem", await authority.revoke());
  const { opcua } = await folder.config(
    `${withCertificate}  trustedCas: authorities.pem\n  issuers: authorities.pem\n  revocationLists: crl.pem\n`,
  );
  expect(opcua?.applicationUri).toBe("urn:plant:gateway");
  expect(opcua?.certificate?.certificateFile).toBe(join(folder.path, "gate.pem"));
  expect(opcua?.certificate?.keyFile).toBe(join(folder.path, "gate.key"));
  expect(opcua?.trustList.trusted).toHaveLength(2);
  expect(opcua?.trustList.issuers).toHaveLength(2);
  expect(opcua?.trustList.revocationLists).toHaveLength(1);
});

it("without one, the gateway is named by its id, and makes its own", async () => {
  const { opcua, gateway } = await folder.config(`${minimal}opcua: {}\n`);
  expect(opcua).toMatchObject({ certificate: null, applicationUri: `urn:fleetgate:${gateway.id}` });
});

it("a certificate that OPC UA cannot use is told", async () => {
  await issue({ bits: 1024 });
  expect(await folder.problems(withCertificate)).toEqual([
    expect.stringContaining("OPC UA needs RSA with at least 2048 bits"),
  ]);
  const other = await createCa(Date.now());
  await folder.write("gate.pem", other.certificate);
  await folder.write("gate.key", other.key);
  expect(await folder.problems(withCertificate)).toEqual([expect.stringContaining("a key of another kind")]);
  expect(await folder.problems(`${minimal}opcua:\n  certificate: gate.pem\n`)).toEqual([
    expect.stringContaining("a key of another kind"),
    expect.stringContaining("opcua.certificate: needs key beside it"),
  ]);
  await folder.write("crl.pem", other.certificate);
  expect(await folder.problems(`${minimal}opcua:\n  revocationLists: crl.pem\n`)).toEqual([
    expect.stringContaining("holds no revocation list"),
  ]);
});

it("a certificate that has expired does not keep the gateway from starting, and is told apart", async () => {
  await issue({ lifeMs: -DAY_MS });
  expect(await folder.load(withCertificate)).toMatchObject({
    ok: true,
    outdated: [{ path: "opcua.certificate", message: expect.stringContaining("gate.pem has expired on ") }],
  });
  await issue({ lifeMs: 10 * DAY_MS });
  expect(await folder.load(withCertificate)).toMatchObject({
    ok: true,
    outdated: [],
    warnings: expect.arrayContaining([
      expect.objectContaining({ message: expect.stringContaining("gate.pem expires on ") }),
    ]),
  });
});
