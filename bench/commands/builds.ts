// Two builds of the gateway, commanded in turn: what a command costs each of them.
import { type Build, ownBuild } from "../build.ts";
import { quantile } from "../quantile.ts";
import { pairedRatio } from "../ratio.ts";
import { type Findings, row } from "../report.ts";
import type { SectionRun } from "../section-run.ts";
import { ask, openCommands } from "./open.ts";
import type { SendResult, Way } from "./protocol.ts";
import { faultsOf } from "./section.ts";

/** Half of what the `commands` section asks for: the machine also bears a second gateway. */
const RATE = 1_000;
const ROUNDS = 3;
/** V8 compiles for it in the first seconds. */
const WARM_UP_SECONDS = { quick: 3, full: 10 } as const;
const BLOCK_SECONDS = { quick: 4, full: 10 } as const;

interface Block {
  readonly way: Way;
  readonly result: SendResult;
  readonly cpuMicrosPerCommand: number;
}

export async function compareCommands(
  run: SectionRun,
  { robots, quick, against }: { readonly robots: number; readonly quick: boolean; readonly against: Build },
): Promise<Findings> {
  const parts = await openCommands(run, robots, [ownBuild, against]);
  const length = quick ? "quick" : "full";
  const send = (way: Way, seconds: number) => ask(parts.sender, { kind: "send", way, rate: RATE, seconds });
  for (const way of ["mqtt", "other"] as const) await send(way, WARM_UP_SECONDS[length]);
  const blocks: Block[] = [];
  for (let round = 0; round < (quick ? 1 : ROUNDS); round += 1) {
    for (const way of ["mqtt", "other", "other", "mqtt"] as const) {
      const child = parts.gateways[way === "mqtt" ? 0 : 1]?.child;
      const before = child?.cpuMicros() ?? Number.NaN;
      const result = await send(way, BLOCK_SECONDS[length]);
      const cpuMicros = (child?.cpuMicros() ?? Number.NaN) - before;
      blocks.push({ way, result, cpuMicrosPerCommand: cpuMicros / result.sent });
    }
  }
  return findings(blocks);
}

function findings(blocks: readonly Block[]): Findings {
  const of = (way: Way, figure: (block: Block) => number) =>
    blocks.filter((block) => block.way === way).map(figure);
  const line = (label: string, figure: (block: Block) => number) =>
    row(label, quantile(of("mqtt", figure), 0.5), quantile(of("other", figure), 0.5));
  const cpu = ({ cpuMicrosPerCommand }: Block) => cpuMicrosPerCommand;
  return {
    figures: { blocks },
    faults: blocks.flatMap(({ result }) => faultsOf(result)),
    reach: [],
    builds: [pairedRatio("CPU a command", of("mqtt", cpu), of("other", cpu))],
    table: [
      row(`one conveyor command over MQTT, ${RATE} a second`, "this build", "other build"),
      line("CPU µs a command", cpu),
      line("p50 ms", ({ result }) => result.latencyMs.p50),
      line("p99 ms", ({ result }) => result.latencyMs.p99),
    ].join("\n"),
  };
}
