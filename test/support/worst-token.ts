import type { RandomSource } from "../../src/platform/backoff.ts";
import { pick } from "../../src/simulator/world/random.ts";
import type { TokenAnswer } from "./scripted-service.ts";

/** The answers of an authentication server, good and bad. */
export interface WorstTokens {
  /** The next answer. */
  next(): TokenAnswer;
  /** How many answers were good, and how many were not. */
  counts(): { readonly good: number; readonly bad: number };
}

/** The first tokens end soon, so that a short run has renewals. */
const FIRST_LIVES_SECONDS = [4, 4, 4] as const;
/**
 * Later ones outlive what a service that answers badly makes of the documented rate. The last two end beyond
 * every calendar, the very last beyond every number of milliseconds.
 */
const LATER_LIVES_SECONDS = [600, 3_600, 1e12, 1e300, 1.7e308] as const;

/** Every second answer is bad. */
export function createWorstTokens(random: RandomSource): WorstTokens {
  let good = 0;
  let bad = 0;
  return {
    next() {
      if (good > bad) {
        bad += 1;
        return badAnswer(random, good > FIRST_LIVES_SECONDS.length);
      }
      const lifeSeconds = FIRST_LIVES_SECONDS[good] ?? pick(random, LATER_LIVES_SECONDS);
      good += 1;
      return { status: 200, text: tokenOf(String(Math.floor(Date.now() / 1_000) + lifeSeconds), good) };
    },
    counts: () => ({ good, bad }),
  };
}

/** `isLong`: whether the token in use lives long enough for the wait that the answer imposes. */
function badAnswer(random: RandomSource, isLong: boolean): TokenAnswer {
  const ok = (text: string): TokenAnswer => ({ status: 200, text });
  const jwt = tokenOf("4102444800", 0);
  const answers: readonly [TokenAnswer, ...TokenAnswer[]] = [
    ok(`${jwt}\r\nx-injected: 1`),
    ok(`${jwt}€`),
    ok(`${jwt}\u0000`),
    ok(""),
    ok("null"),
    ok("<html>"),
    ok(`"${jwt}`),
    ok(jwt.replace(/\..*\./, ".e30.")),
    ok(jwt.replace(/\..*\./, ".!!!!.")),
    ok("a.".repeat(20_000)),
    ok("x".repeat(200_000)),
    ...['"soon"', "null", "1e999", "-1", "0", "[]", "{}", "true"].map((exp) => ok(tokenOf(exp, 0))),
    { status: 500, text: jwt },
    { status: 204, text: "" },
    { status: 302, text: "", headers: { location: "http://127.0.0.1:1/" } },
    { status: 429, text: "", headers: { "retry-after": "1" } },
    { status: 429, text: "", headers: { "retry-after": "1e-300" } },
  ];
  if (!isLong) return pick(random, answers);
  return pick(random, [
    ...answers,
    { status: 401, text: "" },
    { status: 429, text: "", headers: { "retry-after": "-1" } },
  ] as const);
}

function tokenOf(expJson: string, id: number): string {
  const part = (json: string) => Buffer.from(json).toString("base64url");
  return `${part('{"alg":"none"}')}.${part(`{"exp":${expJson},"jti":"${id}"}`)}.signature`;
}
