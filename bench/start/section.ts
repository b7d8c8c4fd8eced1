// A gateway with fifty robots: how long until it is ready, and what it needs at rest, on each Node.js.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "../build.ts";
import { idleCost } from "../fleet/idle.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Findings, row } from "../report.ts";
import { freePorts, pause, type SectionRun } from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";

const ROBOTS = 50;
const STARTS = 5;
const READY_WITHIN_MS = 60_000;
/** Between two starts: the robots are heard of, and their nodes made. */
const RUNNING_MS = 3_000;
const IDLE_SECONDS = 20;
const MOST_START_SECONDS = 2;
const MOST_RSS_MB = 240;
const MOST_IDLE_PERCENT = 1.5;

interface StartCosts {
  readonly node: string;
  /** Of each start, from the process to READY. The first one has an empty folder, and makes the keys. */
  readonly startSeconds: readonly number[];
  readonly cpuSeconds: readonly number[];
  readonly idlePercent: number;
  readonly rssAnonMb: number;
}

export async function measureStart(
  run: SectionRun,
  { quick }: { readonly quick: boolean },
): Promise<Findings> {
  const versions = quick ? [null] : supportedVersions();
  const costs: StartCosts[] = [];
  for (const version of versions) costs.push(await measureNode(run, version));
  return {
    figures: { robots: ROBOTS, starts: costs },
    faults: [],
    reach: costs.flatMap(({ node, startSeconds, idlePercent, rssAnonMb }) => [
      atMost(
        `Node.js ${node}: start, s, median of ${STARTS}`,
        quantile(startSeconds, 0.5),
        MOST_START_SECONDS,
      ),
      atMost(`Node.js ${node}: RssAnon at rest, MB`, rssAnonMb, MOST_RSS_MB),
      atMost(`Node.js ${node}: idle, % of a core`, idlePercent, MOST_IDLE_PERCENT),
    ]),
    table: costs
      .flatMap(({ node, startSeconds, cpuSeconds }) => [
        row(`Node.js ${node}: first start with an empty folder, s`, startSeconds[0] ?? Number.NaN),
        row(
          `Node.js ${node}: quickest and slowest start, s`,
          Math.min(...startSeconds),
          Math.max(...startSeconds),
        ),
        row(`Node.js ${node}: CPU of a start, s, median`, quantile(cpuSeconds, 0.5)),
      ])
      .join("\n"),
  };
}

/** @param version null: the Node.js that runs the bench */
async function measureNode(run: SectionRun, version: string | null): Promise<StartCosts> {
  const node = version ?? process.versions.node;
  const service = await startService(run, {
    folder: join(run.folder, `service-${node}`),
    port: await freePorts(),
    args: ["--robots", String(ROBOTS)],
  });
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const program = version === null ? process.execPath : await binaryOf(version);
  const startSeconds: number[] = [];
  const cpuSeconds: number[] = [];
  let gateway: Gateway | null = null;
  for (let start = 0; start < STARTS; start += 1) {
    await gateway?.child.end();
    const options = {
      id: `start-${node.split(".", 1)[0]}`,
      fleet,
      mqttPort: await freePorts(),
      brokerUsers: [],
      program,
    };
    const beganAtMs = performance.now();
    gateway = await startGateway(run, { ...options, logLevel: "info" });
    await gateway.child.says('"msg":"ready"', READY_WITHIN_MS);
    startSeconds.push((performance.now() - beganAtMs) / 1_000);
    cpuSeconds.push(gateway.child.cpuMicros() / 1e6);
    await pause(RUNNING_MS);
  }
  if (gateway === null) throw new Error("no start");
  const { percent, rssAnonMb } = await idleCost(gateway.child, IDLE_SECONDS);
  await gateway.child.end();
  await service.child.end();
  return { node, startSeconds, cpuSeconds, idlePercent: percent, rssAnonMb };
}

interface NodeBinaries {
  nodeBinary(version: string, arch: string, cache: string): string;
}

/** The Node.js of npm's package, as the plant's package ships it. */
async function binaryOf(version: string): Promise<string> {
  const url = pathToFileURL(join(root, "packaging", "node-binary.mjs")).href;
  const { nodeBinary } = (await import(url)) as NodeBinaries;
  const cache = join(root, "node_modules", ".cache", "packages");
  return join(nodeBinary(version, "amd64", cache), "bin", "node");
}

function supportedVersions(): readonly string[] {
  const { binaries } = JSON.parse(readFileSync(join(root, "packaging", "node.json"), "utf8")) as {
    readonly binaries: Readonly<Record<string, unknown>>;
  };
  return Object.keys(binaries);
}
