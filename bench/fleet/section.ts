// The session to a service of a thousand robots: how soon it stands, how soon it stands again, and what
// it costs while nothing happens.
import { join } from "node:path";
import { Availability } from "../availability.ts";
import type { Child } from "../child.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { freePorts, type House, pause, startBroker, until } from "../house.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Findings, number, row } from "../report.ts";
import { fleetSection, type Service, startService } from "../service.ts";
import { type Outage, peakASecond, type Round, recover } from "./recovery.ts";

export interface FleetWishes {
  readonly robots: number;
  readonly quick: boolean;
}

const ID = "bench";
const BACKOFF_CAP_MS = 5_000;
const MOST_OPEN_SECONDS = 3;
const MOST_RECOVERY_MS = BACKOFF_CAP_MS + 2_000;
const MOST_IDLE_PERCENT = 3;
const LOOK_MS = 50;
const START_PATIENCE_MS = 120_000;
/** Long enough to hold a whole turn of re-subscriptions (60 s). */
const IDLE_SECONDS = 65;

export async function measureFleet(house: House, { robots, quick }: FleetWishes): Promise<Findings> {
  const mqttPort = await startBroker(house);
  const wishes = {
    folder: join(house.folder, "service"),
    port: await freePorts(),
    args: ["--robots", String(robots)],
  };
  const service = await startService(house, wishes);
  const availability = await Availability.watch(house, mqttPort, ID);
  // Families are not told: every cart has to be found out, which is the longest way.
  const fleet = { ...fleetSection(service.address), locations: ["plant-1"] };
  const gateway = await startGateway(house, { id: ID, fleet, mqttPort });
  const opened = await streamsOpen(gateway, service, robots);
  await availability.allGood(robots, START_PATIENCE_MS);
  const goodSeconds = (Math.max(...availability.goodAtMs()) - firstConnection(service)) / 1000;
  await nodesBuilt(gateway, robots);
  const nodesSeconds = (Date.now() - firstConnection(service)) / 1000;
  const idle = await idleCost(gateway.child, quick ? 10 : IDLE_SECONDS);
  const outages: Outage[] = quick ? [{ awayMs: 1_000, rounds: 1 }] : fullPlan;
  const rounds = await recover(house, { service, wishes, availability, robots }, outages);
  return findings({ robots, opened, goodSeconds, nodesSeconds, idle, rounds });
}

const fullPlan: Outage[] = [
  { awayMs: 1_000, rounds: 4 },
  { awayMs: 30_000, rounds: 3 },
];

/** When the gateway's first connection reached the service, in Unix milliseconds. */
function firstConnection({ sightings }: Service): number {
  return sightings.find(({ kind }) => kind === "connection")?.atMs ?? Number.NaN;
}

interface Opened {
  readonly streams: number;
  readonly connections: number;
  /** From the gateway's first connection to the service. */
  readonly seconds: number;
}

async function streamsOpen(gateway: Gateway, service: Service, robots: number): Promise<Opened> {
  let figures: Readonly<Record<string, number>> = {};
  await until(
    "all streams open",
    async () => {
      // Until its web server listens there is nothing to ask.
      const health = await gateway.health().catch(() => null);
      figures = health?.components.fleet?.figures ?? {};
      return (
        figures.robots === robots &&
        figures.families_pending === 0 &&
        figures.streams_open === figures.streams_wanted
      );
    },
    START_PATIENCE_MS,
    LOOK_MS,
  );
  const openAtMs = Date.now();
  // What the service saw of it is told a moment later.
  await pause(500);
  return {
    streams: figures.streams_open ?? 0,
    connections: figures.connections ?? 0,
    seconds: (openAtMs - firstConnection(service)) / 1000,
  };
}

/** Until every robot, of which the gateway had never heard, has its nodes on OPC UA. */
async function nodesBuilt(gateway: Gateway, robots: number): Promise<void> {
  await until(
    "all nodes built",
    async () => (await gateway.health()).components.opcua?.figures?.robots === robots,
    START_PATIENCE_MS,
    LOOK_MS,
  );
}

interface IdleCost {
  readonly percent: number;
  readonly rssAnonMb: number;
}

async function idleCost(gateway: Child, seconds: number): Promise<IdleCost> {
  await pause(5_000);
  const before = gateway.cpuMicros();
  await pause(seconds * 1000);
  return { percent: (gateway.cpuMicros() - before) / 1e4 / seconds, rssAnonMb: gateway.rssAnonMb() };
}

interface Seen {
  readonly robots: number;
  readonly opened: Opened;
  readonly goodSeconds: number;
  readonly nodesSeconds: number;
  readonly idle: IdleCost;
  readonly rounds: readonly Round[];
}

function findings(seen: Seen): Findings {
  const { robots, opened, goodSeconds, nodesSeconds, idle, rounds } = seen;
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
    figures: { robots, opened, goodSeconds, nodesSeconds, idle, recoveryP99Ms: p99Ms, outages },
    faults: rounds
      .filter(({ leftGood }) => leftGood < robots)
      .map(({ leftGood }) => `only ${leftGood} of ${robots} robots were seen to be not good in an outage`),
    reach: [
      atMost("all streams open, s", opened.seconds, MOST_OPEN_SECONDS),
      atMost("p99 of recovery over robots and rounds, ms", p99Ms, MOST_RECOVERY_MS),
      atMost("idle, % of a core", idle.percent, MOST_IDLE_PERCENT),
    ],
    table: [
      row(
        `${robots} robots, ${opened.streams} streams on ${opened.connections} connections: open in s`,
        opened.seconds,
      ),
      row("every robot good in s", goodSeconds),
      row("every robot, none known before, has its OPC UA nodes in s", nodesSeconds),
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
