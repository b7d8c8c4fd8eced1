// Days of a plant in minutes: what does the gateway hold after them that it did not before?
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { machineLine, watchMachine } from "../machine.ts";
import { reachLines } from "../report.ts";
import { pause, SectionRun, until } from "../section-run.ts";
import { createHappenings } from "./incidents.ts";
import { faultsOf, type Looks, leaked, lookAgain, looksOf, type Period, reachOf, total } from "./judge.ts";
import { FACTOR, openPlant, type Plant } from "./plant.ts";
import { type Leak, leaks } from "./protocol.ts";
import { type Incident, scheduleOf } from "./schedule.ts";
import { headLine, leakLines, periodLine } from "./table.ts";

const DAY_MS = 86_400_000;
/** What a PLC that crashed had subscribed to is over after three seconds. */
const SETTLE_MS = 4_000;
const LOOKS = 4;
const MOST_LOOKS = 12;
/** A look stops the gateway for a second and more. */
const BETWEEN_LOOKS_MS = 1_500;
/** A planted leak is left so often in a period. */
const PLANTED = 3;

const { values: options } = parseArgs({
  options: {
    days: { type: "string", default: "7" },
    seed: { type: "string", default: "1" },
    json: { type: "string" },
    plant: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const days = Number(options.days);
if (!(days > 0)) throw new Error("--days: write a number above 0");
const planted = leaks.find((leak) => leak === options.plant);
if (options.plant !== undefined && planted === undefined)
  throw new Error(`--plant knows ${leaks.join(", ")}`);

/** A day each; in less than two days two halves, for what is held is compared. */
function periodsOf(allDays: number): readonly number[] {
  const count = Math.max(2, Math.floor(allDays));
  return Array.from({ length: count }, () => allDays / count);
}

async function isSettled(plant: Plant): Promise<boolean> {
  const { components } = await plant.health();
  return components.fleet?.state === "up" && components.mqtt?.state === "up";
}

/**
 * At the end of the first period some looks, for what is under way comes and goes. Later looks as long as
 * there is more than then: one without more shows that nothing was left behind.
 */
async function look(plant: Plant, before: Looks | undefined): Promise<Pick<Period, "looks" | "memory">> {
  await until("the plant is settled", () => isSettled(plant), 60_000, 100);
  await pause(SETTLE_MS);
  const memory = await plant.census();
  let looks = looksOf(memory);
  const isGrown = (first: Looks) => Object.values(leaked(first, looks)).some((each) => total(each) > 0);
  for (let count = 1; before === undefined ? count < LOOKS : count < MOST_LOOKS; count += 1) {
    if (before !== undefined && !isGrown(before)) break;
    await pause(BETWEEN_LOOKS_MS);
    looks = lookAgain(looks, await plant.census());
  }
  return { looks, memory };
}

async function runPeriods(plant: Plant, tell: (period: Period) => void): Promise<readonly Period[]> {
  const random = seededRandom(Number(options.seed));
  const happen = createHappenings(plant, random);
  const periods: Period[] = [];
  let endsAt = 0;
  for (const length of periodsOf(days)) {
    const startMs = performance.now();
    const lengthMs = (length * DAY_MS) / FACTOR;
    const before = { tokens: plant.tokens(), plc: { ...plant.plc }, replies: repliesOf(plant) };
    const happened: Partial<Record<Incident, number>> = {};
    const schedule = scheduleOf(length, random);
    for (const [index, { incident, at }] of schedule.entries()) {
      await pause(Math.max(0, startMs + at * lengthMs - performance.now()));
      const tookMs = await happen(incident);
      if (options.verbose) console.error(`${incident}: recovered after ${Math.round(tookMs)} ms`);
      happened[incident] = (happened[incident] ?? 0) + 1;
      if (planted !== undefined && index < PLANTED) plant.plant(planted satisfies Leak);
    }
    await pause(Math.max(0, startMs + lengthMs - performance.now()));
    endsAt += length;
    const latency = plant.subscriber.latency();
    const over = plant.subscriber.disturb();
    const seen = await look(plant, periods[0]?.looks);
    over();
    const period = {
      endsAt,
      ...seen,
      latency,
      happened,
      tokens: plant.tokens() - before.tokens,
      plc: {
        changes: plant.plc.changes - before.plc.changes,
        commands: plant.plc.commands - before.plc.commands,
      },
      replies: repliesOf(plant) - before.replies,
    };
    periods.push(period);
    tell(period);
  }
  return periods;
}

function repliesOf({ subscriber }: Plant): number {
  return Array.from(subscriber.replies.values()).reduce((sum, number) => sum + number, 0);
}

async function soak(run: SectionRun): Promise<boolean> {
  const machine = watchMachine(run);
  const plant = await openPlant(run, Number(options.seed));
  plant.go(FACTOR);
  // What was sent at the machine's pace is over.
  await pause(SETTLE_MS);
  plant.subscriber.latency();
  console.log(headLine());
  const periods = await runPeriods(plant, (period) => console.log(periodLine(period)));
  plant.go(1);
  const [first] = periods;
  const last = periods.at(-1);
  if (first === undefined || last === undefined) throw new Error("no period");
  const reach = reachOf(periods);
  const faults = [...faultsOf(periods), ...plant.plcFailures.map((message) => `a PLC failed: ${message}`)];
  console.log(`\n${machineLine(machine())}`);
  console.log(`commands over MQTT: ${JSON.stringify(Object.fromEntries(plant.subscriber.replies))}`);
  console.log(leakLines(leaked(first.looks, last.looks)));
  console.log(reachLines(reach));
  for (const fault of faults) console.error(`${fault}: the soak means nothing`);
  if (options.json !== undefined) {
    writeFileSync(options.json, `${JSON.stringify({ days, seed: options.seed, periods, reach, faults })}\n`);
  }
  return faults.length === 0 && reach.every(({ met }) => met);
}

const run = new SectionRun(null);
const interrupt = () => run.fail(new Error("interrupted"));
process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
try {
  process.exitCode = (await run.guard(soak(run))) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  await run.end();
}
process.exit();
