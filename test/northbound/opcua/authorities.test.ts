import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpcUaOptions, OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { openSession, startServer } from "./opcua-harness.ts";
import { createPlantAuthority, type IssuedFiles, type PlantAuthority } from "./plant-authority.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-authority-"));
const CLIENT = "urn:fleetgate:test-client";
const plc1: OpcUaUser = {
  name: "plc1",
  confirms: false,
  number: null,
  role: "operator",
  secret: { kind: "plain", text: "plc secret" },
};
const user = { name: "plc1", password: "plc secret" };
let authority: PlantAuthority;
let server: IssuedFiles;
let client: IssuedFiles;
let revoked: IssuedFiles;

beforeAll(async () => {
  authority = await createPlantAuthority();
  server = await authority.issue(join(dataDir, "server"), { uri: "urn:plant:gateway", names: ["localhost"] });
  client = await authority.issue(join(dataDir, "client"), { uri: CLIENT });
  revoked = await authority.issue(join(dataDir, "revoked"), { uri: CLIENT });
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const options = (authorities: Partial<OpcUaOptions["authorities"]>): Partial<OpcUaOptions> => ({
  dataDir,
  users: [plc1],
  insecureLoopback: null,
  applicationUri: "urn:plant:gateway",
  certificate: { certificateFile: server.certificateFile, keyFile: server.privateKeyFile },
  authorities: { trusted: [], issuers: [], revocationLists: [], ...authorities },
});

it("a certificate of the plant's authority is shown with its issuers, and its clients are let in", async () => {
  const list = await authority.revoke(revoked);
  const running = await startServer(options({ trusted: [authority.pem], revocationLists: [list] }));
  const caller = await openSession(running.url, { user, secure: true, identity: client });
  const [endpoint] = await caller.client.getEndpoints();
  const chain = endpoint?.serverCertificate ?? Buffer.alloc(0);
  expect(new X509Certificate(chain).subjectAltName).toContain("URI:urn:plant:gateway");
  expect(endpoint?.server.applicationUri).toBe("urn:plant:gateway");
  expect(chain.includes(new X509Certificate(authority.pem).raw)).toBe(true);
  expect(await caller.value("Gateway.Version")).toBe("0.0.0");
  await caller.close();
  await expect(openSession(running.url, { user, secure: true, identity: revoked })).rejects.toThrow();
  await running.stop();
});

it("an issuer that only completes chains lets nobody in, and an authority that is named no more neither", async () => {
  const list = await authority.revoke();
  for (const authorities of [{ issuers: [authority.pem], revocationLists: [list] }, {}]) {
    const running = await startServer(options(authorities));
    await expect(openSession(running.url, { user, secure: true, identity: client })).rejects.toThrow();
    await running.stop();
  }
});
