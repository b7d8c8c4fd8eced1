/**
 * Bounds how often holds are lifted. A hold always begins at once, because it is a stop, and each begin may
 * send calls to the robot. A user that cannot lift a hold cannot begin it again either, so this bounds both.
 */
export interface LiftBudget {
  /** Whether this user may lift this hold on so many robots now; if so, it is counted. */
  take(hold: string, user: string, robots: number): boolean;
  /** About a second has passed. */
  tick(): void;
}

/** Far above what a plant does, far below what would delay another user's stop. */
const ROBOTS_A_TICK = 100;
/** A hold on all robots can be lifted again after five seconds, however many robots there are. */
const MOST_COUNTED = 500;

/** In one tick, each hold can be lifted once, and each user can lift holds of so many robots. */
export function createLiftBudget(): LiftBudget {
  const lifted = new Set<string>();
  /** By user: robots that count in this tick, with those left over from earlier ticks. */
  const spent = new Map<string, number>();
  return {
    take(hold, user, robots) {
      const before = spent.get(user) ?? 0;
      if (lifted.has(hold) || before >= ROBOTS_A_TICK) return false;
      lifted.add(hold);
      spent.set(user, before + Math.min(robots, MOST_COUNTED));
      return true;
    },
    tick() {
      lifted.clear();
      for (const [user, robots] of spent) {
        if (robots <= ROBOTS_A_TICK) spent.delete(user);
        else spent.set(user, robots - ROBOTS_A_TICK);
      }
    },
  };
}
