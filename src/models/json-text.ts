import { shortestFloat } from "../platform/float.ts";

/** Text that JSON must escape: quotes, backslashes, control characters and surrogates. */
const needsEscape = /["\\\p{Cc}\p{Surrogate}]/u;

/** A string as JSON. Most ids need no escaping, and checking is cheaper than JSON.stringify. */
export function jsonText(text: string): string {
  return needsEscape.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** A 32-bit float as proto3 JSON: the shortest decimal, NaN and the infinities as strings. */
export function jsonFloat(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return Number.isFinite(value) ? String(shortestFloat(value)) : `"${value}"`;
}

const LATEST_MS = 253_402_300_799_999;
const EARLIEST_MS = -62_135_596_800_000;
/**
 * A cache of 16 seconds as text: the gateway's clock, and a robot's that is off by some seconds, do not evict
 * each other.
 */
const PLACES = 16;
const secondAt: number[] = new Array(PLACES).fill(Number.NaN);
const secondText: string[] = new Array(PLACES).fill("");

/** A time of the gateway's clock as ISO 8601, UTC, with milliseconds. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString();
}

/**
 * The same; null: there is none, or it is outside the years 1 to 9999 (a robot's clock may have any time).
 */
export function isoTime(timeMs: number | null): string | null {
  if (timeMs === null || !(timeMs >= EARLIEST_MS && timeMs <= LATEST_MS)) return null;
  const whole = Math.floor(timeMs);
  const second = Math.floor(whole / 1000);
  const place = second & (PLACES - 1);
  if (second !== secondAt[place]) {
    secondText[place] = new Date(second * 1000).toISOString().slice(0, 20);
    secondAt[place] = second;
  }
  const millisecond = whole - second * 1000;
  const zeros = millisecond < 10 ? "00" : millisecond < 100 ? "0" : "";
  return `${secondText[place]}${zeros}${millisecond}Z`;
}

/** The same as JSON: quoted, or null. */
export function jsonTime(timeMs: number): string {
  const text = isoTime(timeMs);
  return text === null ? "null" : `"${text}"`;
}
