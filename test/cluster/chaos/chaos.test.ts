import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasEtcd } from "../etcd-harness.ts";
import { type Kind, kindNames } from "./faults.ts";
import { plant, planted } from "./planted.ts";
import { type RoundsPlan, runRounds } from "./rounds.ts";

/** The long form is `npm run chaos`, which sets these. */
const { CHAOS_ROUNDS, CHAOS_SEED, CHAOS_KINDS, CHAOS_RATE, CHAOS_REPORT, CHAOS_PLANTED } = process.env;
const plan: RoundsPlan = {
  kinds: CHAOS_KINDS === undefined ? ["kill", "cut-etcd", "etcd-leader"] : kindsOf(CHAOS_KINDS),
  rounds: Number(CHAOS_ROUNDS ?? 1),
  seed: Number(CHAOS_SEED ?? 20_261_128),
  rate: Number(CHAOS_RATE ?? 20),
  report: CHAOS_REPORT ?? null,
};
/** The longest round: what has no outcome is waited for. */
const ROUND_MS = 240_000;

function kindsOf(names: string): readonly Kind[] {
  return names.split(",").map((name) => {
    const kind = kindNames.find((each) => each === name);
    if (kind === undefined) throw new Error(`no kind of round is ${name}; there are ${kindNames.join(", ")}`);
    return kind;
  });
}

/** Names of planted mistakes, or `all`. */
const mistakes = planted.filter(({ name }) => CHAOS_PLANTED === "all" || CHAOS_PLANTED === name);

describe.skipIf(!hasEtcd)("two boxes that are one gateway", () => {
  test.skipIf(mistakes.length > 0)(
    `no command is lost or sent twice: ${plan.rounds} of ${plan.kinds.join(", ")} (seed ${plan.seed})`,
    async () => {
      const rounds = await runRounds(plan);
      for (const round of rounds) {
        if ("failed" in round) throw new Error(`${round.kind}, seed ${round.seed}: ${round.failed}`);
        const { kind, seed, broken, takeoverMs, table } = round;
        const what = `${kind}, seed ${seed}`;
        expect(broken, what).toEqual([]);
        expect(takeoverMs, what).not.toBeNull();
        expect(table["succeeded OK"]?.[1], what).toBeGreaterThan(0);
      }
    },
    ROUND_MS * plan.rounds * plan.kinds.length,
  );

  test.each(mistakes)(
    `break a promise with $name, in ${plan.rounds} rounds of a kind at most`,
    async (mistake) => {
      const { kinds } = mistake;
      const build = await plant(mistake);
      const report = join(".chaos", mistake.name.replaceAll(" ", "-"), "rounds.jsonl");
      await rm(dirname(report), { recursive: true, force: true });
      const rounds = await runRounds({ ...plan, kinds, build, report, untilBroken: true });
      const broken = rounds.flatMap((round) => ("failed" in round ? [] : round.broken));
      process.stderr.write(`${mistake.name}: ${broken.length} broken in ${rounds.length} rounds\n`);
      expect(broken).not.toEqual([]);
    },
    2 * ROUND_MS * plan.rounds,
  );
});
