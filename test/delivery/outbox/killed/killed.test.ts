import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { seededRandom } from "../../../../src/simulator/world/random.ts";

const KILLS = 5;
const EVENTS_A_ROUND = 4;
/** Another seed kills at other points: `CRASH_SEED=7 npx vitest run outbox/killed`. */
const SEED = Number(process.env.CRASH_SEED ?? 20_261_123);
const child = join(import.meta.dirname, "child.mjs");

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outbox-killed-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** Lives until it is killed, or to its end; resolves with its exit code, or null when killed. */
async function live(life: number, events: number, killAfterMs: number | null): Promise<number | null> {
  const running = fork(child, [directory, String(life), String(events), "1000000"]);
  const ended = once(running, "exit");
  await Promise.race([once(running, "message"), ended]);
  if (killAfterMs !== null) {
    // Real time: the process writes as fast as its disk, and a kill at any point of that is the test.
    await wait(killAfterMs);
    running.kill("SIGKILL");
  }
  const [code] = await ended;
  return code;
}

/** What a kill has cut off in the middle of its line has not arrived. */
function arrivals(): ReadonlyArray<{ readonly robot: string; readonly id: string }> {
  const lines = readFileSync(join(directory, "arrived"), "utf8").split("\n");
  const whole = lines.filter((line) => line.endsWith(" ."));
  return whole.map((line) => {
    const [robot = "", id = ""] = line.split(" ");
    return { robot, id };
  });
}

it(`a real process that is killed again and again hands over every event of its disk, in order (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  for (let life = 0; life < KILLS; life += 1) {
    expect(await live(life, EVENTS_A_ROUND, random() * 500), "was killed").toBeNull();
  }
  expect(await live(KILLS, 0, null)).toBe(0);

  const newest = new Map<string, string>();
  const seen = new Set<string>();
  const ofLife = new Map<string, number[]>();
  for (const { robot, id } of arrivals()) {
    if (robot === "dropped") throw new Error(`${id} tells of dropped events`);
    if (seen.has(id)) continue;
    seen.add(id);
    if (id <= (newest.get(robot) ?? "")) throw new Error(`${id} after ${newest.get(robot)}`);
    newest.set(robot, id);
    const [life = "", number = ""] = id.split(":");
    const numbers = ofLife.get(life) ?? [];
    numbers.push(Number(number));
    ofLife.set(life, numbers);
  }
  // What a life had on its disk is a beginning of all that it was given: nothing is missing before its last.
  expect(ofLife.size).toBe(KILLS);
  for (const [life, numbers] of ofLife) {
    expect(numbers.length, `life ${life}`).toBe(numbers.reduce((most, number) => Math.max(most, number), 0));
  }
}, 120_000);
