import type { Trend } from "../../contracts/trends.ts";

/** A value of the past. Null: from then on none was known to be true. */
export interface Sample {
  readonly atMs: number;
  readonly value: number | null;
}

/** A place in the answer: a sample, or a bound for which there is none. */
export type RawValue = Sample | { readonly atMs: number; readonly isMissingBound: true };

/** Raw values of one node, as a client asks for them (OPC UA part 11, 6.5.3.2). */
export interface RawRequest {
  /** Null: open. If it is later than the end, or open, the latest value comes first. */
  readonly startMs: number | null;
  readonly endMs: number | null;
  /** 0: all. */
  readonly most: number;
  /** Whether the values beside the range are wanted too. */
  readonly hasBounds: boolean;
  /** Where an earlier answer to the same request ended; null: this is the first. */
  readonly fromMs: number | null;
}

export interface RawAnswer {
  readonly values: readonly RawValue[];
  /** Where the rest of the range begins; null: that is all. */
  readonly nextMs: number | null;
}

/**
 * The values of a trend, the oldest first. A time without values is one sample. The present step is not
 * over, so its value may change, and is no past one.
 */
export function samplesOf({ firstAtMs, stepMs, values }: Trend<number>): readonly Sample[] {
  const samples: Sample[] = [];
  let last: number | null = null;
  for (const [index, value] of values.slice(0, -1).entries()) {
    if (value !== null || last !== null) samples.push({ atMs: firstAtMs + index * stepMs, value });
    last = value;
  }
  return samples;
}

/** Null: the request has less than two of start, end and number. */
export function readRaw(samples: readonly Sample[], request: RawRequest): RawAnswer | null {
  const { startMs, endMs, most, fromMs } = request;
  const isRange = startMs !== null && endMs !== null;
  if (!isRange && (most === 0 || startMs === endMs)) return null;
  const isReversed = startMs === null || (endMs !== null && startMs > endMs);
  const all = isReversed ? latestFirst(samples, request) : oldestFirst(samples, request);
  const isDue = ({ atMs }: RawValue) => fromMs === null || (isReversed ? atMs <= fromMs : atMs >= fromMs);
  const due = all.filter(isDue);
  const values = most === 0 ? due : due.slice(0, most);
  // Without an end the client wants so many, and no more.
  return { values, nextMs: isRange ? (due[values.length]?.atMs ?? null) : null };
}

/** The end is not in the range, unless it is the start. */
function oldestFirst(samples: readonly Sample[], { startMs, endMs, hasBounds }: RawRequest): RawValue[] {
  const [start, end] = [startMs ?? Number.NEGATIVE_INFINITY, endMs ?? Number.POSITIVE_INFINITY];
  const found: RawValue[] = samples.filter(
    ({ atMs }) => atMs >= start && (atMs < end || (start === end && atMs === end)),
  );
  if (!hasBounds) return found;
  if (startMs !== null && found[0]?.atMs !== startMs)
    found.unshift(samples.findLast(({ atMs }) => atMs <= startMs) ?? missing(startMs));
  if (endMs !== null && found.at(-1)?.atMs !== endMs)
    found.push(samples.find(({ atMs }) => atMs >= endMs) ?? missing(endMs));
  return found;
}

function latestFirst(samples: readonly Sample[], { startMs, endMs, hasBounds }: RawRequest): RawValue[] {
  // Without a start the client counts back from the end.
  const [from, until] = startMs === null ? [endMs, null] : [startMs, endMs];
  const mirrored = samples.map(({ atMs, value }) => ({ atMs: -atMs, value })).reverse();
  const mirror = (ms: number | null) => (ms === null ? null : -ms);
  const range = { startMs: mirror(from), endMs: mirror(until), hasBounds, most: 0, fromMs: null };
  return oldestFirst(mirrored, range).map((value) => ({ ...value, atMs: -value.atMs }));
}

function missing(atMs: number): RawValue {
  return { atMs, isMissingBound: true };
}
