import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { stringify } from "yaml";
import { journalFormat } from "../../src/commands/journal/durable-journal.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { createPlantAuthority } from "../northbound/opcua/plant-authority.ts";
import { endPrograms, fleetgate, newFolder } from "./program.ts";

afterEach(endPrograms);
const DAY_MS = 86_400_000;

it("fails for expired certificates of each of the gateway's listeners, and names them", async () => {
  const folder = newFolder();
  const keep = async (name: string, text: string) => {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    return name;
  };
  const authority = await createCa(Date.now());
  const old = await createServerCertificate(authority, ["localhost"], Date.now() - 400 * DAY_MS);
  const pair = {
    certificate: await keep("old.pem", old.certificate),
    key: await keep("old.key", old.key),
  };
  const plant = await createPlantAuthority();
  await plant.issue(join(folder, "opcua"), { uri: "urn:plant:gateway", lifeMs: -DAY_MS });
  const key = { api_key: "key-1", scope: "acme", secret: "s3cr3t-of-the-key" };
  const path = await keep(
    "fleetgate.yaml",
    stringify({
      gateway: { id: "plant1" },
      fleet: {
        grpc: { address: "localhost:7443" },
        https: "https://localhost:7444",
        credentials: await keep("api-key.json", JSON.stringify(key)),
        robots: ["cart-1"],
        events: { kind: "webhook", listen: { host: "127.0.0.1" }, publicUrl: "https://localhost", ...pair },
      },
      mqtt: {
        broker: "embedded",
        users: { scada: { password: await keep("password", "a password") } },
        ...pair,
      },
      opcua: { certificate: "opcua.pem", key: "opcua.key" },
    }),
  );
  const check = fleetgate(folder, "check", "--config", path);
  expect(await check.ended).toMatchObject({ code: 78 });
  const said = check.err.entries.join("\n");
  for (const place of ["fleet.events", "mqtt", "opcua"]) {
    expect(said).toMatch(new RegExp(`error: ${place}\\.certificate: .*has expired on`));
  }
});

it("--stores fails with 65 for a store of another format, newer or older", async () => {
  const folder = newFolder();
  const path = join(folder, "fleetgate.yaml");
  const key = { api_key: "key-1", scope: "acme", secret: "s3cr3t-of-the-key" };
  await writeFile(join(folder, "api-key.json"), JSON.stringify(key), { mode: 0o600 });
  await writeFile(
    path,
    stringify({
      gateway: { id: "plant1", dataDir: "data" },
      fleet: {
        grpc: { address: "localhost:7443" },
        https: "https://localhost:7444",
        credentials: "api-key.json",
        robots: ["cart-1"],
      },
    }),
  );
  await mkdir(join(folder, "data/journal"), { recursive: true });
  const check = async (version: number) => {
    await writeFile(join(folder, "data/journal/format.json"), JSON.stringify({ store: "journal", version }));
    const program = fleetgate(folder, "check", "--config", path, "--stores");
    const { code } = await program.ended;
    return [code, program.err.entries.filter((line) => line.startsWith("fleetgate:"))];
  };
  const { version } = journalFormat;
  expect(await check(version)).toEqual([0, []]);
  for (const other of [version - 1, version + 1])
    expect(await check(other)).toEqual([
      65,
      [`fleetgate: ${folder}/data/journal is of version ${other}, and this program has version ${version}`],
    ]);
});
