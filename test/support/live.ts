import { createLive, type Live, type Now } from "../../src/platform/live.ts";

/** The same, with values also in place of those that are live. */
export type Given<T> = { readonly [K in keyof T]: T[K] extends Live<infer U> ? Live<U> | U : T[K] };

export function asLive<T>(given: T | Live<T>): Live<T> {
  return isLive(given) ? (given as Live<T>) : createLive(given as T);
}

/** Options with what a test changes of them: a value of a live one becomes a live value. */
export function withLive<T extends object>(usual: T, changed: Partial<Given<T>>): T {
  const given = Object.entries(changed).map(([key, value]) => {
    return [key, isLive(Reflect.get(usual, key)) ? asLive(value) : value];
  });
  return { ...usual, ...Object.fromEntries(given) };
}

function isLive(value: unknown): boolean {
  return typeof value === "object" && value !== null && "now" in value;
}

/** What holds now: each live value in place of itself. */
export function nowOf<T>(whole: T): Now<T> {
  return valuesOf(whole) as Now<T>;
}

function valuesOf(whole: unknown): unknown {
  if (typeof whole !== "object" || whole === null || whole instanceof Map) return whole;
  if ("now" in whole && typeof whole.now === "function") return valuesOf(whole.now());
  if (Array.isArray(whole)) return whole.map(valuesOf);
  return Object.fromEntries(Object.entries(whole).map(([key, value]) => [key, valuesOf(value)]));
}
