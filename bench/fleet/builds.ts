// Two builds of the gateway with a thousand robots each: what they cost while nothing happens, and how soon
// their streams are open again after a restart.
import { join } from "node:path";
import { type Build, ownBuild } from "../build.ts";
import { type Gateway, type GatewayOptions, startGateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { type PairedRatio, pairedRatio } from "../ratio.ts";
import { type Findings, row } from "../report.ts";
import { freePorts, pause, type SectionRun, startBroker } from "../section-run.ts";
import { fleetSection, startService } from "../service.ts";
import { type IdleCost, idleCost } from "./idle.ts";
import { nodesBuilt, type Opened, streamsOpen } from "./open.ts";
import { type Restart, type Restartable, restartGateway } from "./restart.ts";

const IDLE_SECONDS = 65;
const RESTART_ROUNDS = 3;
/** Between a gateway's restart and the next one's. */
const REST_MS = 3_000;

/** A build with a service of its own, so that neither sees the other. */
interface Side extends Restartable {
  readonly name: string;
  readonly first: Opened;
  readonly restarts: Restart[];
  gateway: Gateway;
}

export async function compareFleets(
  run: SectionRun,
  { robots, quick, against }: { readonly robots: number; readonly quick: boolean; readonly against: Build },
): Promise<Findings> {
  const mqttPort = await startBroker(run);
  const own = await open(run, "own", ownBuild, mqttPort, robots);
  const other = await open(run, "other", against, mqttPort, robots);
  for (const { gateway } of [own, other]) await nodesBuilt(gateway, robots);
  const idle = await Promise.all([own, other].map(({ gateway }) => idleCost(gateway.child, IDLE_SECONDS)));
  for (let round = 0; round < (quick ? 1 : RESTART_ROUNDS); round += 1) {
    for (const side of [own, other, other, own]) {
      const { gateway, restart } = await restartGateway(run, side);
      side.gateway = gateway;
      side.restarts.push(restart);
      await pause(REST_MS);
    }
  }
  return findings(robots, [own, other], idle);
}

async function open(
  run: SectionRun,
  name: string,
  build: Build,
  mqttPort: number,
  robots: number,
): Promise<Side> {
  const service = await startService(run, {
    folder: join(run.folder, `service-${name}`),
    port: await freePorts(),
    args: ["--robots", String(robots)],
  });
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const options: GatewayOptions = { id: name, fleet, mqttPort, build };
  const startedAtMs = Date.now();
  const gateway = await startGateway(run, options);
  const first = await streamsOpen(gateway, service, robots, startedAtMs);
  return { name, options, service, first, streams: first.streams, restarts: [], gateway };
}

function findings(robots: number, sides: readonly [Side, Side], idle: readonly IdleCost[]): Findings {
  const [own, other] = sides;
  const ratio = (what: string, of: (restart: Restart) => number): PairedRatio =>
    pairedRatio(what, own.restarts.map(of), other.restarts.map(of));
  const line = (label: string, of: (restart: Restart) => number) =>
    row(label, ...sides.map(({ restarts }) => quantile(restarts.map(of), 0.5)));
  const [ownIdle = Number.NaN, otherIdle = Number.NaN] = idle.map(({ percent }) => percent);
  return {
    figures: {
      robots,
      idle,
      sides: sides.map(({ name, first, restarts }) => ({ name, first, restarts })),
    },
    faults: [],
    reach: [],
    builds: [
      ratio("restart, first connection to all streams open", ({ seconds }) => seconds),
      ratio("restart, start of the process to all streams open", (each) => each.sinceStartSeconds),
      ratio("restart, CPU until all streams are open", ({ cpuSeconds }) => cpuSeconds),
      pairedRatio("idle CPU", [ownIdle], [otherIdle]),
    ],
    table: [
      row(`${robots} robots`, "this build", "other build"),
      row("streams", own.first.streams, other.first.streams),
      row("first start, s: first connection to all streams open", own.first.seconds, other.first.seconds),
      line("restart, s: first connection to all streams open", ({ seconds }) => seconds),
      line("restart, s: start of the process to all streams open", (each) => each.sinceStartSeconds),
      line("restart, CPU s until all streams are open", ({ cpuSeconds }) => cpuSeconds),
      row("idle, % of a core", ownIdle, otherIdle),
      row("RssAnon MB", ...idle.map(({ rssAnonMb }) => rssAnonMb)),
    ].join("\n"),
  };
}
