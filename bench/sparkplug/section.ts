// What Sparkplug costs beside the JSON topics and instead of them: three gateways stay up, and the load goes
// to one at a time, forth and back. Then a fourth is asked for the births of all its robots.
import type { Build } from "../build.ts";
import type { Child } from "../child.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import { loadFleet } from "../messages/load-fleet.ts";
import { type Load, openLoad } from "../messages/open-load.ts";
import {
  type BlockResult,
  isOnJson,
  isOnSparkplug,
  type Side,
  SPARKPLUG_GROUP,
} from "../messages/protocol.ts";
import { probe } from "../probe.ts";
import { quantile } from "../quantile.ts";
import { pairedRatio, ratioLines } from "../ratio.ts";
import { atMost, type Findings, row } from "../report.ts";
import type { SectionRun } from "../section-run.ts";
import { type Births, measureBirths } from "./births.ts";

/** What can be chosen on the command line. */
interface SparkplugOptions {
  readonly robots: number;
  /** Messages a second. */
  readonly rate: number;
  readonly quick: boolean;
  /** How often each side has its two blocks; null: as is usual. */
  readonly rounds: number | null;
  /** Sparkplug instead of JSON is compared with that of this build, too. */
  readonly against: Build | null;
}

const most = { beside: 1.25, instead: 0.95, birthsMs: 3_000, heldMs: 50 } as const;
const usualOrder = ["gateway", "beside", "instead"] as const satisfies readonly Side[];
type Compared = (typeof usualOrder)[number] | "other-instead";
const ROUNDS = { usual: 8, quick: 2 } as const;
const BLOCK_SECONDS = 4;
const BIRTHS = { usual: 5, quick: 2 } as const;

interface Measured {
  readonly side: Compared;
  readonly result: BlockResult;
  readonly cpuMicros: number;
}

export async function measureSparkplug(run: SectionRun, options: SparkplugOptions): Promise<Findings> {
  const load = await openLoad(run, options.robots);
  const measured = await measureCosts(run, load, options);
  const born = await startSide(run, load, options, "instead", probe);
  const times = BIRTHS[options.quick ? "quick" : "usual"];
  return findings(options, measured, await measureBirths(born, load.mqttPort, options.robots, times));
}

async function measureCosts(run: SectionRun, load: Load, options: SparkplugOptions): Promise<Measured[]> {
  const running = new Map<Compared, Child>();
  const order = orderOf(options);
  for (const side of order) {
    const { child, opcuaPort } = await startSide(run, load, options, side);
    running.set(side, child);
    await load.watch(side, opcuaPort);
  }
  const measure = async (side: Compared): Promise<Measured> => {
    const before = running.get(side)?.cpuMicros() ?? 0;
    const block = { kind: "paced", side, messagesPerSecond: options.rate, seconds: BLOCK_SECONDS } as const;
    const result = await load.run(block);
    return { side, result, cpuMicros: (running.get(side)?.cpuMicros() ?? 0) - before };
  };
  for (const side of order) await measure(side);
  const measured: Measured[] = [];
  const rounds = options.rounds ?? ROUNDS[options.quick ? "quick" : "usual"];
  for (let round = 0; round < rounds; round += 1)
    for (const side of [...order, ...order.toReversed()]) measured.push(await measure(side));
  for (const child of running.values()) await child.end();
  return measured;
}

function orderOf({ against }: SparkplugOptions): readonly Compared[] {
  return against === null ? usualOrder : [...usualOrder, "other-instead"];
}

function startSide(
  run: SectionRun,
  { address, mqttPort }: Load,
  { robots, against }: SparkplugOptions,
  side: Compared,
  preload: readonly string[] = [],
): Promise<Gateway> {
  return startGateway(run, {
    id: side,
    folder: preload.length === 0 ? side : `${side}-born`,
    fleet: loadFleet(run, side, address, robots),
    ...{ mqttPort, preload },
    ...(side === "other-instead" && against !== null ? { build: against } : {}),
    ...(isOnSparkplug(side) ? { sparkplug: { groupId: SPARKPLUG_GROUP, json: isOnJson(side) } } : {}),
  });
}

function findings(options: SparkplugOptions, measured: readonly Measured[], births: Births): Findings {
  const { robots } = options;
  const cpu = (side: Compared) =>
    measured.filter((block) => block.side === side).map((block) => block.cpuMicros / block.result.sent);
  const beside = pairedRatio("CPU a message, Sparkplug beside JSON ÷ JSON", cpu("beside"), cpu("gateway"));
  const instead = pairedRatio(
    "CPU a message, Sparkplug instead of JSON ÷ JSON",
    cpu("instead"),
    cpu("gateway"),
  );
  const builds =
    options.against === null
      ? []
      : [pairedRatio("CPU a message, Sparkplug instead of JSON", cpu("instead"), cpu("other-instead"))];
  const [slowest, held] = [Math.max(...births.ms), Math.max(...births.heldMs)];
  return {
    figures: { robots, beside, instead, births },
    table: [
      ...orderOf(options).map((side) => row(`CPU µs a message, ${side}`, quantile(cpu(side), 0.5))),
      ratioLines([beside, instead]),
      row(`births of ${robots} robots, ms: median, slowest`, quantile(births.ms, 0.5), slowest),
      row("  bytes", births.bytes[0] ?? Number.NaN),
      row("  longest turn of the event loop, ms: median, longest", quantile(births.heldMs, 0.5), held),
    ].join("\n"),
    reach: [
      atMost(beside.what, beside.median, most.beside),
      atMost(instead.what, instead.median, most.instead),
      atMost(`births of ${robots} robots, ms`, slowest, most.birthsMs),
      atMost("event loop held meanwhile, ms", held, most.heldMs),
    ],
    faults: measured.flatMap(faultsOf),
    ...(builds.length === 0 ? {} : { builds }),
  };
}

function faultsOf({ side, result }: Measured): readonly string[] {
  const { sent, seenOnMqtt, seenOnOpcua, seenOnSparkplug } = result;
  return [
    ...(seenOnOpcua === sent ? [] : [`${side}: OPC UA showed ${seenOnOpcua} of ${sent} messages`]),
    ...(!isOnJson(side) || seenOnMqtt === sent
      ? []
      : [`${side}: JSON had ${seenOnMqtt} of ${sent} messages`]),
    ...(!isOnSparkplug(side) || seenOnSparkplug === sent
      ? []
      : [`${side}: Sparkplug had ${seenOnSparkplug} of ${sent} messages`]),
  ];
}
