import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { readScenario, type Scenario } from "../../src/simulator/scenario/scenario.ts";
import { seededRandom } from "../../src/simulator/world/random.ts";
import type { RecordEntry } from "../../src/simulator/world/record.ts";
import { openPlc } from "../e2e/plc.ts";
import { freePorts } from "../support/free-ports.ts";
import { startHoldingRelay } from "../support/holding-relay.ts";
import { startPlantBroker } from "../support/plant-broker.ts";
import { startSimulator } from "../support/simulator.ts";
import { READY, startDaemon, writeConfiguration } from "./daemon.ts";
import { createSlotLine, type SlotLine, type Told } from "./slot-line.ts";

/**
 * Others: `SLOT_CRASH_SEED=7 SLOT_CRASH_KILLS=50 npx vitest run test/daemon/slot-crash.test.ts`.
 */
const SEED = Number(process.env.SLOT_CRASH_SEED ?? 20_261_122);
/**
 * Each life exchanges a token, and the service allows 20 in 5 minutes (docs/internals/service.md): more kills
 * take longer. With three, the PLCs crash 42 times: each of the 15 kinds of a crash has its turn.
 */
const KILLS = Number(process.env.SLOT_CRASH_KILLS ?? 3);
/**
 * Many more than of the gateway: its start takes seconds of a processor, that of a PLC some hundredths.
 */
const PLC_CRASHES_A_KILL = 14;
const ROBOTS = 6;
/** More than the lines ever want: each mission has a destination of its own, by which the record knows it. */
const DESTINATIONS = 200 + KILLS * PLC_CRASHES_A_KILL * 3;
/** Steps of PLC cycles between the last crash of a PLC and that of the gateway. */
const LONGEST_STEPS = 60;
const TEST_MS = 120_000 + KILLS * 60_000;

const cleanups: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

test(
  `${KILLS} kills of the gateway and ${KILLS * PLC_CRASHES_A_KILL} crashes of PLCs (seed ${SEED}): nothing sent twice, no word untrue`,
  async () => {
    const random = seededRandom(SEED);
    let seed = SEED;
    const folder = await mkdtemp(join(tmpdir(), "fleetgate-slot-crash-"));
    cleanups.push(() => rm(folder, { recursive: true, force: true }));
    const simulator = await startSimulator({
      scenario: { kind: "given", scenario: manyGoals() },
      // Robots take their time to confirm, so that a kill finds commands under way; missions end at once.
      confirmMs: 10,
      timeFactor: 1_000,
    });
    cleanups.push(() => simulator.stop());
    const broker = await startPlantBroker();
    cleanups.push(() => broker.close());
    const port = await freePorts(1);
    const destinations = Object.fromEntries(numbers(DESTINATIONS).map((number) => [number, goalOf(number)]));
    const config = await writeConfiguration(folder, "crash", simulator.endpoints, robotIds, broker.url, {
      opcua: { listen: { host: "127.0.0.1", port }, insecureLoopback: { role: "operator" }, destinations },
    });

    const up = createGate();
    const steps = createCounter();
    const crashes = createCounter();
    const kinds = new Map<string, number>();
    let destination = 0;
    const lines: SlotLine[] = [];
    for (const robot of robotIds) {
      const relay = await startHoldingRelay(() => `127.0.0.1:${port}`);
      const line = createSlotLine({
        robot,
        relay,
        random: seededRandom(++seed),
        nextDestination: () => ++destination,
        gatewayUp: up.passed,
        onStep: steps.count,
        onCrash({ moment, loss }) {
          crashes.count();
          kinds.set(`${moment}: ${loss}`, (kinds.get(`${moment}: ${loss}`) ?? 0) + 1);
        },
      });
      cleanups.push(() => line.close());
      lines.push(line);
    }

    const stopping = new AbortController();
    let running: Promise<unknown> | null = null;
    for (let life = 0; life <= KILLS; life += 1) {
      const daemon = startDaemon(config);
      cleanups.push(() => daemon.kill());
      await daemon.says(READY);
      // The first makes keys, which the others use.
      if (life === 0) await (await openPlc(`opc.tcp://localhost:${port}`)).close();
      up.open();
      running ??= Promise.all(lines.map((line) => line.run(stopping.signal)));
      running.catch(() => {});
      if (life === KILLS) break;
      await Promise.race([crashes.reach((life + 1) * PLC_CRASHES_A_KILL), running]);
      await Promise.race([steps.reach(steps.counted() + random() * LONGEST_STEPS), running]);
      // Until the next life is there, nobody connects.
      up.close();
      await daemon.kill();
    }
    stopping.abort();
    await running;

    const stories = lines.flatMap(({ told }) => storiesOf(told, simulator.control.record(0)));
    if (process.env.SLOT_CRASH_FIGURES !== undefined) showFigures(stories, kinds);
    expect(stories.filter(({ broken }) => broken !== null)).toEqual([]);
    // Else this would show nothing.
    expect(crashes.counted()).toBeGreaterThanOrEqual(KILLS * PLC_CRASHES_A_KILL);
    expect(stories.filter(({ told }) => told?.said === "Done").length).toBeGreaterThan(2 * KILLS);
    expect(stories.filter(({ told }) => told?.said === "NotSent").length).toBeGreaterThan(0);
  },
  TEST_MS,
);

