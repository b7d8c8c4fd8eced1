import fc from "fast-check";
import { expect, test } from "vitest";
import { LATEST_RENEWAL } from "../../../src/domain/detection.ts";
import { planRenewals } from "../../../src/fleet/streams/renewal-wait.ts";

const RESYNC_MS = 60_000;
const STEP_MS = RESYNC_MS / 64;

test("a stream is renewed in good time, at one of the moments that all streams share", () => {
  fc.assert(
    fc.property(
      fc.nat(1e9),
      fc.array(fc.double({ min: 0, max: 0.999_999, noNaN: true })),
      (startMs, draws) => {
        const plan = planRenewals(
          () => RESYNC_MS,
          () => draws.pop() ?? 0.5,
        );
        let nowMs = startMs;
        for (let turn = 0; turn < 10; turn += 1) {
          const delayMs = plan.delayMs(nowMs);
          expect(delayMs).toBeLessThanOrEqual(LATEST_RENEWAL * RESYNC_MS);
          if (turn > 0) expect(delayMs).toBeGreaterThanOrEqual(0.65 * RESYNC_MS - STEP_MS);
          nowMs += delayMs;
          if (delayMs > 0) expect(nowMs % STEP_MS).toBeCloseTo(0, 3);
        }
      },
    ),
  );
});

test("streams that begin or are lost together part: never more than a few are renewed at one moment", () => {
  const STREAMS = 300;
  let seed = 7;
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  const plans = Array.from({ length: STREAMS }, () => planRenewals(() => RESYNC_MS, random));
  for (const beginMs of [0, 500_000]) {
    for (const plan of plans) plan.restart();
    const renewals = new Map<number, number>();
    for (const plan of plans) {
      let nowMs = beginMs;
      for (let turn = 0; turn < 8; turn += 1) {
        nowMs += plan.delayMs(nowMs);
        renewals.set(nowMs, (renewals.get(nowMs) ?? 0) + 1);
      }
    }
    // 300 streams over some 43 moments are seven at each.
    expect(Math.max(...renewals.values())).toBeLessThan(25);
  }
});

test("a renewal in haste is no later than the one that was planned, and no sooner than it is wanted", () => {
  const plan = planRenewals(
    () => RESYNC_MS,
    () => 0.5,
  );
  plan.delayMs(0);
  const plannedAtMs = 1_000 + plan.delayMs(1_000);
  expect(plan.onRequestMs(1_000, 4_000)).toBe(4_000);
  expect(plan.onRequestMs(plannedAtMs - 3_000, 30_000)).toBe(3_000);
  expect(plan.onRequestMs(plannedAtMs + 10, 30_000)).toBe(0);
});
