// How soon a stop leaves, and what memory comes back, when another MQTT client floods the gateway with
// commands.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Child } from "../child.ts";
import { cartIds, cartScenario } from "../commands/scenario.ts";
import { startGateway } from "../gateway.ts";
import { quantile } from "../quantile.ts";
import { atMost, type Findings, type Reach, row } from "../report.ts";
import {
  benchFolder,
  freePorts,
  pause,
  REPLY_TIMEOUT_MS,
  type SectionRun,
  startPlantBroker,
  until,
} from "../section-run.ts";
import { fleetSection, type Service, startService } from "../service.ts";
import type { FloodReply, FloodRequest } from "./protocol.ts";

const CARTS = 100;
const COMMANDS = 30_000;
const STOPS_A_SECOND = 50;
/** Stops on a gateway at rest, before the flood begins. */
const CALM_MS = 3_000;
/** The flood is over when its last reply is in; memory is looked at so long after. */
const REST_MS = 40_000;
const STOP_P99_MS = 500;
const KEPT_MB = 50;
const FLOODER = "flooder";
const STOPPER = "stopper";

type Broker = "mosquitto" | "aedes" | "embedded";

interface Seen {
  readonly broker: Broker;
  readonly stops: number;
  readonly lost: number;
  readonly calmMs: Percentiles;
  readonly floodMs: Percentiles;
  readonly floodSeconds: number;
  readonly floodCodes: Readonly<Record<string, number>>;
  readonly rssAnonMb: { readonly before: number; readonly most: number; readonly after: number };
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
  readonly most: number;
}

export async function measureFlood(run: SectionRun): Promise<Findings> {
  const seen = [await measure(run, "plant"), await measure(run, "own")];
  return {
    figures: Object.fromEntries(seen.map((one) => [one.broker, one])),
    faults: [],
    reach: seen.flatMap(reachOf),
    table: seen.flatMap(rowsOf).join("\n"),
  };
}

async function measure(run: SectionRun, kind: "plant" | "own"): Promise<Seen> {
  const id = `flood-${kind}`;
  const scenario = join(run.folder, `${id}.yaml`);
  writeFileSync(scenario, cartScenario(CARTS));
  const service = await startService(run, {
    folder: join(run.folder, `service-${id}`),
    port: await freePorts(),
    args: ["--scenario", scenario],
  });
  const plant = kind === "plant" ? await startPlantBroker(run) : null;
  const mqttPort = plant?.port ?? (await freePorts());
  const robots = cartIds(CARTS);
  const gateway = await startGateway(run, {
    id,
    fleet: {
      ...fleetSection(service.address),
      robots,
      families: Object.fromEntries(robots.map((robot) => [robot, "cart"])),
    },
    mqttPort,
    ...(plant === null ? { brokerUsers: [FLOODER, STOPPER] } : {}),
    operators: true,
  });
  await until("the gateway up", async () => isUp(await gateway.health().catch(() => null)), REPLY_TIMEOUT_MS);
  const open = async (client: string) => {
    const sender = run.start(client, join(benchFolder, "flood", "sender.js"));
    const login = plant === null ? `${client}:${client}@` : "";
    const url = `mqtt://${login}127.0.0.1:${mqttPort}`;
    await ask(sender, { kind: "open", url, client, base: `fleetgate/${id}` });
    return sender;
  };
  const [flooder, stopper] = [await open(FLOODER), await open(STOPPER)];
  const half = CARTS / 2;
  const stopped = ask(stopper, { kind: "stops", perSecond: STOPS_A_SECOND, robots: robots.slice(half) });
  await pause(CALM_MS);
  const before = gateway.child.rssAnonMb();
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, gateway.child.rssAnonMb());
  }, 100);
  const floodAtMs = Date.now();
  const flood = await ask(flooder, { kind: "flood", commands: COMMANDS, robots: robots.slice(0, half) });
  const floodEndMs = floodAtMs + flood.seconds * 1000;
  stopper.send({ kind: "end" } satisfies FloodRequest);
  const stops = await stopped;
  await pause(REST_MS);
  clearInterval(look);
  const after = gateway.child.rssAnonMb();
  const waits = waitsOf(service, stops.sentAtMs);
  const during = (from: number, to: number) =>
    percentilesOf(waits.filter((_, at) => isBetween(stops.sentAtMs[at], from, to)));
  for (const child of [flooder, stopper, gateway.child, service.child]) await child.end();
  return {
    broker: plant?.name ?? "embedded",
    stops: stops.sentAtMs.length,
    lost: waits.filter((wait) => !Number.isFinite(wait)).length,
    calmMs: during(0, floodAtMs - CALM_MS / 3),
    floodMs: during(floodAtMs, floodEndMs),
    floodSeconds: flood.seconds,
    floodCodes: flood.codes,
    rssAnonMb: { before, most, after },
  };
}

function isUp(health: { readonly components: Readonly<Record<string, { readonly state: string }>> } | null) {
  return health?.components.mqtt?.state === "up" && health.components.fleet?.state === "up";
}

/**
 * How long each stop took from its publish to the call at the service, in their order; Infinity for one that
 * never came.
 */
function waitsOf({ observations }: Service, sentAtMs: readonly number[]): readonly number[] {
  const calls = observations.filter(({ kind }) => kind === "stop").map(({ atMs }) => atMs);
  return sentAtMs.map((sentMs, at) => (calls[at] ?? Number.POSITIVE_INFINITY) - sentMs);
}

function isBetween(atMs: number | undefined, from: number, to: number): boolean {
  return atMs !== undefined && atMs >= from && atMs <= to;
}

function percentilesOf(waits: readonly number[]): Percentiles {
  return { p50: quantile(waits, 0.5), p99: quantile(waits, 0.99), most: quantile(waits, 1) };
}

async function ask<R extends FloodRequest["kind"]>(
  sender: Child,
  request: Extract<FloodRequest, { kind: R }>,
): Promise<
  Extract<FloodReply, { kind: { open: "open"; flood: "flooded"; stops: "stopped"; end: never }[R] }>
> {
  sender.send(request);
  const reply = await sender.next<FloodReply>(5 * REPLY_TIMEOUT_MS);
  if (reply.kind === "failed") throw new Error(`${sender.name}: ${reply.message}`);
  return reply as never;
}

function reachOf({ broker, floodMs, lost, rssAnonMb: { before, after } }: Seen): readonly Reach[] {
  return [
    atMost(`${broker}: a stop during the flood, publish to call, p99 ms`, floodMs.p99, STOP_P99_MS),
    atMost(`${broker}: stops that never came to the service`, lost, 0),
    atMost(`${broker}: memory that stays after the flood, MB`, after - before, KEPT_MB),
  ];
}

function rowsOf(seen: Seen): readonly string[] {
  const { broker, calmMs, floodMs, floodSeconds, floodCodes, rssAnonMb: rss } = seen;
  const codes = Object.entries(floodCodes).map(([code, count]) => `${code} ${count}`);
  return [
    row(`${broker}: a stop, from its publish to the call`, "p50 ms", "p99 ms", "most ms"),
    row("  at rest", calmMs.p50, calmMs.p99, calmMs.most),
    row(`  while another client sends ${COMMANDS} commands`, floodMs.p50, floodMs.p99, floodMs.most),
    row("  memory before, most and after, MB", rss.before, rss.most, rss.after),
    `  the flood was answered in ${floodSeconds.toFixed(1)} s: ${codes.join(", ")}`,
  ];
}