const numbers = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
const goalOf = (number: number) => `Goal ${number}`;
const robotIds = numbers(ROBOTS).map((number) => `base-${number}`);

/** A mission that a machine wanted: what its PLC was told, held against the service's record. */
interface Story {
  readonly goal: string;
  readonly told: Told;
  /** How often the service was given it, and how often a robot got it. */
  readonly received: number;
  readonly made: number;
  readonly broken: string | null;
}

function storiesOf(told: ReadonlyMap<number, Told>, record: readonly RecordEntry[]): readonly Story[] {
  return [...told].map(([number, word]) => {
    const goal = goalOf(number);
    const calls = new Set<string>();
    let made = 0;
    for (const { fact } of record) {
      const isIt = fact.what === "received" && JSON.stringify(fact.request).includes(`"${goal}"`);
      if (isIt) calls.add(`call:${fact.callId}`);
      else if (fact.what === "mission" && fact.from === "none" && calls.has(fact.by)) made += 1;
    }
    const received = calls.size;
    return { goal, told: word, received, made, broken: brokenPromise(word, received, made) };
  });
}

function brokenPromise(told: Told, received: number, made: number): string | null {
  if (received > 1) return "sent twice";
  if (told?.said === "Done" && made === 0) return "told that it succeeded, and it was not sent";
  if (told?.said === "Error" && made > 0) return "told that it was not done, and it was";
  if (told?.said === "NotSent" && received > 0) return "told that it was not sent, and it was";
  return null;
}

/** For a run with another number of crashes. */
function showFigures(stories: readonly Story[], kinds: ReadonlyMap<string, number>): void {
  const words = new Map<string, number>();
  for (const { told } of stories) {
    const word = told === null ? "nothing" : `${told.said} ${told.outcome}`;
    words.set(word, (words.get(word) ?? 0) + 1);
  }
  process.stderr.write(`missions: ${stories.length}; told: ${JSON.stringify([...words])}\n`);
  process.stderr.write(`crashes: ${JSON.stringify([...kinds])}\n`);
}

/** Robots on a map with very many destinations, all of them near. */
function manyGoals(): Scenario {
  const home = (number: number) => `H${number}`;
  return readScenario({
    confirmMs: 0,
    rules: { standingPercentPerHour: 0, drivingPercentPerHour: 0 },
    distributors: [{ id: "acme", apiKeys: [{ apiKey: "acme-one" }] }],
    locations: [{ id: "plant-1", distributor: "acme" }],
    maps: [
      {
        id: 1,
        name: "Plant 1",
        distributor: "acme",
        vertices: [
          ...numbers(ROBOTS).map((number) => ({
            id: number,
            code: home(number),
            x: 0,
            y: number / 100,
            kind: "home" as const,
          })),
          ...numbers(DESTINATIONS).map((number) => ({
            id: 1_000 + number,
            code: `G${number}`,
            alias: goalOf(number),
            x: 1 + (number % 100) / 100,
            y: number / 10_000,
            kind: "station" as const,
          })),
        ],
      },
    ],
    robots: robotIds.map((id, at) => ({
      id,
      amrId: 1 + at,
      family: "base" as const,
      location: "plant-1",
      map: 1,
      home: home(at + 1),
    })),
  });
}

/** It is closed at first. */
function createGate() {
  let pass = () => {};
  let passed = new Promise<void>((resolve) => {
    pass = resolve;
  });
  return {
    passed: () => passed,
    open: () => pass(),
    close() {
      passed = new Promise<void>((resolve) => {
        pass = resolve;
      });
    },
  };
}

/** Counts, and tells when so many are counted. */
function createCounter() {
  let counted = 0;
  let watchers: Array<{ readonly count: number; readonly tell: () => void }> = [];
  return {
    counted: () => counted,
    count() {
      counted += 1;
      for (const { count, tell } of watchers) if (counted >= count) tell();
      watchers = watchers.filter(({ count }) => counted < count);
    },
    reach: (count: number) =>
      new Promise<void>((resolve) => {
        if (counted >= count) resolve();
        else watchers.push({ count, tell: resolve });
      }),
  };
}
