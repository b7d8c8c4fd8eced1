import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { takeInventory } from "../../../src/cli/certs/inventory.ts";
import { moveCertificates } from "../../../src/northbound/opcua/certificate-store/move.ts";
import { clientCertificate, newPlant, type Plant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

async function move(plant: Plant, to: "trusted" | "rejected", ...wanted: string[]) {
  const { certificates } = await takeInventory(plant, Date.now());
  return moveCertificates(plant.store, certificates, wanted, to);
}

const namesIn = ({ store }: Plant, folder: string) => readdirSync(join(store, folder)).sort();

it("approves and rejects by moving the file, whose name gets the thumbprint by which it is found", async () => {
  const plant = await newPlant();
  const [a, b] = [await clientCertificate("a"), await clientCertificate("b")];
  await plant.put(`rejected/a[${a.thumbprint}].pem`, a.pem);
  await plant.put("rejected/b.der", b.der);
  chmodSync(join(plant.store, "rejected/b.der"), 0o400);
  expect(await move(plant, "trusted", a.thumbprint.slice(0, 8), b.thumbprint)).toMatchObject([
    { thumbprint: a.thumbprint, isNew: true },
    { thumbprint: b.thumbprint, isNew: true },
  ]);
  expect(namesIn(plant, "rejected")).toEqual([]);
  expect(namesIn(plant, "trusted/certs")).toEqual([`a[${a.thumbprint}].pem`, `b[${b.thumbprint}].der`]);
  const [folder, file] = ["trusted/certs", `trusted/certs/b[${b.thumbprint}].der`].map((name) =>
    statSync(join(plant.store, name)),
  );
  expect([file?.uid, file?.gid, (file?.mode ?? 0) & 0o777]).toEqual([
    folder?.uid,
    folder?.gid,
    (folder?.mode ?? 0) & 0o666,
  ]);

  expect(await move(plant, "trusted", a.thumbprint)).toMatchObject([{ isNew: false }]);
  expect(await move(plant, "rejected", a.thumbprint)).toMatchObject([{ isNew: true }]);
  expect(namesIn(plant, "rejected")).toEqual([`a[${a.thumbprint}].pem`]);
  expect(namesIn(plant, "trusted/certs")).toEqual([`b[${b.thumbprint}].der`]);
});

it("leaves no copy behind: one among the rejected would keep the client out", async () => {
  const plant = await newPlant();
  const client = await clientCertificate("scada");
  await plant.put("rejected/one.pem", client.pem);
  await plant.put("rejected/two.der", client.der);
  await plant.put("trusted/certs/by-hand.pem", client.pem);
  expect(await move(plant, "trusted", client.thumbprint)).toMatchObject([{ isNew: true }]);
  expect(namesIn(plant, "rejected")).toEqual([]);
  expect(namesIn(plant, "trusted/certs")).toEqual(["by-hand.pem"]);
});

it("replaces no file of the same name", async () => {
  const plant = await newPlant();
  const client = await clientCertificate("scada");
  const name = `scada[${client.thumbprint}].pem`;
  await plant.put(`rejected/${name}`, client.pem);
  await plant.put(`trusted/certs/${name}`, "another thing");
  await move(plant, "trusted", client.thumbprint);
  expect(namesIn(plant, "trusted/certs")).toEqual([`scada[${client.thumbprint}]-2.pem`, name].sort());
});

it("moves nothing when one of several is not there", async () => {
  const plant = await newPlant();
  const client = await clientCertificate("scada");
  await plant.put("rejected/scada.pem", client.pem);
  await expect(move(plant, "trusted", client.thumbprint, "ffffffffffff")).rejects.toThrow(/no certificate/);
  expect(namesIn(plant, "rejected")).toEqual(["scada.pem"]);
});

it("leaves our own certificate, and CAs of the configuration, where they are", async () => {
  const plant = await newPlant();
  const [own, authority] = [await clientCertificate("own"), await clientCertificate("authority")];
  await plant.put("own/certs/certificate.pem", own.pem);
  await plant.put("trusted/certs/configured-1.pem", authority.pem);
  await expect(move(plant, "rejected", own.thumbprint)).rejects.toThrow(/no certificate has/);
  await expect(move(plant, "rejected", authority.thumbprint)).rejects.toThrow(/opcua\.trustedCas/);
});

it("follows no link out of the folder, and changes nothing behind it", async () => {
  const plant = await newPlant();
  const client = await clientCertificate("scada");
  const outside = join(plant.folder, "outside.pem");
  writeFileSync(outside, client.pem, { mode: 0o640 });
  symlinkSync(outside, join(plant.store, "rejected/link.pem"));
  await expect(move(plant, "trusted", client.thumbprint)).rejects.toThrow(/is a link/);
  const other = await clientCertificate("other");
  const second = join(plant.folder, "second.pem");
  writeFileSync(second, other.pem, { mode: 0o640 });
  linkSync(second, join(plant.store, "rejected/second.pem"));
  await expect(move(plant, "trusted", other.thumbprint)).rejects.toThrow(/no file of its own/);
  for (const path of [outside, second]) expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readFileSync(outside, "utf8")).toBe(client.pem);
});

it("warns of an approved certificate with which its client is refused all the same", async () => {
  const plant = await newPlant();
  const none = await clientCertificate("none", { uri: null });
  const two = await clientCertificate("two", { uri: ["urn:line1:a", "urn:line1:b"] });
  const expired = await clientCertificate("expired", { days: -2 });
  for (const { thumbprint, pem } of [none, two, expired]) await plant.put(`rejected/${thumbprint}.pem`, pem);
  const moved = await move(plant, "trusted", none.thumbprint, two.thumbprint, expired.thumbprint);
  expect(moved.map(({ applicationUri, warnings }) => [applicationUri, ...warnings])).toEqual([
    [null, "it names no application: OPC UA needs a URI in its subjectAltName"],
    ["urn:line1:a", "it has 2 URIs in its subjectAltName: OPC UA allows one"],
    ["urn:line1:scada", expect.stringMatching(/^it has expired on /)],
  ]);
});
