import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ownBuild } from "../build.ts";
import { startGateway } from "../gateway.ts";
import { benchFolder, freePorts, type SectionRun } from "../section-run.ts";
import { fleetSection, type ServiceAddress } from "../service.ts";

/** What a gateway without a cluster has loaded. */
export interface LoadedModules {
  readonly files: number;
  /** Those with code of a cluster. */
  readonly ofCluster: readonly string[];
}

const READY_MS = 60_000;
/** Words of the code of each part of src/cluster, and of no other. */
const WORDS = ["hasleader", "the store of the cluster did not take it", "etcd is another one than before"];

export async function modulesWithoutCluster(
  run: SectionRun,
  address: ServiceAddress,
): Promise<LoadedModules> {
  const list = join(run.folder, "loaded");
  const gateway = await startGateway(run, {
    id: "without",
    fleet: { ...fleetSection(address), locations: ["plant-1"] },
    mqttPort: await freePorts(),
    brokerUsers: [],
    logLevel: "info",
    preload: [join(benchFolder, "cluster", "loaded-preload.js")],
    env: { LOADED_LIST: list },
  });
  await gateway.child.says('"msg":"ready"', READY_MS);
  await gateway.child.end();
  const files = readFileSync(list, "utf8")
    .trim()
    .split("\n")
    .filter((url) => url.startsWith("file:"))
    .map((url) => fileURLToPath(url));
  const texts = files.map((path) => ({ path, text: readFileSync(path, "utf8") }));
  if (!files.includes(ownBuild.script)) throw new Error("the list of what was loaded lacks the program");
  return {
    files: files.length,
    ofCluster: texts.filter(({ text }) => WORDS.some((word) => text.includes(word))).map(({ path }) => path),
  };
}
