import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createRobotPool } from "../../contract/contract-harness.ts";
import { builtHere, type DaemonBuild } from "../../daemon/daemon.ts";
import { type Kind, kindNames, silenceMsOf } from "./faults.ts";
import { openPlant } from "./plant.ts";
import { openPlantClients, type PlantClients } from "./plant-clients.ts";
import { type RoundResult, runRound } from "./round.ts";
import { boxNames, openScene, type Scene } from "./scene.ts";
import { STORY } from "./verdict.ts";

export interface RoundsPlan {
  readonly kinds: readonly Kind[];
  /** Of each kind. */
  readonly rounds: number;
  readonly seed: number;
  /** Commands a second. */
  readonly rate: number;
  /** A line of JSON for each round that is over: those that it has already are not run again. */
  readonly report: string | null;
  /** That the boxes run; without it, that of this tree. */
  readonly build?: DaemonBuild;
  /** Ends after the first round that has shown something. */
  readonly untilBroken?: boolean;
}

/** A round that could not be judged. */
export interface FailedRound {
  readonly kind: Kind;
  readonly seed: number;
  readonly failed: string;
}

export type Round = RoundResult | FailedRound;

/** What a takeover may take, with etcd's leader on the box that died. */
const SLOW_MS = 9_000;
/** Between the seeds of two kinds. */
const SEEDS_OF_KIND = 1_000;

/** Runs the rounds of a plan, in one scene. One in which a round failed gives way to a new one. */
export async function runRounds({
  kinds,
  rounds,
  seed,
  rate,
  report,
  build = builtHere,
  untilBroken = false,
}: RoundsPlan): Promise<readonly Round[]> {
  const results: Round[] = report === null ? [] : [...(await resultsIn(report))];
  const isDone = (kind: Kind, ownSeed: number) =>
    results.some((round) => round.kind === kind && round.seed === ownSeed && !("failed" in round));
  let opened: Opened | null = null;
  let firstNumber = 1;
  try {
    // Those of one configuration follow each other.
    for (const silenceMs of new Set(kinds.map(silenceMsOf))) {
      const own = kinds.filter((kind) => silenceMsOf(kind) === silenceMs);
      await opened?.close();
      opened = null;
      for (let at = 0; at < rounds * own.length; at += 1) {
        const kind = own[at % own.length] as Kind;
        const ownSeed = seed + kindNames.indexOf(kind) * SEEDS_OF_KIND + Math.floor(at / own.length);
        if (isDone(kind, ownSeed)) continue;
        opened ??= await open(build, rate, silenceMs);
        const { scene, clients }: Opened = opened;
        let round: Round;
        try {
          round = await runRound(scene, clients, { kind, seed: ownSeed, rate, firstNumber });
          firstNumber += round.commands;
        } catch (error) {
          round = { kind, seed: ownSeed, failed: String(error) };
        }
        results.push(round);
        process.stderr.write(`${lineOf(round)}\n`);
        if (report !== null) await keep(report, round, scene);
        if (untilBroken && !("failed" in round) && round.broken.length > 0) return results;
        if ("failed" in round) {
          await opened.close();
          opened = null;
        }
      }
    }
  } finally {
    await opened?.close();
  }
  return results;
}

/** Of what is broken, so much is told while the rounds go on. */
const TOLD = 2;
/** Names of what a round may break, and the words by which it is known. */
const kindsOfBroken = [
  ["sent twice", /^\S+ \S+ was sent \d+ times/],
  ["sent though it was told that it was not", /and was sent \d|it was sent|it had its effect/],
  ["late start", /after it was told/],
  ["mixed epochs", /after one of its successor/],
  ["changed final", /, then /],
  ["start of a held robot", /after its hold/],
  ["never ends", /does not end|has no outcome/],
  ["shown as good", /shown as good/],
] as const;

/** How often a round has broken what. */
function countsOf(broken: readonly string[]): string {
  const names = broken.map(
    (text) => kindsOfBroken.find(([, words]) => words.test(text.split(STORY)[0] ?? ""))?.[0] ?? "other",
  );
  return [...new Set(names)]
    .map((name) => `${name} ${names.filter((each) => each === name).length}`)
    .join(", ");
}

function lineOf(round: Round): string {
  const what = `${round.kind}, seed ${round.seed}`;
  if ("failed" in round) return `${what}: not judged: ${round.failed}`;
  const { seconds, commands, load, broken } = round;
  const told = broken.slice(0, TOLD).map((text) => `\n  ${text}`);
  const found = broken.length === 0 ? "nothing broken" : countsOf(broken);
  return `${what}: ${commands} commands, ${seconds.join(", ")} s, load ${Math.round(load)}: ${found}${told.join("")}`;
}

interface Opened {
  readonly scene: Scene;
  readonly clients: PlantClients;
  close(): Promise<void>;
}

async function open(build: DaemonBuild, rate: number, silenceMs: number): Promise<Opened> {
  const plant = await openPlant(boxNames);
  const cart = createRobotPool()("cart");
  const sections = (box: string) => ({ ...plant.sections(box), quality: { streamSilenceMs: silenceMs } });
  const scene = await openScene({ cart, sections, build });
  const clients = await openPlantClients(plant, scene, cart, rate);
  return {
    scene,
    clients,
    async close() {
      await clients.close();
      await scene.close();
      await plant.close();
    },
  };
}

async function resultsIn(report: string): Promise<readonly Round[]> {
  const text = await readFile(report, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Round]));
}

/** With the logs of the boxes, where something is wrong or slow. */
async function keep(report: string, round: Round, { boxes }: Scene): Promise<void> {
  const folder = dirname(report);
  await mkdir(folder, { recursive: true });
  await appendFile(report, `${JSON.stringify(round)}\n`);
  const isGood = !("failed" in round) && round.broken.length === 0 && (round.takeoverMs ?? SLOW_MS) < SLOW_MS;
  if (isGood) return;
  for (const box of boxes)
    await writeFile(join(folder, `${round.kind}-${round.seed}-${box.name}.log`), box.said());
}
