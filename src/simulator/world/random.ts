import type { RandomSource } from "../../platform/backoff.ts";

/** A random source that repeats itself for a seed (mulberry32): the same scenario gives the same run. */
export function seededRandom(seed: number): RandomSource {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One element of a list that is not empty. */
export function pick<T>(random: RandomSource, list: readonly [T, ...T[]]): T {
  return list[Math.floor(random() * list.length)] ?? list[0];
}

/** An identifier in the form of a UUID, from the given random source. */
export function randomId(random: RandomSource): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join("");
  const at = (from: number, to: number) => digits.slice(from, to);
  return `${at(0, 8)}-${at(8, 12)}-4${at(13, 16)}-a${at(17, 20)}-${at(20, 32)}`;
}
