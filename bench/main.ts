// Measures the gateway, the service and the way of a command. Each section runs alone, one after the other.
import { parseArgs } from "node:util";
import { measureCommands } from "./commands/section.ts";
import { measureFleet } from "./fleet/section.ts";
import { measureFlood } from "./flood/section.ts";
import { House } from "./house.ts";
import { type MachineReport, machineLine, watchMachine } from "./machine.ts";
import { measureMessages } from "./messages/section.ts";
import { type Findings, reachLines } from "./report.ts";
import { measureService } from "./service/section.ts";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    only: { type: "string" },
    profile: { type: "string" },
    robots: { type: "string", default: "1000" },
    rate: { type: "string", default: "4000" },
  },
});
const size = { robots: Number(options.robots), quick: options.quick };
const sections = {
  messages: (house: House) => measureMessages(house, { ...size, rate: Number(options.rate) }),
  service: (house: House) => measureService(house, size),
  fleet: (house: House) => measureFleet(house, size),
  commands: (house: House) => measureCommands(house, size),
  flood: (house: House) => measureFlood(house),
};
type SectionName = keyof typeof sections;
type Outcome = Findings & { readonly machine: MachineReport };

/** With `--quick` the main section alone, so that it takes less than a minute with the build. */
function chosen(): SectionName[] {
  const { only, quick } = options;
  if (only === undefined) return quick ? ["messages"] : (Object.keys(sections) as SectionName[]);
  if (!(only in sections)) throw new Error(`--only knows ${Object.keys(sections).join(", ")}, not ${only}`);
  return [only as SectionName];
}

async function measure(name: SectionName): Promise<Outcome> {
  const house = new House(options.profile ?? null);
  const interrupt = () => house.fail(new Error("interrupted"));
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    const machine = watchMachine(() => house.children);
    const found = await house.guard(sections[name](house));
    return { ...found, machine: machine() };
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    await house.end();
  }
}

function show(name: SectionName, { table, reach, machine }: Outcome): void {
  console.log(`\n== ${name} ==\n${machineLine(machine)}\n${table}\n${reachLines(reach)}`);
}

async function run(): Promise<void> {
  const outcomes = new Map<SectionName, Outcome>();
  for (const name of chosen()) {
    const outcome = await measure(name);
    outcomes.set(name, outcome);
    if (!options.json) show(name, outcome);
    for (const fault of outcome.faults) {
      console.error(`${name}: ${fault}\nThe figures of this section mean nothing.`);
      process.exitCode = 1;
    }
  }
  if (!options.json) return;
  const { ratios } = outcomes.get("messages") ?? {};
  const found = Object.fromEntries(
    [...outcomes].map(([name, { figures, reach, faults, machine }]) => [
      name,
      { ...figures, reach, faults, machine },
    ]),
  );
  console.log(JSON.stringify({ ...(ratios === undefined ? {} : { ratios }), ...found }));
}

run().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
