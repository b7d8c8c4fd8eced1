import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { seededRandom } from "../../../src/simulator/world/random.ts";

/** Each life asks for all that the lives before it asked for, and for so many more. */
const COMMANDS_A_LIFE = 60;
const KILLS = 8;
/** Another seed kills at other points: `CRASH_SEED=7 npx vitest run killed`. */
const SEED = Number(process.env.CRASH_SEED ?? 20_261_121);
const child = join(import.meta.dirname, "child.mjs");

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "killed-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/**
 * Starts the process and kills it when it has sent so many commands; resolves with its exit code, or null
 * when killed.
 */
async function live(life: number, killAfter: number, defect: string): Promise<number | null> {
  const count = String(COMMANDS_A_LIFE * (life + 1));
  const end = Number.isFinite(killAfter) ? "killed" : "done";
  const running = fork(child, [directory, count, `life${life}`, String(SEED + life), defect, end]);
  let sent = 0;
  running.on("message", () => {
    sent += 1;
    if (sent === killAfter) running.kill("SIGKILL");
  });
  const [code] = await once(running, "exit");
  return code;
}

function lines(name: string): string[] {
  const path = join(directory, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

/** Kills one life after the other, and lets the last come to its end. */
async function liveAndDie(defect = ""): Promise<void> {
  const random = seededRandom(SEED);
  for (let life = 0; life < KILLS; life += 1) {
    expect(await live(life, 1 + Math.floor(random() * 20), defect), "was killed").toBeNull();
  }
  expect(await live(KILLS, Number.POSITIVE_INFINITY, defect)).toBe(0);
}

it(`a real process that is killed again and again sends nothing twice and changes no outcome (seed ${SEED})`, async () => {
  await liveAndDie();
  const sent = lines("service");
  expect(new Set(sent).size, "sent twice").toBe(sent.length);

  const outcomes = new Map<string, Set<string>>();
  for (const line of lines("told")) {
    const [id = "", outcome = ""] = line.split(" ");
    outcomes.set(id, (outcomes.get(id) ?? new Set()).add(outcome));
  }
  expect(outcomes.size, "each has an outcome").toBe(COMMANDS_A_LIFE * (KILLS + 1));
  for (const [id, told] of outcomes) {
    expect([...told], `${id} was told one outcome`).toHaveLength(1);
    if (told.has("succeeded")) expect(sent).toContain(id);
    if (told.has("expired") || told.has("refused")) expect(sent).not.toContain(id);
  }
  const found = new Set([...outcomes.values()].flatMap((told) => [...told]));
  expect([...found], "the kills came in the middle").toContain("expired");
}, 90_000);

it("a planted defect is found: a journal that says so before it has written", async () => {
  await liveAndDie("sync");
  const sent = lines("service");
  expect(new Set(sent).size, "something was sent twice").toBeLessThan(sent.length);
}, 90_000);
