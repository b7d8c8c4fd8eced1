// The session to a service of a thousand robots: how soon it stands, how soon it stands again, and what
// it costs while nothing happens.
import { join } from "node:path";
import { Availability } from "../availability.ts";
import { startGateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Findings, number, row } from "../report.ts";
import { freePorts, type SectionRun, startBroker } from "../section-run.ts";
import { fleetSection, type Service, startService } from "../service.ts";
import { type IdleCost, idleCost } from "./idle.ts";
import { nodesBuilt, type Opened, streamsOpen } from "./open.ts";
import { type Outage, peakASecond, type Round, recover } from "./recovery.ts";
import { type Restart, restartGateway } from "./restart.ts";
import { type Watching, watchingCost } from "./watching.ts";

export interface FleetOptions {
  readonly robots: number;
  readonly quick: boolean;
}

const ID = "bench";
const BACKOFF_CAP_MS = 5_000;
const MOST_OPEN_SECONDS = 3;
const MOST_RECOVERY_MS = BACKOFF_CAP_MS + 2_000;
const MOST_IDLE_PERCENT = 1.7;
const MOST_RESTART_SECONDS = 2;
const MOST_METRICS_MS = 20;
const MOST_METRICS_KB = 300;
const MOST_STATUS_MS = 200;
const START_TIMEOUT_MS = 120_000;
/** Long enough to hold a whole turn of re-subscriptions (60 s). */
const IDLE_SECONDS = 65;

export async function measureFleet(run: SectionRun, { robots, quick }: FleetOptions): Promise<Findings> {
  const mqttPort = await startBroker(run);
  const options = {
    folder: join(run.folder, "service"),
    port: await freePorts(),
    args: ["--robots", String(robots)],
  };
  const service = await startService(run, options);
  const availability = await Availability.watch(run, mqttPort, ID);
  // Families are not told: every cart has to be found out, which is the longest way.
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const gatewayOptions = { id: ID, fleet, mqttPort };
  const startedAtMs = Date.now();
  const gateway = await startGateway(run, gatewayOptions);
  const opened = await streamsOpen(gateway, service, robots, startedAtMs);
  await availability.allGood(robots, START_TIMEOUT_MS);
  const goodSeconds = (Math.max(...availability.goodAtMs()) - firstConnection(service)) / 1000;
  await nodesBuilt(gateway, robots);
  const nodesSeconds = (Date.now() - firstConnection(service)) / 1000;
  const watching = await watchingCost(gateway.socketPath);
  const idle = await idleCost(gateway.child, quick ? 10 : IDLE_SECONDS);
  const { restart } = await restartGateway(run, {
    gateway,
    options: gatewayOptions,
    service,
    streams: opened.streams,
  });
  await availability.allGood(robots, START_TIMEOUT_MS);
  const outages: Outage[] = quick ? [{ awayMs: 1_000, rounds: 1 }] : fullPlan;
  const rounds = await recover(run, { service, options, availability, robots }, outages);
  return findings({ robots, opened, goodSeconds, nodesSeconds, watching, idle, restart, rounds });
}

const fullPlan: Outage[] = [
  { awayMs: 1_000, rounds: 4 },
  { awayMs: 30_000, rounds: 3 },
];

/** When the gateway's first connection reached the service, in Unix milliseconds. */
function firstConnection({ observations }: Service): number {
  return observations.find(({ kind }) => kind === "connection")?.atMs ?? Number.NaN;
}

interface Seen {
  readonly robots: number;
  readonly opened: Opened;
  readonly goodSeconds: number;
  readonly nodesSeconds: number;
  readonly watching: Watching;
  readonly idle: IdleCost;
  readonly restart: Restart;
  readonly rounds: readonly Round[];
}

function findings(seen: Seen): Findings {
  const { robots, opened, goodSeconds, nodesSeconds, watching, idle, restart, rounds } = seen;
  const p99Ms = quantile(
    rounds.flatMap(({ recoveryMs }) => recoveryMs),
    0.99,
  );
  const outages = rounds.map(({ recoveryMs, ...round }) => ({
    ...round,
    p50Ms: quantile(recoveryMs, 0.5),
    p99Ms: quantile(recoveryMs, 0.99),
    mostMs: Math.max(...recoveryMs),
    connectionsASecond: peakASecond(round.connectionsAtMs),
    tokenRequestsASecond: peakASecond(round.tokenRequestsAtMs),
  }));
  return {
    figures: {
      robots,
      opened,
      goodSeconds,
      nodesSeconds,
      watching,
      idle,
      restart,
      recoveryP99Ms: p99Ms,
      outages,
    },
    faults: rounds
      .filter(({ leftGood }) => leftGood < robots)
      .map(({ leftGood }) => `only ${leftGood} of ${robots} robots were seen to be not good in an outage`),
    reach: [
      atMost("all streams open, s", opened.seconds, MOST_OPEN_SECONDS),
      atMost("restart: all streams open, s", restart.seconds, MOST_RESTART_SECONDS),
      atMost("p99 of recovery over robots and rounds, ms", p99Ms, MOST_RECOVERY_MS),
      atMost("/metrics, ms: median", watching.metricsMs, MOST_METRICS_MS),
      atMost("/metrics, kB", watching.metricsKb, MOST_METRICS_KB),
      atMost("status, ms: median", watching.statusMs, MOST_STATUS_MS),
      atMost("idle, % of a core", idle.percent, MOST_IDLE_PERCENT),
    ],
    table: [
      row(
        `${robots} robots, ${opened.streams} streams on ${opened.connections} connections: open in s`,
        opened.seconds,
      ),
      row("every robot good in s", goodSeconds),
      row("every robot, none known before, has its OPC UA nodes in s", nodesSeconds),
      row("of 15 answers: median ms, slowest ms, kB", "", "", ""),
      row("  /metrics", watching.metricsMs, watching.metricsMostMs, watching.metricsKb),
      row("  status", watching.statusMs, watching.statusMostMs, watching.statusKb),
      row("restart: first connection to all streams open, s", restart.seconds),
      row("restart: start of the process to all streams open, s", restart.sinceStartSeconds),
      row("restart: CPU until all streams are open, s", restart.cpuSeconds),
      row("idle, % of a core", idle.percent),
      row("RssAnon MB", idle.rssAnonMb),
      row("service away", "p50 ms", "p99 ms", "most ms", "conn./s", "tokens/s"),
      ...outages.map((outage) =>
        row(
          `  ${number(outage.awayMs / 1000)} s; ${outage.connectionsAtMs.length} connections, ${outage.tokenRequestsAtMs.length} token requests`,
          outage.p50Ms,
          outage.p99Ms,
          outage.mostMs,
          outage.connectionsASecond,
          outage.tokenRequestsASecond,
        ),
      ),
    ].join("\n"),
  };
}
