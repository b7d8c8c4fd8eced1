import { describe, expect, it } from "vitest";
import {
  type RawRequest,
  readRaw,
  type Sample,
  samplesOf,
} from "../../../src/northbound/opcua/node-opcua/history-reads.ts";

const samples: readonly Sample[] = [10, 20, 30, 40].map((atMs) => ({ atMs, value: atMs * 2 }));
const usual: RawRequest = { startMs: null, endMs: null, most: 0, hasBounds: false, from: null, share: 1_440 };

/** The times of all parts, none of which has more than `limit` values. */
function pages(changed: Partial<RawRequest>, limit: number): number[] {
  const found: number[] = [];
  let from: RawRequest["from"] = null;
  do {
    const answer = readRaw(samples, { ...usual, ...changed, from });
    expect(answer?.values.length).toBeLessThanOrEqual(limit);
    found.push(...(answer?.values.map(({ atMs }) => atMs) ?? []));
    from = answer?.next ?? null;
  } while (from !== null);
  return found;
}

/** The times of the answer; `!` marks a bound that is missing. */
function read(changed: Partial<RawRequest>) {
  const answer = readRaw(samples, { ...usual, ...changed });
  return answer?.values.map((value) => ("isMissingBound" in value ? `!${value.atMs}` : value.atMs));
}

describe("the samples of a trend", () => {
  const trendOf = (...values: Array<number | null>) =>
    samplesOf({ sinceMs: 0, stepMs: 10, firstAtMs: 100, values });

  it("are its values, and one without a value where a time without values begins", () => {
    expect(trendOf(null, 80, null, null, 70, 70, 60)).toEqual([
      { atMs: 110, value: 80 },
      { atMs: 120, value: null },
      { atMs: 140, value: 70 },
      { atMs: 150, value: 70 },
    ]);
  });

  it("leave out the present step: its value may change", () => {
    expect([trendOf(), trendOf(80), trendOf(80, null)]).toEqual([[], [], [{ atMs: 100, value: 80 }]]);
  });
});

describe("raw values (OPC UA part 11, 6.5.3.2)", () => {
  it.each<[string, Partial<RawRequest>, unknown]>([
    ["the start is in, and the end is not", { startMs: 10, endMs: 30 }, [10, 20]],
    ["a start after the end: the latest first", { startMs: 40, endMs: 20 }, [40, 30]],
    ["one moment", { startMs: 20, endMs: 20 }, [20]],
    ["a start and a number", { startMs: 15, most: 2 }, [20, 30]],
    ["an end and a number: back from the end", { endMs: 30, most: 2 }, [30, 20]],
    ["nothing there", { startMs: 50, endMs: 60 }, []],
    ["bounds beside the range", { startMs: 15, endMs: 35, hasBounds: true }, [10, 20, 30, 40]],
    ["bounds on the range", { startMs: 20, endMs: 40, hasBounds: true }, [20, 30, 40]],
    ["bounds that are missing", { startMs: 5, endMs: 45, hasBounds: true }, ["!5", 10, 20, 30, 40, "!45"]],
    ["bounds, the latest first", { startMs: 35, endMs: 15, hasBounds: true }, [40, 30, 20, 10]],
    ["no start and no end", { most: 5 }, undefined],
    ["a start alone", { startMs: 10 }, undefined],
    ["an end alone", { endMs: 10 }, undefined],
  ])("%s", (_, request, expected) => {
    expect(read(request)).toEqual(expected);
  });

  it.each<[string, Partial<RawRequest>, number[]]>([
    ["forwards", { startMs: 10, endMs: 50 }, [10, 20, 30, 40]],
    ["backwards", { startMs: 50, endMs: 5 }, [40, 30, 20, 10]],
    ["with bounds", { startMs: 15, endMs: 35, hasBounds: true }, [10, 20, 30, 40]],
  ])("come in parts, each once, %s", (_, range, expected) => {
    for (const most of [1, 2, 3]) {
      expect(pages({ ...range, most }, most)).toEqual(expected);
      expect(pages({ ...range, share: most }, most)).toEqual(expected);
    }
  });

  it("of a range without an end come in parts, and no more than the client wants", () => {
    for (const share of [1, 2, 3]) {
      expect(pages({ startMs: 15, most: 2, share }, share)).toEqual([20, 30]);
      expect(pages({ endMs: 40, most: 3, share }, share)).toEqual([40, 30, 20]);
    }
  });
});
