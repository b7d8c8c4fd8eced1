// The gateway against the floor: all sides stay up, the load goes to one at a time, in blocks A B B A, so
// that a drift of the machine falls on all.
import { join } from "node:path";
import { type Build, ownBuild } from "../build.ts";
import type { Child } from "../child.ts";
import { startGateway } from "../gateway.ts";
import { type PairedRatio, pairedRatio } from "../ratio.ts";
import { atMost, type Findings } from "../report.ts";
import { benchFolder, freePorts, pause, type SectionRun } from "../section-run.ts";
import { contentFaults } from "./content.ts";
import {
  cpuPerMessage,
  type Measured,
  type MessageFigures,
  messageFigures,
  messageTable,
  missingByBlock,
  ratiosOf,
} from "./figures.ts";
import { loadFleet } from "./load-fleet.ts";
import { type Load, openLoad } from "./open-load.ts";
import type { Block, Side } from "./protocol.ts";

/** What can be chosen on the command line. */
export interface MessageOptions {
  readonly robots: number;
  /** Messages a second in paced blocks. */
  readonly rate: number;
  readonly quick: boolean;
  /** How often each side has its two blocks; null: as is usual. */
  readonly rounds: number | null;
  /** Another build of the gateway to compare with. */
  readonly against: Build | null;
}

const MOST_CPU_RATIO = 0.9;
const SETTLE_MS = 1_000;

/** The measured process of each side, in the order of the table. */
type Running = ReadonlyMap<Side, Child>;

export async function measureMessages(run: SectionRun, options: MessageOptions): Promise<Findings> {
  const { load, running } = await open(run, options);
  const idle = await idlePercent(running, options.quick ? 2 : 20);
  const warm = await runAll(load, running, warmUp(running, options));
  const blocks = plan(running, options);
  const measured = await runAll(load, running, blocks);
  const figures = messageFigures(options.robots, measured, idle);
  const faults = contentFaults(new Map(warm.map(({ side, result }) => [side, result.specimens])));
  if (figures.missing > 0) {
    faults.push(`${figures.missing} messages did not arrive\n${missingByBlock(measured)}`);
  }
  return { ...findings(figures), builds: ratiosOfBuilds(running, measured), faults };
}

function findings(figures: MessageFigures): Omit<Findings, "faults"> {
  const { floor, gateway } = figures.sides;
  if (floor === undefined || gateway === undefined) throw new Error("floor and gateway are always measured");
  const ratios = ratiosOf(gateway, floor);
  return {
    figures,
    ratios,
    table: messageTable(figures, ratios),
    reach: [atMost("CPU of the gateway ÷ of the floor", ratios.cpu, MOST_CPU_RATIO)],
  };
}

function ratiosOfBuilds(running: Running, measured: readonly Measured[]): readonly PairedRatio[] {
  if (!running.has("other")) return [];
  const cpu = (side: Side) => cpuPerMessage(side, measured);
  return [
    pairedRatio("CPU a message", cpu("gateway"), cpu("other")),
    pairedRatio("CPU a message, this build ÷ the floor", cpu("gateway"), cpu("floor")),
    pairedRatio("CPU a message, other build ÷ the floor", cpu("other"), cpu("floor")),
  ];
}

async function open(
  run: SectionRun,
  { robots, against }: MessageOptions,
): Promise<{ readonly load: Load; readonly running: Running }> {
  const load = await openLoad(run, robots);
  const { address, mqttPort } = load;
  const running = new Map<Side, Child>();
  const watch = async (side: Side, child: Child, opcuaPort: number) => {
    running.set(side, child);
    await load.watch(side, opcuaPort);
  };
  const openFloor = async (side: Side) => {
    const opcuaPort = await freePorts();
    const args = [side, robots, address.grpcPort, address.httpsPort, address.caPath, mqttPort, opcuaPort];
    const script = join(benchFolder, "messages", "floor", "main.js");
    await watch(side, run.start(side, script, args.map(String)), opcuaPort);
  };
  const openGateway = async (side: Side, build: Build) => {
    const options = { id: side, fleet: loadFleet(run, side, address, robots), mqttPort, build };
    const { child, opcuaPort } = await startGateway(run, options);
    await watch(side, child, opcuaPort);
  };
  await openFloor("floor");
  if (against === null) await openFloor("script");
  await openGateway("gateway", ownBuild);
  if (against !== null) await openGateway("other", against);
  return { load, running };
}

/** What each side costs while no message comes, in percent of a core, all at the same time. */
async function idlePercent(running: Running, seconds: number): Promise<ReadonlyMap<Side, number>> {
  await pause(SETTLE_MS);
  const before = [...running].map(([side, child]) => ({ side, child, cpuMicros: child.cpuMicros() }));
  await pause(seconds * 1000);
  return new Map(
    before.map(({ side, child, cpuMicros }) => [side, (child.cpuMicros() - cpuMicros) / 1e4 / seconds]),
  );
}

/** Two builds differ by little: many short blocks, so that neighbours have the same machine. */
const USUAL_ROUNDS = { alone: 4, against: 14, quick: 1 } as const;
const PACED_SECONDS = { alone: 10, against: 3, quick: 4 } as const;

function extent({ quick, against }: MessageOptions): keyof typeof USUAL_ROUNDS {
  if (quick) return "quick";
  return against === null ? "alone" : "against";
}

function paced(side: Side, options: MessageOptions): Block {
  const seconds = PACED_SECONDS[extent(options)];
  return { kind: "paced", side, messagesPerSecond: options.rate, seconds };
}

function warmUp(running: Running, options: MessageOptions): Block[] {
  return [...running.keys()].map((side) => ({ ...paced(side, options), seconds: options.quick ? 2 : 5 }));
}

/** Blocks A B B A, paced and at full speed; full speed once only where two builds are compared. */
function plan(running: Running, options: MessageOptions): Block[] {
  const saturated = (side: Side): Block => ({ kind: "saturated", side, seconds: options.quick ? 2 : 4 });
  const rounds = options.rounds ?? USUAL_ROUNDS[extent(options)];
  return Array.from({ length: rounds }, (_, round) => {
    const order = orderOf([...running.keys()], round);
    return [
      ...order.map((side) => paced(side, options)),
      ...(options.against === null || round === 0 ? order.map(saturated) : []),
    ];
  }).flat();
}

/**
 * Forth and back. The side in the middle follows itself, with its code and data still in the caches: so the
 * last two change places with each round.
 */
function orderOf([first = "floor", ...others]: readonly Side[], round: number): readonly Side[] {
  const forth = [first, ...(round % 2 === 0 ? others : others.toReversed())];
  return [...forth, ...forth.toReversed()];
}

async function runAll(load: Load, running: Running, blocks: readonly Block[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const block of blocks) {
    const child = running.get(block.side);
    if (child === undefined) throw new Error(`${block.side} is not running`);
    const startedMs = performance.now();
    const before = child.cpuMicros();
    const result = await load.run(block);
    measured.push({
      kind: block.kind,
      side: block.side,
      result,
      cpuMicros: child.cpuMicros() - before,
      wallSeconds: (performance.now() - startedMs) / 1000,
      rssAnonMb: child.rssAnonMb(),
    });
  }
  return measured;
}
