import { setTimeout as wait } from "node:timers/promises";
import { afterEach, expect, test } from "vitest";
import { seededRandom } from "../../src/simulator/world/random.ts";
import { openRoundScene, type Plan } from "./crash-rounds-harness.ts";
import { type Asked, isUnrecorded } from "./crash-rounds-story.ts";

/**
 * The long form: `CRASH_ROUNDS=54 CRASH_ROUND_COMMANDS=155 npx vitest run test/daemon/crash-rounds.test.ts`.
 */
const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3);
/** New commands of a round, on average. */
const COMMANDS = Number(process.env.CRASH_ROUND_COMMANDS ?? 50);
const SEED = Number(process.env.CRASH_ROUNDS_SEED ?? 20_261_126);
const TEST_MS = 120_000 + ROUNDS * (30_000 + COMMANDS * 100);

const HOUR_MS = 3_600_000;
/** How far the clock of each life is ahead: first what every run must have had, then one of them. */
const CLOCKS_MS = [0, 8 * 24 * HOUR_MS, -16 * 365 * 24 * HOUR_MS, HOUR_MS] as const;
/** More than the time between two prunings of the journal, which also write what a full disk did not take. */
const DWELL_MS = 11_000;
/** From the last command of another life to its end, at most. */
const SHORT_MS = 500;
const EARLY_WITHIN_MS = 3_000;
/** So many of the commands before those of the last two lives are asked for again in each life. */
const OLDER = 200;
/**
 * A record of the journal has less than 5 kB, and a line of the audit log less than 1; both grow in steps.
 */
const DISK_MEGABYTES = Math.max(32, Math.ceil((ROUNDS * COMMANDS * 16_000) / 1_000_000));

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(
  `${ROUNDS} rounds of wrong clocks, full disks and ends at random (seed ${SEED}): nothing twice, nothing told changes`,
  async () => {
    const random = seededRandom(SEED);
    const scene = await openRoundScene(random, DISK_MEGABYTES, cleanups);
    const { sent } = scene;
    for (let life = 0; life < ROUNDS; life += 1) {
      const plan = planOf(life, scene.isFull(), random);
      const daemon = await scene.start(plan.aheadMs);
      if (plan.isEarly) {
        // Time, for no event may say when: any moment is to be met.
        await wait(random() * EARLY_WITHIN_MS);
      } else {
        await scene.ready(daemon, life);
        await scene.askAgain([...someOlder(sent, random), ...sent.slice(-2 * COMMANDS)]);
        await scene.sendSome(plan);
        if (plan.isCalm) await scene.settled();
        // Time once more: the pruning comes in it.
        await wait(plan.dwellMs);
      }
      await scene.end(daemon, plan);
    }
    await scene.freeDisk();
    await scene.ready(await scene.start(0), ROUNDS);
    await scene.askAgain(sent);
    // Once more: what was final stays as it was.
    await scene.askAgain(sent);

    const broken = scene.broken();
    const unrecorded = sent.filter(({ told }) => told.some(isUnrecorded)).length;
    const counted = { commands: sent.length, endings: scene.endings(), unrecorded };
    const figures = { ...scene.counts, ...counted, broken: broken.length };
    if (process.env.CRASH_ROUNDS_FIGURES !== undefined)
      process.stderr.write(`${JSON.stringify({ ...figures, outcomes: outcomesOf(sent) })}\n`);
    expect(broken).toEqual([]);
    // Else this would show nothing.
    expect(scene.counts.kills).toBeGreaterThan(0);
    expect(counted.endings).toBeGreaterThan(sent.length / 2);
    expect(Object.keys(outcomesOf(sent))).toContain("succeeded OK");
    if (scene.counts.fullDisks > 0) expect(unrecorded).toBeGreaterThan(0);
  },
  TEST_MS,
);

function planOf(life: number, isFull: boolean, random: () => number): Plan {
  const commands = Math.round(COMMANDS * (0.5 + random()));
  const place = () => Math.floor(random() * commands);
  const isEarly = life % 4 === 3;
  const frees = isFull && (life <= 1 || random() < 0.7);
  const fills = !isFull && (life === 0 || random() < 0.6);
  const fillAt = fills ? place() : null;
  const freesItsOwn = fillAt !== null && life > 0 && random() < 0.5;
  return {
    aheadMs: CLOCKS_MS[life < CLOCKS_MS.length ? life : Math.floor(random() * CLOCKS_MS.length)] ?? 0,
    isEarly,
    isOrderly: !isEarly && life % 5 === 2,
    isCalm: life === 0 || random() < 0.4,
    dwellMs: life % 6 === 1 ? DWELL_MS : random() * SHORT_MS,
    commands,
    fillAt,
    freeAt: frees ? place() : freesItsOwn ? fillAt + Math.floor(random() * (commands - fillAt)) : null,
  };
}

/** Of the commands before the last two lives. */
function someOlder(sent: readonly Asked[], random: () => number): readonly Asked[] {
  const older = sent.slice(0, -2 * COMMANDS);
  if (older.length <= OLDER) return older;
  const startAt = Math.floor(random() * (older.length - OLDER));
  return older.slice(startAt, startAt + OLDER);
}

/** How often each outcome was told last. */
function outcomesOf(sent: readonly Asked[]): Readonly<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  for (const { told } of sent) {
    const last = told.at(-1);
    const name = last === undefined ? "nothing" : `${last.outcome} ${last.code}`;
    outcomes[name] = (outcomes[name] ?? 0) + 1;
  }
  return outcomes;
}
