import { createHash, X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { copyFile, readdir, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CreateSessionRequest, type OPCUAClient } from "node-opcua";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpcUaUser } from "../../../src/northbound/opcua/options.ts";
import { createLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newClient, openSession, type RunningServer, startServer } from "./opcua-harness.ts";
import { createPlantAuthority, type IssuedFiles, type PlantAuthority } from "./plant-authority.ts";
import { openRelay } from "./relay.ts";

const BAD_SECURITY_CHECKS_FAILED = 0x8013_0000;
const CLIENT = "urn:fleetgate:test-client";
const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-refused-"));
const plc1: OpcUaUser = {
  name: "plc1",
  number: null,
  role: "operator",
  secret: { kind: "plain", text: "plc secret" },
};
const user = { name: "plc1", password: "plc secret" };
const lines: string[] = [];
let authority: PlantAuthority;
let running: RunningServer;

beforeAll(async () => {
  authority = await createPlantAuthority();
  running = await startServer(
    {
      dataDir,
      users: [plc1],
      insecureLoopback: null,
      trustList: { trusted: [authority.pem], issuers: [], revocationLists: [await authority.revoke()] },
    },
    { log: createLog("debug", { write: (line) => void lines.push(line) }) },
  );
});
afterAll(async () => {
  await running.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** What the server sent to a client, frame by frame, as a client of any stack sees it. */
async function framesTo(identity?: IssuedFiles, url = running.url): Promise<readonly Buffer[]> {
  const relay = await openRelay(url);
  const login = { user, secure: true, ...(identity === undefined ? {} : { identity }) };
  await openSession(relay.url, login).then(
    () => Promise.reject(new Error("it was let in")),
    () => {},
  );
  relay.close();
  const bytes = relay.answered();
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 4)) {
    frames.push(bytes.subarray(at, at + bytes.readUInt32LE(at + 4)));
  }
  return frames;
}

function expectErrorMessage(frames: readonly Buffer[], status: number): void {
  const last = frames.at(-1) ?? Buffer.alloc(16);
  expect(last.toString("latin1", 0, 4)).toBe("ERRF");
  expect(last.readUInt32LE(8)).toBe(status);
  expect(last.readUInt32LE(12)).toBe(last.length - 16);
}

const refusals = () => lines.filter((line) => line.includes("an OPC UA client was refused"));

it("a client that nobody approved is told so in an error message, and the log says once how to approve it", async () => {
  expectErrorMessage(await framesTo(), BAD_SECURITY_CHECKS_FAILED);
  const [file = ""] = await readdir(join(dataDir, "opcua", "server", "rejected"));
  const certificate = new X509Certificate(readFileSync(join(dataDir, "opcua", "server", "rejected", file)));
  expectErrorMessage(await framesTo(), BAD_SECURITY_CHECKS_FAILED);
  expect(refusals()).toHaveLength(1);
  expect(JSON.parse(refusals()[0] ?? "")).toMatchObject({
    thumbprint: createHash("sha1").update(certificate.raw).digest("hex"),
    subject: expect.stringContaining("CN="),
    status: "BadCertificateUntrusted",
    approve: expect.stringMatching(/^fleetgate certs approve [0-9a-f]{40} --data '\/.*'$/),
  });
  expect(running.server.health().figures?.certificatesRefused).toBe(2);
});

it("a client that knocks all the time is let in as soon as its certificate lies among the trusted ones", async () => {
  const folder = join(dataDir, "opcua", "server");
  const [file = ""] = await readdir(join(folder, "rejected"));
  // As if it had knocked between the operator's move and the store's next look.
  await copyFile(join(folder, "rejected", file), join(folder, "trusted", "certs", file));
  const caller = await openSession(running.url, { user, secure: true });
  await caller.close();
  expect(await readdir(join(folder, "rejected"))).not.toContain(file);
});

it("the newest 200 certificates wait for approval: anybody can make more", async () => {
  const rejected = join(dataDir, "opcua", "server", "rejected");
  for (let i = 0; i < 210; i += 1) writeFileSync(join(rejected, `flood-${i}.pem`), "");
  await framesTo(
    await createPlantAuthority().then((other) => other.issue(join(dataDir, "new"), { uri: CLIENT })),
  );
  expect(await readdir(rejected)).toHaveLength(200);
});

it("a flood lets in no client of the plant's authority that was rejected", async () => {
  const store = join(dataDir, "opcua", "server");
  const spare = await authority.issue(join(dataDir, "spare"), { uri: CLIENT });
  await (await openSession(running.url, { user, secure: true, identity: spare })).close();
  const thumbprint = createHash("sha1").update(Buffer.from(spare.certificate.rawData)).digest("hex");
  const file = join(store, "rejected", `spare[${thumbprint}].pem`);
  await writeFile(file, spare.certificate.toString("pem"));
  await utimes(file, 1, 1);
  for (let i = 0; i < 210; i += 1) await writeFile(join(store, "rejected", `more-${i}.pem`), "");
  const stranger = await createPlantAuthority();
  await framesTo(await stranger.issue(join(dataDir, "stranger"), { uri: CLIENT }));
  expect(await readdir(join(store, "rejected"))).toHaveLength(201);
  expectErrorMessage(await framesTo(spare), BAD_SECURITY_CHECKS_FAILED);
});

