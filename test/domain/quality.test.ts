import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { qualities, qualityAt, type SourceHealth, worse } from "../../src/domain/observed.ts";

const times = { streamSilenceMs: 100, resyncMs: 200, holdMs: 50 };
const fresh: SourceHealth = {
  confirmedAtMs: 1_000,
  linkDownSinceMs: null,
  streamProvenAtMs: 1_000,
  streamLostFromMs: null,
  absentSinceMs: null,
};

/** Rank by how much a reader may rely on a value: stale and offline are both the last usable one. */
const reliance = { good: 3, stale: 2, offline: 2, lost: 1, unknown: 0 } as const;

const source = fc.record<SourceHealth>({
  confirmedAtMs: fc.option(fc.integer({ min: 0, max: 500 })),
  linkDownSinceMs: fc.option(fc.integer({ min: 0, max: 500 })),
  streamProvenAtMs: fc.integer({ min: 0, max: 500 }),
  streamLostFromMs: fc.option(fc.integer({ min: 0, max: 500 })),
  absentSinceMs: fc.option(fc.integer({ min: 0, max: 500 })),
});

describe("the quality of a value", () => {
  it.each([
    ["good at once", fresh, 1_000, "good"],
    ["good to the last moment of the stream's silence", fresh, 1_100, "good"],
    ["stale when the stream says nothing any more", fresh, 1_101, "stale"],
    ["stale to the last moment of the hold", fresh, 1_150, "stale"],
    ["lost after the hold", fresh, 1_151, "lost"],
    [
      "stale when the stream lives and the snapshot is old",
      { ...fresh, streamProvenAtMs: 1_201 },
      1_201,
      "stale",
    ],
    [
      "good when the stream lives and the snapshot is current",
      { ...fresh, streamProvenAtMs: 1_200 },
      1_200,
      "good",
    ],
    ["stale when the stream was cut", { ...fresh, streamLostFromMs: 1_010 }, 1_020, "stale"],
    ["good while the cut is forgiven", { ...fresh, streamLostFromMs: 1_021 }, 1_020, "good"],
    ["offline when the link is down", { ...fresh, linkDownSinceMs: 1_010 }, 1_020, "offline"],
    ["offline when the robot is not listed", { ...fresh, absentSinceMs: 1_010 }, 1_020, "offline"],
    [
      "offline rather than stale",
      { ...fresh, absentSinceMs: 1_010, streamLostFromMs: 1_005 },
      1_020,
      "offline",
    ],
    ["lost by what broke first", { ...fresh, absentSinceMs: 1_050, streamLostFromMs: 1_005 }, 1_060, "lost"],
    ["unknown when nothing came", { ...fresh, confirmedAtMs: null, linkDownSinceMs: 0 }, 9_999, "unknown"],
  ] as const)("is %s", (_, health, nowMs, expected) => {
    expect(qualityAt(health, times, nowMs)).toBe(expected);
  });

  it("never gets better by time alone", () => {
    fc.assert(
      fc.property(source, fc.integer({ min: 500, max: 1_500 }), fc.nat(1_000), (health, nowMs, laterMs) => {
        const now = qualityAt(health, times, nowMs);
        const later = qualityAt(health, times, nowMs + laterMs);
        expect(reliance[later]).toBeLessThanOrEqual(reliance[now]);
      }),
    );
  });

  it("is good exactly when nothing speaks against it", () => {
    fc.assert(
      fc.property(source, fc.integer({ min: 500, max: 1_000 }), (health, nowMs) => {
        const nothingAgainst =
          health.confirmedAtMs !== null &&
          health.linkDownSinceMs === null &&
          health.absentSinceMs === null &&
          (health.streamLostFromMs === null || health.streamLostFromMs > nowMs) &&
          nowMs - health.streamProvenAtMs <= times.streamSilenceMs &&
          nowMs - health.confirmedAtMs <= times.resyncMs;
        expect(qualityAt(health, times, nowMs) === "good").toBe(nothingAgainst);
      }),
    );
  });

  it("is shown no longer than the hold after the first thing that broke", () => {
    fc.assert(
      fc.property(source, fc.integer({ min: 500, max: 1_500 }), (health, nowMs) => {
        fc.pre(health.confirmedAtMs !== null);
        const broken = [
          health.linkDownSinceMs,
          health.absentSinceMs,
          health.streamLostFromMs,
          health.streamProvenAtMs + times.streamSilenceMs,
          (health.confirmedAtMs ?? 0) + times.resyncMs,
        ].filter((sinceMs) => sinceMs !== null);
        const isLost = nowMs - Math.min(...broken) > times.holdMs;
        expect(qualityAt(health, times, nowMs) === "lost").toBe(isLost);
      }),
    );
  });

  it("takes the worse of two whichever comes first", () => {
    const quality = fc.constantFrom(...qualities);
    fc.assert(
      fc.property(quality, quality, (a, b) => {
        const both = worse(a, b);
        expect(both).toBe(worse(b, a));
        expect(qualities.indexOf(both)).toBe(Math.max(qualities.indexOf(a), qualities.indexOf(b)));
      }),
    );
  });
});
