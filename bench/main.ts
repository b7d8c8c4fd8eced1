// Measures the gateway, the service and the way of a command. Each section runs alone, one after the other.
import { parseArgs } from "node:util";
import { type Build, buildAt } from "./build.ts";
import { measureCluster } from "./cluster/section.ts";
import { compareCommands } from "./commands/builds.ts";
import { measureCommands } from "./commands/section.ts";
import { measureConsole } from "./console/section.ts";
import { compareFleets } from "./fleet/builds.ts";
import { measureFleet } from "./fleet/section.ts";
import { measureFlood } from "./flood/section.ts";
import { type MachineReport, machineLine, watchMachine } from "./machine.ts";
import { measureMessages } from "./messages/section.ts";
import { measureWatched } from "./messages/watched/section.ts";
import { measureOpcUa } from "./opcua/section.ts";
import { measureOutbox } from "./outbox/section.ts";
import { ratioLines } from "./ratio.ts";
import { type Findings, reachLines } from "./report.ts";
import { SectionRun } from "./section-run.ts";
import { measureService } from "./service/section.ts";
import { measureShards } from "./shards/section.ts";
import { measureSparkplug } from "./sparkplug/section.ts";
import { measureStart } from "./start/section.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string" },
    profile: { type: "string" },
    robots: { type: "string", default: "1000" },
    rate: { type: "string", default: "4000" },
    rounds: { type: "string" },
    against: { type: "string" },
    minutes: { type: "string" },
    seconds: { type: "string" },
  },
});
const size = { robots: Number(options.robots), quick: options.quick };
const rounds = options.rounds === undefined ? null : Number(options.rounds);
const minutes = options.minutes === undefined ? null : Number(options.minutes);
const seconds = options.seconds === undefined ? null : Number(options.seconds);
const messages = { ...size, rate: Number(options.rate), rounds };
type Section = (run: SectionRun) => Promise<Findings>;
type SectionName =
  | "messages"
  | "watched"
  | "sparkplug"
  | "service"
  | "fleet"
  | "opcua"
  | "commands"
  | "flood"
  | "outbox"
  | "start"
  | "cluster"
  | "shards"
  | "console";
const sections: Partial<Record<SectionName, Section>> =
  options.against === undefined ? alone() : comparing(buildAt(options.against));

function alone(): Record<SectionName, Section> {
  return {
    messages: (run) => measureMessages(run, { ...messages, against: null }),
    watched: (run) => measureWatched(run, messages),
    sparkplug: (run) => measureSparkplug(run, { ...messages, against: null }),
    service: (run) => measureService(run, size),
    fleet: (run) => measureFleet(run, size),
    opcua: (run) => measureOpcUa(run, size),
    commands: (run) => measureCommands(run, size),
    flood: (run) => measureFlood(run),
    outbox: (run) => measureOutbox(run, size),
    start: (run) => measureStart(run, size),
    cluster: (run) => measureCluster(run, { rounds, seconds, quick: size.quick }),
    shards: (run) => measureShards(run, size),
    console: (run) => measureConsole(run, { ...size, minutes }),
  };
}

/** The sections that tell two builds of the gateway apart. */
function comparing(against: Build): Partial<Record<SectionName, Section>> {
  return {
    messages: (run) => measureMessages(run, { ...messages, against }),
    sparkplug: (run) => measureSparkplug(run, { ...messages, against }),
    commands: (run) => compareCommands(run, { ...size, against }),
    fleet: (run) => compareFleets(run, { ...size, against }),
  };
}

type Outcome = Findings & { readonly machine: MachineReport };

/** With `--quick` the main section alone, in less than a minute with the build; all sections to compare. */
function chosen(): [SectionName, Section][] {
  const { only, quick, against } = options;
  const all = Object.entries(sections) as [SectionName, Section][];
  const name = only ?? (quick && against === undefined ? "messages" : undefined);
  const found = all.filter(([each]) => name === undefined || each === name);
  if (found.length === 0) throw new Error(`--only knows ${Object.keys(sections).join(", ")}, not ${only}`);
  return found;
}

async function measure(section: Section): Promise<Outcome> {
  const run = new SectionRun(options.profile ?? null);
  const interrupt = () => run.fail(new Error("interrupted"));
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    const machine = watchMachine(run);
    const found = await run.guard(section(run));
    return { ...found, machine: machine() };
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    await run.end();
  }
}

function show(name: SectionName, { table, reach, machine }: Outcome): void {
  console.log(`\n== ${name} ==\n${machineLine(machine)}\n${table}\n${reachLines(reach)}`);
}

function showBuilds(outcomes: readonly Outcome[]): void {
  const ratios = outcomes.flatMap(({ builds }) => builds ?? []);
  if (ratios.length > 0) console.log(`\n== this build ÷ ${options.against} ==\n${ratioLines(ratios)}`);
}

async function main(): Promise<void> {
  const outcomes = new Map<SectionName, Outcome>();
  for (const [name, section] of chosen()) {
    const outcome = await measure(section);
    outcomes.set(name, outcome);
    if (!options.json) show(name, outcome);
    for (const fault of outcome.faults) {
      console.error(`${name}: ${fault}\nThe figures of this section mean nothing.`);
      process.exitCode = 1;
    }
  }
  if (!options.json) {
    showBuilds([...outcomes.values()]);
    return;
  }
  const { ratios } = outcomes.get("messages") ?? {};
  const found = Object.fromEntries(
    [...outcomes].map(([name, { figures, reach, faults, builds, machine }]) => [
      name,
      { ...figures, reach, faults, machine, ...(builds === undefined ? {} : { builds }) },
    ]),
  );
  console.log(JSON.stringify({ ...(ratios === undefined ? {} : { ratios }), ...found }));
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