it("a client that was rejected is told so, also while the server looks for those to end", async () => {
  const clock = createManualClock(Date.now());
  const folder = join(dataDir, "looking");
  const looking = await startServer({ dataDir: folder, users: [plc1], insecureLoopback: null }, { clock });
  await framesTo(undefined, looking.url);
  expect(await readdir(join(folder, "opcua", "server", "rejected"))).toHaveLength(1);
  // node-opcua holds a refusal back for a tenth of a second.
  const passing = setInterval(() => clock.advance(3_000), 20);
  const frames = await framesTo(undefined, looking.url);
  clearInterval(passing);
  await looking.stop();
  expectErrorMessage(frames, BAD_SECURITY_CHECKS_FAILED);
});

it("a key below 2,048 bits is refused, with any signature", async () => {
  const weak = await authority.issue(join(dataDir, "weak"), { uri: CLIENT, bits: 1024 });
  expectErrorMessage(await framesTo(weak), BAD_SECURITY_CHECKS_FAILED);
  expect(refusals().at(-1)).toContain("BadCertificatePolicyCheckFailed");
  const strong = await authority.issue(join(dataDir, "strong"), { uri: CLIENT });
  const caller = await openSession(running.url, { user, secure: true, identity: strong });
  await caller.close();
});

it("a trusted client whose certificate names another application is named in the log, and counted", async () => {
  const before = Number(running.server.health().figures?.certificatesRefused);
  const other = await authority.issue(join(dataDir, "other"), { uri: "urn:line2:scada" });
  for (let count = 0; count < 2; count += 1) {
    const client = newClient(true, other);
    callItself(client, CLIENT);
    await client.connect(running.url);
    await expect(client.createSession()).rejects.toThrow(/BadCertificateUriInvalid/);
    await client.disconnect();
  }
  const told = refusals().filter((line) => line.includes("BadCertificateUriInvalid"));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? "")).toMatchObject({
    thumbprint: createHash("sha1").update(Buffer.from(other.certificate.rawData)).digest("hex"),
    subject: expect.stringContaining("CN="),
    from: expect.stringContaining("127.0.0.1"),
    applicationUri: CLIENT,
    uris: ["urn:line2:scada"],
    why: "its certificate is for another application than the client says",
  });
  expect(running.server.health().figures?.certificatesRefused).toBe(before + 2);
});

it("a client that has kept another certificate of the gateway is named in the log, and counted", async () => {
  const before = Number(running.server.health().figures?.certificatesRefused);
  const known = await authority.issue(join(dataDir, "known"), { uri: CLIENT });
  const own = join(dataDir, "opcua", "server", "own", "certs", "certificate.pem");
  const gatewayHas = createHash("sha1")
    .update(new X509Certificate(readFileSync(own)).raw)
    .digest("hex");
  const old = await authority.issue(join(dataDir, "old"), { uri: "urn:fleetgate:test" });
  for (let count = 0; count < 2; count += 1) {
    const client = newClient(true, known, Buffer.from(old.certificate.rawData));
    await expect(client.connect(running.url)).rejects.toThrow();
    await client.disconnect();
  }
  const told = refusals().filter((line) => line.includes("has kept another certificate"));
  expect(told).toHaveLength(1);
  expect(JSON.parse(told[0] ?? "")).toMatchObject({
    thumbprint: createHash("sha1").update(Buffer.from(known.certificate.rawData)).digest("hex"),
    subject: expect.stringContaining("CN="),
    from: expect.stringContaining("127.0.0.1"),
    expects: createHash("sha1").update(Buffer.from(old.certificate.rawData)).digest("hex"),
    gatewayHas,
    do: expect.stringContaining("trust"),
  });
  expect(running.server.health().figures?.certificatesRefused).toBe(before + 2);
});

/** node-opcua's client takes its URI from its certificate, so the request is changed on its way. */
function callItself(client: OPCUAClient, applicationUri: string): void {
  const perform: unknown = Reflect.get(client, "performMessageTransaction");
  if (typeof perform !== "function") throw new Error("node-opcua's client sends its requests elsewhere now");
  Reflect.set(client, "performMessageTransaction", (request: unknown, ...rest: unknown[]) => {
    if (request instanceof CreateSessionRequest) request.clientDescription.applicationUri = applicationUri;
    return perform.call(client, request, ...rest);
  });
}
