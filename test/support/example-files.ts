import { cp, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { type LoadResult, loadConfig } from "../../src/config/load.ts";
import { createCatalogue } from "../../src/fleet/operations.ts";
import type { KeyedCertificate } from "../../src/platform/certificate-authority.ts";
import { createCa, createServerCertificate } from "../../src/simulator/tls/identity.ts";
import { createPlantAuthority, type PlantAuthority } from "../northbound/opcua/plant-authority.ts";

/** Where the examples are that a plant copies. */
export const examplesFolder = join("config", "examples");

/**
 * Names that the examples give to machines of the plant, beside loopback addresses for what a test replaces.
 */
const hostNames = [
  "broker.example.com",
  "gateway1.example.com",
  "gateway1.plant.example.com",
  "robots.plant.example.com",
  "localhost",
  "127.0.0.1",
];
const users = ["line1", "line2", "scada", "mqtt", "proxy", "dashboard"];

/** A folder with every file that an example names, under the names and with the rights of install.md. */
export interface ExampleFiles extends AsyncDisposable {
  readonly folder: string;
  /** Signed the certificates of OPC UA. */
  readonly plant: PlantAuthority;
  /** Signed the certificates of all other listeners. */
  readonly office: KeyedCertificate;
  /** A certificate for all names of the plant's machines, from `office`. */
  readonly server: KeyedCertificate;
  /** Loads an example whose keys have these values instead, by their paths with dots. */
  load(name: string, changes?: Changes): Promise<LoadResult>;
}

/** What a test puts in place of an example's values, by their paths with dots. */
export type Changes = Readonly<Record<string, unknown>>;

/** The password of a user of the examples. */
export function passwordOf(user: string): string {
  return `${user} secret`;
}

export async function layExampleFiles(): Promise<ExampleFiles> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-examples-"));
  const [plant, office] = await Promise.all([createPlantAuthority(), createCa(Date.now())]);
  const server = await createServerCertificate(office, hostNames, Date.now());
  await mkdir(join(folder, "secrets"), { mode: 0o750 });
  const put = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o644 });
  const keep = (name: string, text: string) =>
    writeFile(join(folder, "secrets", name), text, { mode: 0o640 });

  await keep("api-key.json", '{"api_key":"k","scope":"s","secret":"x"}');
  for (const user of users) await keep(`${user}-password`, `${passwordOf(user)}\n`);
  await put("broker-ca.pem", office.certificate);
  for (const name of ["webhooks", "mqtt"]) {
    await put(`${name}.pem`, server.certificate);
    await keep(`${name}.key`, server.key);
  }
  const identity = { uri: "urn:plant:gateway1", names: ["gateway1.plant.example.com", "localhost"] };
  await plant.issue(join(folder, "opcua"), identity);
  await rename(join(folder, "opcua.key"), join(folder, "secrets", "opcua.key"));
  await put("opcua-cas.pem", plant.pem);
  await put("opcua-crl.pem", await plant.revoke());
  return {
    folder,
    plant,
    office,
    server,
    load: (name, changes = {}) => load(folder, name, changes),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

/** What may be there in a test and is not in an example: the authority of a simulated service. */
const ADDED = "fleet.ca";

async function load(folder: string, name: string, changes: Changes): Promise<LoadResult> {
  const path = join(folder, name);
  await cp(join(examplesFolder, name), path);
  const document = parseDocument(await readFile(path, "utf8"));
  // The machine that runs the tests may have such a folder.
  const all = { "gateway.dataDir": join(folder, "data"), ...changes };
  for (const [key, value] of Object.entries(all)) {
    if (key !== ADDED && !document.hasIn(key.split("."))) throw new Error(`${name} has no ${key}`);
    document.setIn(key.split("."), value);
  }
  await writeFile(path, String(document));
  return loadConfig(path, {}, createCatalogue(), Date.now());
}
