import { X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { copyFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OPCUACertificateManager } from "node-opcua";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CertificateContent } from "../../../src/northbound/opcua/certificate-content.ts";
import { selfSigned } from "../../../src/northbound/opcua/made-certificate.ts";
import type { OpcUaOptions } from "../../../src/northbound/opcua/options.ts";
import { keepOwnCertificate } from "../../../src/northbound/opcua/own-certificate.ts";
import { type Log, silentLog } from "../../../src/platform/log.ts";
import { createManualClock } from "../../support/manual-clock.ts";
import { newClient, opcUaOptions, startServer } from "./opcua-harness.ts";
import { createPlantAuthority } from "./plant-authority.ts";

const dataDir = mkdtempSync(join(tmpdir(), "fleetgate-opcua-certificate-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const own = join(dataDir, "opcua", "server", "own");
const DAY_MS = 86_400_000;

/** The certificate in the folder, and its key. */
async function kept() {
  return {
    certificate: new X509Certificate(await readFile(join(own, "certs", "certificate.pem"))),
    key: await readFile(join(own, "private", "private_key.pem"), "utf8"),
  };
}

/** Starts the server on the folder, as the first or as one of its later starts. */
async function keptBy(options: Partial<OpcUaOptions>) {
  await (await startServer({ dataDir, ...options })).stop();
  return kept();
}

it("the certificate names every host that endpoints advertise, and is renewed with the same key when they change", {
  timeout: 60_000,
}, async () => {
  const options = { hostname: "gateway1.plant.example", alternateHostnames: ["10.1.2.3", "gate"] };
  const first = await keptBy(options);
  for (const name of ["gateway1.plant.example", "gate", "localhost"]) {
    expect(first.certificate.checkHost(name), name).toBe(name);
  }
  expect(first.certificate.checkIP("10.1.2.3")).toBe("10.1.2.3");
  expect(first.certificate.subjectAltName).toContain("URI:urn:fleetgate:test");
  const renamed = await keptBy({ ...options, hostname: "gateway2.plant.example" });
  expect(renamed.certificate.checkHost("gateway2.plant.example")).toBe("gateway2.plant.example");
  expect(renamed.key).toBe(first.key);
});

/** A certificate has no properties that could be compared. */
function facts({ certificate, key }: Awaited<ReturnType<typeof kept>>) {
  return { fingerprint: certificate.fingerprint, key };
}

/** A log that keeps what it is warned of. */
function warnings() {
  const said: string[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void said.push(`${message} ${JSON.stringify(fields)}`),
    child: () => log,
  };
  return { said, log };
}

it("a machine that has another name keeps the certificate that clients trust", {
  timeout: 60_000,
}, async () => {
  const assumed = { isHostnameAssumed: true };
  const before = await keptBy({ hostname: "container-1", ...assumed });
  const { said, log } = warnings();
  await (await startServer({ dataDir, hostname: "container-2", ...assumed }, { log })).stop();
  expect(facts(await kept())).toEqual(facts(before));
  expect(said.join("\n")).toMatch(/does not name container-2.*set opcua\.hostname/);
});

it("a gateway that runs keeps its certificate when its clock is set to 2069", async () => {
  const clock = createManualClock(Date.now());
  const { said, log } = warnings();
  const running = await startServer({ dataDir, hostname: "container-1" }, { clock, log });
  const before = await kept();
  clock.jump(Date.UTC(2069, 0, 1) - clock.nowMs());
  clock.advance(DAY_MS);
  await expect.poll(() => said.join("\n")).toMatch(/stays as it is.*2069-01-0.*set the clock/);
  expect(facts(await kept())).toEqual(facts(before));
  await running.stop();
});

describe("the gateway's own certificate", () => {
  const manager = new OPCUACertificateManager({ rootFolder: join(dataDir, "opcua", "server") });
  const content = { applicationUri: "urn:fleetgate:test", names: ["gate", "localhost"] };
  /** By a program that was built the day before. */
  const keep = async (
    changed: Partial<CertificateContent> = {},
    nowMs = Date.now(),
    builtAtMs = nowMs - DAY_MS,
  ) => {
    const { said, log } = warnings();
    const isNew = await keepOwnCertificate(manager, { ...content, ...changed }, { nowMs, builtAtMs }, log);
    return { isNew, said: said.join("\n"), ...(await kept()) };
  };
  /** As after the first start. */
  const makeAnew = async () => {
    await rm(join(own, "certs", "certificate.pem"));
    return keep();
  };
  beforeAll(async () => {
    await manager.initialize();
    await keep();
  });
  afterAll(() => manager.dispose());

  it("stays as it is while nothing changes, whatever names look like", async () => {
    expect((await keep()).isNew).toBe(false);
    const unlike = { names: ["::1", "fd00::1:2", "plc_net", "GATE", "gäte.example", "10.1.2.3"] };
    expect((await keep(unlike)).isNew).toBe(true);
    expect((await keep(unlike)).isNew).toBe(false);
  });

  it("is renewed with the same key for another application", async () => {
    const before = await kept();
    const another = await keep({ applicationUri: "urn:fleetgate:other" });
    expect(another.certificate.subjectAltName).toContain("URI:urn:fleetgate:other");
    expect(another.key).toBe(before.key);
  });

  it("is renewed for an application whose name begins like the one before", async () => {
    await keep({ applicationUri: "urn:fleetgate:test10" });
    const renamed = await keep({ applicationUri: "urn:fleetgate:test1" });
    expect(renamed.isNew).toBe(true);
    expect(renamed.certificate.subjectAltName).toMatch(/URI:urn:fleetgate:test1,/);
  });

  it("stays beside the one that replaces it", async () => {
    const text = await readFile(join(own, "certs", "certificate.pem"), "utf8");
    const { said } = await keep({ names: ["gate2", "localhost"] });
    const [, file = ""] = /"replaced":"([^"]*)"/.exec(said) ?? [];
    expect(file).toMatch(/own\/certs\/certificate-[0-9a-f]{16}\.pem$/);
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it.each([
    ["before the program was built", Date.UTC(2010, 0, 1)],
    ["in 2038", Date.UTC(2038, 0, 19)],
    ["in 2069", Date.UTC(2069, 0, 1)],
  ])("stays when the clock is %s, and no next one is made", async (_when, nowMs) => {
    const before = await makeAnew();
    const { isNew, said, certificate } = await keep({}, nowMs, Date.now() - DAY_MS);
    expect([isNew, certificate.fingerprint]).toEqual([false, before.certificate.fingerprint]);
    expect(said).toContain("set the clock");
    await expect(readFile(join(own, "certs", "next.pem"))).rejects.toThrow(/ENOENT/);
  });

  it("is not made when the clock is before the program was built", async () => {
    await rm(join(own, "certs", "certificate.pem"));
    const made = keep({}, Date.UTC(2010, 0, 1), Date.now() - DAY_MS);
    await expect(made).rejects.toThrow(/made when the clock is right: .*2010-01-01.*set the clock/);
    await expect(readFile(join(own, "certs", "certificate.pem"))).rejects.toThrow(/ENOENT/);
    await keep();
  });

  it("is valid when the first start had a clock of 2069", async () => {
    await rm(join(own, "certs", "certificate.pem"));
    const { certificate } = await keep({}, Date.UTC(2069, 0, 1), Date.now() - DAY_MS);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
    expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.now() + 3_600 * DAY_MS);
  });

  it("stays when it is of the future, and the log says how to make another", async () => {
    const later = Date.now() + 365 * DAY_MS;
    await rm(join(own, "certs", "certificate.pem"));
    const before = await keep({}, later);
    const { isNew, said, certificate } = await keep();
    expect([isNew, certificate.fingerprint]).toEqual([false, before.certificate.fingerprint]);
    expect(said).toMatch(/not valid before .* fleetgate certs renew/);
    await makeAnew();
  });

  it("is renewed with the same key a month before it ends", async () => {
    const first = await keep();
    const endMs = Date.parse(first.certificate.validTo);
    expect((await keep({}, endMs - 31 * DAY_MS)).isNew).toBe(false);
    const late = await keep({}, endMs - 29 * DAY_MS);
    expect(late.isNew).toBe(true);
    expect(Date.parse(late.certificate.validTo)).toBeGreaterThan(endMs + 365 * DAY_MS);
    expect(late.key).toBe(first.key);
    await makeAnew();
  });

  it("has its next one beside it two months before its end, which then takes its place", async () => {
    const next = join(own, "certs", "next.pem");
    const endMs = Date.parse((await keep()).certificate.validTo);
    await keep({}, endMs - 61 * DAY_MS);
    await expect(readFile(next)).rejects.toThrow(/ENOENT/);
    expect((await keep({}, endMs - 59 * DAY_MS)).isNew).toBe(false);
    const prepared = new X509Certificate(await readFile(next));
    expect((await keep({}, endMs - 31 * DAY_MS)).isNew).toBe(false);
    expect(new X509Certificate(await readFile(next)).fingerprint).toBe(prepared.fingerprint);
    const after = await keep({}, endMs - 29 * DAY_MS);
    expect([after.isNew, after.certificate.fingerprint]).toEqual([true, prepared.fingerprint]);
    await expect(readFile(next)).rejects.toThrow(/ENOENT/);
    await makeAnew();
  });

  it("is not touched when an authority has signed it", async () => {
    const issued = await (await createPlantAuthority()).issue(join(dataDir, "plant"), { uri: "urn:plant" });
    const file = join(own, "certs", "certificate.pem");
    await copyFile(issued.certificateFile, file);
    expect((await keep()).isNew).toBe(false);
    expect((await kept()).certificate.issuer).toContain("Plant authority");
  });

  it("of an authority does not give way to a prepared one that signs itself", async () => {
    const key = await readFile(manager.privateKey, "utf8");
    const next = join(own, "certs", "next.pem");
    await writeFile(next, await selfSigned(key, content, Date.now()));
    expect((await keep()).isNew).toBe(false);
    expect((await kept()).certificate.issuer).toContain("Plant authority");
  });
});

it("a certificate that was put in place while the server runs is shown at the next look", async () => {
  const clock = createManualClock(Date.now());
  const running = await startServer({}, { clock });
  const client = newClient();
  await client.connect(running.url);
  const shown = async () => {
    const [endpoint] = await client.getEndpoints();
    return new X509Certificate(endpoint?.serverCertificate ?? Buffer.alloc(0)).fingerprint;
  };
  const before = await shown();
  const folder = join(opcUaOptions().dataDir, "opcua/server/own");
  const key = await readFile(join(folder, "private/private_key.pem"), "utf8");
  const file = join(folder, "certs/certificate.pem");
  const content = { applicationUri: "urn:fleetgate:test", names: ["localhost", "127.0.0.1"] };
  const text = await selfSigned(key, content, Date.now());
  await writeFile(`${file}.draft`, "of nobody");
  await rename(`${file}.draft`, file);
  clock.advance(5_000);
  expect(await shown()).toBe(before);
  await writeFile(`${file}.draft`, text);
  await rename(`${file}.draft`, file);
  await expect
    .poll(
      () => {
        clock.advance(5_000);
        return shown();
      },
      { timeout: 20_000 },
    )
    .toBe(new X509Certificate(text).fingerprint);
  expect(before).not.toBe(new X509Certificate(text).fingerprint);
  await client.disconnect();
  await running.stop();
});

it("endpoints are told with the address that the client used, where the certificate names it", async () => {
  const running = await startServer({
    hostname: "gateway1.plant.example",
    alternateHostnames: ["127.0.0.1"],
  });
  const port = new URL(running.url.replace("opc.tcp", "tcp")).port;
  const told = async (url: string, asked = url) => {
    const client = newClient();
    await client.connect(url);
    const endpoints = await client.getEndpoints({ endpointUrl: asked });
    await client.disconnect();
    return [...new Set(endpoints.map(({ endpointUrl }) => endpointUrl))];
  };
  expect(await told(`opc.tcp://localhost:${port}`)).toEqual([`opc.tcp://localhost:${port}`]);
  expect(await told(`opc.tcp://127.0.0.1:${port}`)).toEqual([`opc.tcp://127.0.0.1:${port}`]);
  // A forwarded port is the client's way, and none that the server knows of.
  expect(await told(`opc.tcp://127.0.0.1:${port}`, "opc.tcp://localhost:14840")).toEqual([
    "opc.tcp://localhost:14840",
  ]);
  expect(await told(`opc.tcp://127.0.0.1:${port}`, "opc.tcp://evil.example:4840")).toContain(
    `opc.tcp://gateway1.plant.example:${port}`,
  );
  await running.stop();
});
