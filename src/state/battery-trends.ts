import type { BatteryTrends } from "../contracts/trends.ts";
import type { RobotId } from "../domain/robot.ts";
import { type Clock, every } from "../platform/clock.ts";

export const BATTERY_STEP_MS = 30_000;
/** Twelve hours: 1,440 bytes a robot. */
export const BATTERY_STEPS = 1_440;
/** More often than there are steps: a late look leaves no gap. */
const LOOK_MS = 10_000;
/** The limit of the fleet state: 15 MB. */
const MOST_ROBOTS = 10_000;
const NOTHING = 255;

/**
 * Keeps the charges of robots in a ring. A step has the last charge that was known to be true in it, or
 * nothing: a stale or lost value is no sample. A wall clock that is set back begins the rings anew; one that
 * is set forward leaves a gap, as a sleep of the machine does.
 *
 * @param charges returns the charge of each robot whose charge is known to be true now
 */
export function createBatteryTrends(
  charges: () => Iterable<readonly [RobotId, number]>,
  clock: Clock,
): BatteryTrends {
  const rings = new Map<RobotId, Uint8Array>();
  const stepNow = () => Math.floor(clock.nowMs() / BATTERY_STEP_MS);
  let opened = 0;
  let over = new AbortController();
  let sinceMs = clock.nowMs();
  let [first, last] = [stepNow(), stepNow()];

  function advance(step: number): void {
    if (step < last) {
      rings.clear();
      sinceMs = clock.nowMs();
      first = step;
    } else {
      const passed = Math.min(step - last, BATTERY_STEPS);
      for (const ring of rings.values())
        for (let back = 0; back < passed; back += 1) ring[(step - back) % BATTERY_STEPS] = NOTHING;
    }
    last = step;
  }

  function ringOf(robotId: RobotId): Uint8Array | undefined {
    const known = rings.get(robotId);
    if (known !== undefined || rings.size >= MOST_ROBOTS) return known;
    const ring = new Uint8Array(BATTERY_STEPS).fill(NOTHING);
    rings.set(robotId, ring);
    return ring;
  }

  function look(): void {
    advance(stepNow());
    for (const [robotId, percent] of charges()) {
      const ring = percent >= 0 && percent <= 100 ? ringOf(robotId) : undefined;
      if (ring !== undefined) ring[last % BATTERY_STEPS] = percent;
    }
  }

  return {
    batteryOf(robotId) {
      advance(stepNow());
      const from = Math.max(first, last - BATTERY_STEPS + 1);
      const ring = rings.get(robotId);
      const values = Array.from({ length: last - from + 1 }, (_, at) => {
        const value = ring?.[(from + at) % BATTERY_STEPS] ?? NOTHING;
        return value === NOTHING ? null : value;
      });
      return { sinceMs, stepMs: BATTERY_STEP_MS, firstAtMs: from * BATTERY_STEP_MS, values };
    },
    open() {
      opened += 1;
      if (opened === 1) {
        over = new AbortController();
        look();
        every(clock, LOOK_MS, over.signal, look);
      }
      return () => {
        opened -= 1;
        if (opened === 0) over.abort();
      };
    },
  };
}
