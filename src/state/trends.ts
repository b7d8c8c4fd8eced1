import type { BatteryTrends, HourName, HourTrends, Trend } from "../contracts/trends.ts";
import type { RobotId } from "../domain/robot.ts";
import { type Clock, every } from "../platform/clock.ts";

export const BATTERY_STEP_MS = 30_000;
/** Twelve hours: 1,440 bytes a robot. */
export const BATTERY_STEPS = 1_440;
export const HOUR_STEP_MS = 10_000;
/** An hour: 6 kB a robot. */
export const HOUR_STEPS = 360;
/** A look comes more often than there are steps: a late one leaves no gap. */
const LOOKS_A_STEP = 3;
/** The limit of the fleet state: 15 MB of charges, and 61 MB of the others. */
const MOST_ROBOTS = 10_000;

type Ring = Uint8Array | Int32Array | Float32Array;

/** How the numbers of one kind are kept. */
interface Quantity {
  readonly createRing: (steps: number) => Ring;
  /** Stands where no value was known. */
  readonly nothing: number;
  /** Other values are no samples. */
  readonly isSample: (value: number) => boolean;
}

const upTo = (most: number): Quantity => ({
  createRing: (steps) => new Uint8Array(steps),
  nothing: 255,
  isSample: (value) => value >= 0 && value <= most,
});
const integer: Quantity = {
  createRing: (steps) => new Int32Array(steps),
  nothing: -(2 ** 31),
  isSample: Number.isInteger,
};
const single: Quantity = {
  createRing: (steps) => new Float32Array(steps),
  nothing: Number.NaN,
  isSample: Number.isFinite,
};

interface TrendModel<Name extends string> {
  readonly stepMs: number;
  readonly steps: number;
  readonly quantities: Readonly<Record<Name, Quantity>>;
}

/** Values of a robot that are known to be true now; null: that one is not. */
type Known<Name extends string> = Iterable<readonly [RobotId, Readonly<Record<Name, number | null>>]>;

const batteryModel: TrendModel<"charge"> = {
  stepMs: BATTERY_STEP_MS,
  steps: BATTERY_STEPS,
  quantities: { charge: upTo(100) },
};
const hourModel: TrendModel<HourName> = {
  stepMs: HOUR_STEP_MS,
  steps: HOUR_STEPS,
  quantities: { missionState: upTo(254), mapId: integer, x: single, y: single, heading: single },
};

/** @param charges returns the charge of each robot whose charge is known to be true now */
export function createBatteryTrends(
  charges: () => Iterable<readonly [RobotId, number]>,
  clock: Clock,
): BatteryTrends {
  function* known(): Known<"charge"> {
    for (const [robotId, charge] of charges()) yield [robotId, { charge }];
  }
  const { trendOf, open } = createTrends(batteryModel, known, clock);
  return { batteryOf: (robotId) => trendOf(robotId, "charge"), open };
}

export function createHourTrends(known: () => Known<HourName>, clock: Clock): HourTrends {
  const { trendOf, open } = createTrends(hourModel, known, clock);
  return { hourOf: trendOf, open };
}

interface Trends<Name extends string> {
  trendOf(robotId: RobotId, name: Name): Trend<number>;
  open(): () => void;
}

/**
 * Keeps values of robots in rings. A step has the last value that was known to be true in it, or nothing: a
 * stale or lost value is no sample. A wall clock that is set back begins the rings anew; one that is set
 * forward leaves a gap, as a sleep of the machine does.
 */
function createTrends<Name extends string>(
  { stepMs, steps, quantities }: TrendModel<Name>,
  known: () => Known<Name>,
  clock: Clock,
): Trends<Name> {
  const names = Object.keys(quantities) as Name[];
  const rings = new Map<RobotId, Readonly<Record<Name, Ring>>>();
  const stepNow = () => Math.floor(clock.nowMs() / stepMs);
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
      const passed = Math.min(step - last, steps);
      for (const ofRobot of rings.values())
        for (const name of names)
          for (let back = 0; back < passed; back += 1)
            ofRobot[name][(step - back) % steps] = quantities[name].nothing;
    }
    last = step;
  }

  function ringsOf(robotId: RobotId): Readonly<Record<Name, Ring>> | undefined {
    const before = rings.get(robotId);
    if (before !== undefined || rings.size >= MOST_ROBOTS) return before;
    const made = names.map((name) => {
      const { createRing, nothing } = quantities[name];
      return [name, createRing(steps).fill(nothing)] as const;
    });
    const ofRobot = Object.fromEntries(made) as Record<Name, Ring>;
    rings.set(robotId, ofRobot);
    return ofRobot;
  }

  function look(): void {
    advance(stepNow());
    for (const [robotId, values] of known()) {
      for (const name of names) {
        const value = values[name];
        if (value === null || !quantities[name].isSample(value)) continue;
        const ring = ringsOf(robotId)?.[name];
        if (ring !== undefined) ring[last % steps] = value;
      }
    }
  }

  return {
    trendOf(robotId, name) {
      advance(stepNow());
      const from = Math.max(first, last - steps + 1);
      const ring = rings.get(robotId)?.[name];
      const values = Array.from({ length: last - from + 1 }, (_, at) => {
        const value = ring?.[(from + at) % steps];
        return value === undefined || Object.is(value, quantities[name].nothing) ? null : value;
      });
      return { sinceMs, stepMs, firstAtMs: from * stepMs, values };
    },
    open() {
      opened += 1;
      if (opened === 1) {
        over = new AbortController();
        look();
        every(clock, stepMs / LOOKS_A_STEP, over.signal, look);
      }
      return () => {
        opened -= 1;
        if (opened === 0) over.abort();
      };
    },
  };
}
