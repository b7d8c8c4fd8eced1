import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { fullText, inventoryText } from "../../../src/cli/certs/certificate-text.ts";
import { takeInventory } from "../../../src/cli/certs/inventory.ts";
import { select } from "../../../src/northbound/opcua/certificate-store/move.ts";
import { clientCertificate, newPlant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

it("lists what waits, what is trusted, and what the configuration names, each with its faults", async () => {
  const plant = await newPlant({ trustedCas: "authority.pem", issuers: "missing.pem" });
  const own = await clientCertificate("Fleetgate", { uri: "urn:fleetgate:plant1" });
  const waiting = await clientCertificate("plc", { uri: null, usages: false });
  const trusted = await clientCertificate("scada", { days: 20 });
  const authority = await clientCertificate("authority", { days: -1 });
  await plant.put("own/certs/certificate.pem", own.pem);
  await plant.put("rejected/plc.der", waiting.der);
  await plant.put("trusted/certs/scada.pem", trusted.pem);
  await writeFile(join(plant.folder, "authority.pem"), authority.pem);

  const inventory = await takeInventory(plant, Date.now());
  const found = inventory.certificates.map(({ place, configKey, facts, warnings }) => [
    place,
    configKey,
    facts.thumbprint,
    warnings,
  ]);
  expect(found).toEqual([
    ["own", null, own.thumbprint, ["it does not name gateway.line1, localhost, 127.0.0.1"]],
    [
      "rejected",
      null,
      waiting.thumbprint,
      [
        "it names no application: OPC UA needs a URI in its subjectAltName",
        "its key usage lacks digitalSignature, nonRepudiation, keyEncipherment, dataEncipherment",
      ],
    ],
    ["trusted", null, trusted.thumbprint, ["it ends in 19 days"]],
    [
      "configuration",
      "opcua.trustedCas",
      authority.thumbprint,
      [expect.stringMatching(/^it has expired on \d{4}-\d\d-\d\d$/)],
    ],
  ]);
  expect(inventory.damaged).toEqual([
    {
      place: "configuration",
      path: "opcua.issuers (missing.pem)",
      problem: expect.stringContaining("does not exist"),
    },
  ]);
  const text = inventoryText(inventory);
  expect(text).toContain(`  ${waiting.thumbprint}  until `);
  expect(text).toMatch(/since \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  expect(text).toContain("names no application");
  expect(fullText(inventory.certificates.slice(2, 3))).toMatch(
    /^key usage +digitalSignature, nonRepudiation/m,
  );
});

it("reports that our own certificate is for another application", async () => {
  const plant = await newPlant();
  await plant.put("own/certs/certificate.pem", (await clientCertificate("x", { uri: "urn:other" })).pem);
  const { certificates } = await takeInventory(plant, Date.now());
  expect(certificates[0]?.warnings).toContain("it is for urn:other, and the gateway is urn:fleetgate:plant1");
});

it("lists damaged files as such: empty, random, cut off, a folder, a pipe, a huge one", async () => {
  const plant = await newPlant();
  const { der, pem } = await clientCertificate("scada");
  await plant.put("rejected/empty.pem", "");
  await plant.put("rejected/noise.pem", Buffer.alloc(5_000, 0xa5));
  await plant.put("rejected/cut.der", der.subarray(0, 300));
  await plant.put("rejected/cut.pem", pem.replace(/\n[^\n]*\n-----END/, "\n-----END"));
  await plant.put("rejected/huge.pem", Buffer.alloc(1_000_001));
  await mkdir(join(plant.store, "rejected/folder"));
  execFileSync("mkfifo", [join(plant.store, "rejected/pipe.pem")]);
  const { certificates, damaged } = await takeInventory(plant, Date.now());
  expect(certificates).toEqual([]);
  expect(damaged.map(({ path, problem }) => [path.split("/").at(-1), problem]).sort()).toEqual([
    ["cut.der", "holds no certificate that can be read"],
    ["cut.pem", "holds no certificate that can be read"],
    ["empty.pem", "is empty"],
    ["folder", "is no file"],
    ["huge.pem", "is larger than 1000000 bytes"],
    ["noise.pem", "holds no certificate that can be read"],
    ["pipe.pem", "is no file"],
  ]);
});

it("a stranger's name cannot steer the terminal, nor add a line", async () => {
  const plant = await newPlant();
  const name = "plc\u001b[2J\r\nTrusted: all\u202e";
  await plant.put("rejected/x.pem", (await clientCertificate(name, { uri: "urn:\u001b]0;x\u0007" })).pem);
  const inventory = await takeInventory(plant, Date.now());
  for (const text of [inventoryText(inventory), fullText(inventory.certificates)]) {
    expect(text).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
    expect(text).toContain("\\u001b[2J");
    expect(text).not.toMatch(/^Trusted/m);
  }
});

it("finds a certificate by the beginning of a thumbprint, and refuses one that fits several", async () => {
  const plant = await newPlant();
  const clients = await Promise.all(["a", "b"].map((name) => clientCertificate(name)));
  for (const [index, { pem }] of clients.entries()) await plant.put(`rejected/${index}.pem`, pem);
  const { certificates } = await takeInventory(plant, Date.now());
  const [first] = certificates;
  if (first === undefined) throw new Error("there is none");
  const { thumbprint, sha256 } = first.facts;
  const withColons = (thumbprint.toUpperCase().match(/../g) ?? []).join(":");
  for (const wanted of [thumbprint, sha256, thumbprint.slice(0, 8), withColons])
    expect(select(certificates, wanted)).toEqual([first]);
  expect(() => select(certificates, "0123456789abcdef0123")).toThrow(/no certificate has the thumbprint/);
  expect(() => select(certificates, "abc")).toThrow(/at least its first 4/);
  expect(() => select(certificates, "../../etc")).toThrow(/is no thumbprint/);
  const alike = certificates.map((each, index) => ({
    ...each,
    facts: { ...each.facts, thumbprint: `abcd${index}` },
  }));
  expect(() => select(alike, "ABCD")).toThrow(/fits 2 certificates; give more of it:\n {2}abcd0 {2}CN=/);
});

it("a mistake elsewhere in the configuration is no obstacle", async () => {
  const plant = await newPlant({ missionSlots: 99 });
  await plant.put("rejected/x.pem", (await clientCertificate("plc")).pem);
  const { certificates, configured } = await takeInventory(plant, Date.now());
  expect(configured.opcua).toBeNull();
  expect(certificates).toHaveLength(1);
});

it("says that only the thumbprint tells waiting certificates of one name and URI apart", async () => {
  const plant = await newPlant();
  const alike = /only the thumbprint tells them apart/g;
  await plant.put("rejected/a.pem", (await clientCertificate("plc")).pem);
  await plant.put("rejected/b.pem", (await clientCertificate("plc", { uri: "urn:line1:other" })).pem);
  await plant.put("rejected/c.pem", (await clientCertificate("hmi")).pem);
  await plant.put("trusted/certs/d.pem", (await clientCertificate("plc", { days: 200 })).pem);
  expect(inventoryText(await takeInventory(plant, Date.now()))).not.toMatch(alike);

  await plant.put("rejected/e.pem", (await clientCertificate("plc", { days: 100 })).pem);
  expect(inventoryText(await takeInventory(plant, Date.now())).match(alike)).toHaveLength(2);
});
