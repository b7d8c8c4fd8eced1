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
    out: `${client.thumbprint}  CN=scada\n  is let in\n`,
  });
  expect(run("certs", "show", "ffffffffffffffff")).toMatchObject({
    code: 1,
    err: expect.stringContaining("no certificate has the thumbprint ffffffffffffffff"),
  });
});
