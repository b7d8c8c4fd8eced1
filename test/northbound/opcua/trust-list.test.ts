import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpcUaOptions, OpcUaTrustList, OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createLive } from "../../../src/platform/live.ts";
import type { Given } from "../../support/live.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { openSession, startServer } from "./opcua-harness.ts";
import { createPlantAuthority, type IssuedFiles, type PlantAuthority } from "./plant-authority.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-authority-"));
const CLIENT = "urn:fleetgate:test-client";
const plc1: OpcUaUser = {
  name: "plc1",
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

const noTrustList: OpcUaTrustList = { trusted: [], issuers: [], revocationLists: [] };
const shownOf = ({ certificateFile, privateKeyFile: keyFile }: IssuedFiles, text = certificateFile) => ({
  certificateFile,
  keyFile,
  text,
});
/** A folder of its own: that of other tests has clients that were refused. */
const usual = (folder: string) => ({ ...options({}), dataDir: folder });

const options = (trustList: Partial<OpcUaTrustList>): Partial<Given<OpcUaOptions>> => ({
  dataDir,
  users: [plc1],
  insecureLoopback: null,
  applicationUri: "urn:plant:gateway",
  certificate: shownOf(server),
  trustList: { ...noTrustList, ...trustList },
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
  for (const trustList of [{ issuers: [authority.pem], revocationLists: [list] }, {}]) {
    const running = await startServer(options(trustList));
    await expect(openSession(running.url, { user, secure: true, identity: client })).rejects.toThrow();
    await running.stop();
  }
});

it("clients of an authority that a reload adds are let in; those of one that it takes are ended", async () => {
  const trustList = createLive(noTrustList);
  const running = await startServer({ ...usual(join(dataDir, "changing-server")), trustList });
  const follow = (next: Partial<OpcUaTrustList>) => trustList.replace({ ...noTrustList, ...next });
  const list = await authority.revoke();
  follow({ trusted: [authority.pem], revocationLists: [list] });
  // In the same turn: a client waits until the authority is trusted.
  const [first, second] = [
    await openSession(running.url, { user, secure: true, identity: client }),
    await openSession(running.url, { user, secure: true, identity: revoked }),
  ];
  const lostSecond = once(second.client, "connection_lost");
  follow({ trusted: [authority.pem], revocationLists: [await authority.revoke(revoked)] });
  await lostSecond;
  expect(await first.value("Gateway.Version")).toBe("0.0.0");
  await expect(openSession(running.url, { user, secure: true, identity: revoked })).rejects.toThrow();

  const lostFirst = once(first.client, "connection_lost");
  follow({});
  await expect(openSession(running.url, { user, secure: true, identity: client })).rejects.toThrow();
  await lostFirst;
  await expect.poll(() => running.server.health().figures?.sessions).toBe(0);
  await first.client.disconnect();
  await second.client.disconnect();
  await running.stop();
});

it("a disk that takes no trustList is told in the health, until it takes them", async () => {
  const trustList = createLive(noTrustList);
  const clock = createManualClock();
  const running = await startServer({ ...usual(join(dataDir, "full-server")), trustList }, { clock });
  // A file in the place of the folder takes nothing, also for root.
  const folder = join(dataDir, "full-server/opcua/server/issuers/crl");
  await rm(folder, { recursive: true });
  await writeFile(folder, "");
  const list = await authority.revoke();
  trustList.replace({ ...noTrustList, trusted: [authority.pem], revocationLists: [list] });
  const health = () => running.server.health();
  await expect.poll(() => health().state).toBe("degraded");
  expect(health().detail).toContain("cannot be written");
  await rm(folder);
  clock.advance(3_000);
  await expect.poll(() => health().state).toBe("up");
  const caller = await openSession(running.url, { user, secure: true, identity: client });
  await caller.close();
  await running.stop();
});

it("another file that the configuration names is shown to new clients", async () => {
  const application = { uri: "urn:plant:gateway", names: ["localhost"] };
  const next = await authority.issue(join(dataDir, "other-file"), application);
  const list = await authority.revoke();
  const certificate = createLive(shownOf(server));
  const running = await startServer({
    ...usual(join(dataDir, "other-file-server")),
    trustList: { ...noTrustList, trusted: [authority.pem], revocationLists: [list] },
    certificate,
  });
  const before = await openSession(running.url, { user, secure: true, identity: client });
  certificate.replace(shownOf(next));
  const after = await openSession(running.url, { user, secure: true, identity: client });
  const [endpoint] = await after.client.getEndpoints();
  const { serialNumber } = new X509Certificate(await readFile(next.certificateFile));
  expect(new X509Certificate(endpoint?.serverCertificate ?? Buffer.alloc(0)).serialNumber).toBe(serialNumber);
  expect(await before.value("Gateway.Version")).toBe("0.0.0");
  await before.close();
  await after.close();
  await running.stop();
});

it("the server's certificate that is written over is shown to new clients, with its key", async () => {
  const application = { uri: "urn:plant:gateway", names: ["localhost"] };
  const files = await authority.issue(join(dataDir, "written-over"), application);
  const list = await authority.revoke();
  const certificate = createLive(shownOf(files, "first"));
  const running = await startServer({
    ...options({ trusted: [authority.pem], revocationLists: [list] }),
    certificate,
    // The folder of the other tests has the client among those that were refused.
    dataDir: join(dataDir, "written-over-server"),
  });
  const serialOf = (bytes: Buffer) => new X509Certificate(bytes).serialNumber;
  const shown = async () => {
    const caller = await openSession(running.url, { user, secure: true, identity: client });
    const [endpoint] = await caller.client.getEndpoints();
    expect(await caller.value("Gateway.Version")).toBe("0.0.0");
    await caller.close();
    return serialOf(endpoint?.serverCertificate ?? Buffer.alloc(0));
  };
  const first = serialOf(await readFile(files.certificateFile));
  expect(await shown()).toBe(first);
  const next = await authority.issue(join(dataDir, "next"), application);
  await copyFile(next.certificateFile, files.certificateFile);
  await copyFile(next.privateKeyFile, files.privateKeyFile);
  certificate.replace(shownOf(files, "second"));
  const second = serialOf(await readFile(next.certificateFile));
  expect(second).not.toBe(first);
  expect(await shown()).toBe(second);
  await running.stop();
});
