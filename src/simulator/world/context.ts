import type { RandomSource } from "../../platform/backoff.ts";
import type { Cancel } from "../../platform/clock.ts";
import type { Rules } from "../scenario/schema.ts";
import type { Chain } from "./chain.ts";
import type { WorldRecord } from "./record.ts";
import type { Robot } from "./robot.ts";

/**
 * A change that was just made: listeners read the new state from the robot or the chain, at once. A robot's
 * `missionStamp` and `batteryStamp` have its time.
 */
export type WorldChange =
  | { readonly kind: "mission" | "battery" | "conveyors" | "presence"; readonly robot: Robot }
  | { readonly kind: "chain"; readonly chain: Chain };

/** What the rules share: time, the random source, the robots, and the listener of changes. */
export interface WorldContext {
  readonly agenda: Agenda;
  readonly random: RandomSource;
  readonly rules: Rules;
  readonly robots: ReadonlyMap<string, Robot>;
  readonly record: WorldRecord;
  /** Stamps the change and reports it. */
  changed(change: WorldChange): void;
}

/**
 * The future events of the world, in order of time. The world is a chain of dated events and not a loop of
 * small steps, so that a run does not depend on how often it is observed.
 */
interface Agenda {
  /** World time in milliseconds. */
  nowMs(): number;
  /** Runs `task` when world time has moved on by `delayMs`; tasks of the same moment keep their order. */
  after(delayMs: number, task: () => void): Cancel;
  /** Advances time to `toMs` and runs everything that is due on the way. */
  advance(toMs: number): void;
}

interface Entry {
  readonly atMs: number;
  readonly order: number;
  readonly task: () => void;
}

/** An agenda that starts at `startMs`. */
export function createAgenda(startMs: number): Agenda {
  /** The next one is the last: most new ones come soon, and move few others. */
  const entries: Entry[] = [];
  let nowMs = startMs;
  let nextOrder = 0;

  /** The place of an entry, or where it belongs. */
  function placeOf(entry: Entry): number {
    let [low, high] = [0, entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isLater(entries[middle], entry)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  return {
    nowMs: () => nowMs,
    after(delayMs, task) {
      const entry: Entry = { atMs: nowMs + Math.max(delayMs, 0), order: nextOrder++, task };
      entries.splice(placeOf(entry), 0, entry);
      return () => {
        const place = placeOf(entry);
        if (entries[place] === entry) entries.splice(place, 1);
      };
    },
    advance(toMs) {
      for (let next = entries.at(-1); next !== undefined && next.atMs <= toMs; next = entries.at(-1)) {
        entries.pop();
        nowMs = Math.max(nowMs, next.atMs);
        next.task();
      }
      nowMs = Math.max(nowMs, toMs);
    },
  };
}

function isLater(one: Entry | undefined, other: Entry): boolean {
  return one !== undefined && (one.atMs - other.atMs || one.order - other.order) > 0;
}
