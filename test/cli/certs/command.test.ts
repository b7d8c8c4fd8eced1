import { generateKeyPairSync } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { piped } from "../typed.ts";
import { clientCertificate, newPlant, removePlants } from "./certs-harness.ts";

afterEach(removePlants);

it("lists and shows certificates as text, JSON and PEM, and approves one", async () => {
  const plant = await newPlant();
  const client = await clientCertificate("scada");
  await plant.put("rejected/scada.pem", client.pem);
  const run = (...args: string[]) => piped(plant.folder, [...args, "-c", plant.config]);

  expect(run("certs", "list")).toMatchObject({ code: 0, err: "", out: expect.stringContaining("CN=scada") });
  const inData = piped(plant.folder, ["certs", "list", "--json", "--data", "data"]);
  expect(JSON.parse(inData.out)).toMatchObject({
    certificates: [{ place: "rejected", thumbprint: client.thumbprint, applicationUri: "urn:line1:scada" }],
    damaged: [],
  });
  const prefix = client.thumbprint.slice(0, 10);
  expect(run("certs", "show", prefix, "--pem").out.trim()).toBe(client.pem.trim());
  expect(run("certs", "approve", prefix)).toMatchObject({
    code: 0,
    out: `${client.thumbprint}  CN=scada\n  is trusted\n  as urn:line1:scada: refused if it calls itself otherwise (BadCertificateUriInvalid)\n`,
  });
  expect(run("certs", "reject", prefix)).toMatchObject({
    code: 0,
    out: `${client.thumbprint}  CN=scada\n  is refused, and its sessions end within seconds\n`,
  });
  expect(run("certs", "show", "ffffffffffffffff")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no certificate has the thumbprint ffffffffffffffff"),
  });
});

it("makes a request and the next certificate, and takes back what was signed", async () => {
  const plant = await newPlant();
  const key = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
  await plant.put("own/private/private_key.pem", key.export({ type: "pkcs8", format: "pem" }));
  const run = (...args: string[]) => piped(plant.folder, [...args, "-c", plant.config]);

  expect(run("certs", "request", "--out", "plant1.csr")).toMatchObject({
    code: 0,
    out: "The signing request is in plant1.csr. fleetgate certs import takes the answer.\n",
    err: "",
  });
  expect(readFileSync(join(plant.folder, "plant1.csr"), "utf8")).toContain("BEGIN CERTIFICATE REQUEST");
  expect(run("certs", "renew")).toMatchObject({ code: 0, out: expect.stringContaining("is the next one") });
  copyFileSync(join(plant.store, "own/certs/next.pem"), join(plant.folder, "plant1.pem"));
  expect(run("certs", "import", "plant1.pem")).toMatchObject({
    code: 0,
    out: expect.stringContaining("is in use within seconds"),
  });
  expect(run("certs", "import", "fleetgate.yaml")).toMatchObject({
    code: 1,
    err: expect.stringContaining("fleetgate.yaml holds no certificate that can be read"),
  });
});
