// What metrics and the recorder cost a message: one gateway, in which they are switched on and off, in turn.
// Two processes of the same program differ by more than that.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Build, ownBuild, root } from "../../build.ts";
import type { Child } from "../../child.ts";
import { startGateway } from "../../gateway.ts";
import { pairedRatio, ratioLines } from "../../ratio.ts";
import { atMost, type Findings } from "../../report.ts";
import { REPLY_TIMEOUT_MS, type SectionRun } from "../../section-run.ts";
import { loadFleet } from "../load-fleet.ts";
import { openLoad } from "../open-load.ts";
import type { BlockResult, Side } from "../protocol.ts";
import type { SwitchReply, SwitchRequest } from "./switch.ts";

/** What can be chosen on the command line. */
interface WatchedOptions {
  readonly robots: number;
  /** Messages a second. */
  readonly rate: number;
  readonly quick: boolean;
  /** How often each has its two blocks; null: as is usual. */
  readonly rounds: number | null;
}

/** 4 % of the CPU of a message are metrics and recorder: 1 ÷ 0.96. */
const MOST_RATIO = 1.0417;
const ROUNDS = { usual: 160, quick: 4 } as const;
/** Short, so that the machine is the same for the four blocks of a round. */
const BLOCK_SECONDS = 0.5;
const WARM_UP_SECONDS = 10;
const SIDE: Side = "gateway";

/** The program before it is bundled: only there a module can be replaced. */
const program: Build = { ...ownBuild, script: join(root, ".build", "main.js") };
const preload = [join(dirname(fileURLToPath(import.meta.url)), "preload.js")];

/** One block, with what the gateway says of it when all is written. */
interface Measured extends SwitchReply {
  readonly result: BlockResult;
}

export async function measureWatched(run: SectionRun, options: WatchedOptions): Promise<Findings> {
  const load = await openLoad(run, options.robots);
  const gateway = await startGateway(run, {
    id: SIDE,
    fleet: loadFleet(run, SIDE, load.address, options.robots),
    mqttPort: load.mqttPort,
    build: program,
    preload,
  });
  await load.watch(SIDE, gateway.opcuaPort);
  const paced = (seconds: number) =>
    load.run({ kind: "paced", side: SIDE, messagesPerSecond: options.rate, seconds });
  await paced(options.quick ? BLOCK_SECONDS : WARM_UP_SECONDS);
  const rounds = options.rounds ?? ROUNDS[options.quick ? "quick" : "usual"];
  const [on, off]: [Measured[], Measured[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const first = round % 2 === 0;
    for (const isOn of [first, !first, !first, first]) {
      await switchTo(gateway.child, isOn);
      const result = await paced(BLOCK_SECONDS);
      (isOn ? on : off).push({ result, ...(await switchTo(gateway.child, isOn)) });
    }
  }
  return findings(on, off);
}

function switchTo(gateway: Child, isOn: boolean): Promise<SwitchReply> {
  gateway.send({ isOn } satisfies SwitchRequest);
  return gateway.next<SwitchReply>(REPLY_TIMEOUT_MS);
}

function findings(on: readonly Measured[], off: readonly Measured[]): Findings {
  const ratio = pairedRatio("CPU a message, with ÷ without", cpuByRound(on), cpuByRound(off));
  const all = [...on, ...off];
  const missing = all.reduce((sum, { result }) => sum + missingIn(result), 0);
  const faults = missing === 0 ? [] : [`${missing} messages did not arrive`];
  // The meter hears of each message, and the recorder takes it; besides, it takes what northbounds are told.
  if (on.some(({ handedOver, result }) => handedOver <= 2 * result.sent)) {
    faults.push("metrics or recorder did not get what came while they were on");
  }
  if (off.some(({ handedOver }) => handedOver > 0))
    faults.push("metrics or recorder got something while they were off");
  return {
    figures: { messages: all.reduce((sum, { result }) => sum + result.sent, 0), missing, ratio },
    table: ratioLines([ratio]),
    reach: [atMost("CPU of a message with metrics and recorder ÷ without", ratio.median, MOST_RATIO)],
    faults,
  };
}

/** Of the two blocks of each round, in microseconds a message. */
function cpuByRound(blocks: readonly Measured[]): number[] {
  return Array.from({ length: blocks.length / 2 }, (_, round) => {
    const two = blocks.slice(2 * round, 2 * round + 2);
    const sum = (of: (block: Measured) => number) => two.reduce((total, block) => total + of(block), 0);
    return sum(({ cpuMicros }) => cpuMicros) / sum(({ result }) => result.sent);
  });
}

function missingIn({ sent, seenOnMqtt, seenOnOpcua }: BlockResult): number {
  return 2 * sent - seenOnMqtt - seenOnOpcua;
}
