import type { Emphasis } from "../floor/scene.ts";
import type { Fleet, KnownRobot } from "./fleet.ts";
import { hasEnded, type RobotWord, wordOf } from "./words.ts";

/** What makes a robot worth a look. */
export type ExceptionName = "alarm" | "paused" | "offline" | "low" | "idle";

/** A robot in the list, with its word: all views have the same one. */
export interface ListedRobot {
  readonly known: KnownRobot;
  readonly shown: RobotWord;
}

/** The robots on one map. */
interface Hall {
  readonly all: number;
  /** How many of them need a look. */
  readonly unusual: number;
  readonly worst: Emphasis;
}

export const emptyHall: Hall = { all: 0, unusual: 0, worst: "normal" };

/** The robots for the views, made in one pass for each state of the fleet. */
export interface Listing {
  /** By need: alarms, then what is unusual, then the others, each by name. */
  readonly robots: readonly ListedRobot[];
  /** The ids by name: the same list while there are the same robots. */
  readonly names: readonly string[];
  /** How many have the quality good, and need no look. */
  readonly good: number;
  /** How many need a look. */
  readonly unusual: number;
  readonly exceptions: Readonly<Record<ExceptionName, number>>;
  readonly halls: ReadonlyMap<number, Hall>;
}

/** A chip above the list: those that it leaves. */
export const exceptions: Readonly<Record<ExceptionName, (listed: ListedRobot) => boolean>> = {
  alarm: ({ known: { robot }, shown }) =>
    shown.emphasis === "alarm" || robot.alarms.some(({ active }) => active),
  paused: ({ known: { robot } }) => robot.idle.reason === "PAUSED" || robot.idle.reason === "HELD",
  offline: ({ known: { robot } }) => robot.quality === "offline" || robot.quality === "lost",
  low: ({ known: { robot } }) => {
    const percent = robot.battery?.state?.battery_state.charge_percent;
    return percent !== undefined && percent <= LOW_PERCENT;
  },
  idle: ({ known: { robot } }) => {
    const current = robot.mission?.state?.current_mission;
    return current === null || (current !== undefined && hasEnded(current));
  },
};

const exceptionNames = Object.keys(exceptions) as readonly ExceptionName[];

const LOW_PERCENT = 20;

/** Compares names for people: `cart-9` comes before `cart-10`. */
export const { compare: byName } = new Intl.Collator(undefined, { numeric: true });

const ranks: Readonly<Record<Emphasis, number>> = { alarm: 0, abnormal: 1, normal: 2 };

export function createLister(): (fleet: Fleet, isSilent: boolean) => Listing {
  let names: readonly string[] = [];
  return ({ robots }, isSilent) => {
    // Sorted anew only if there are other robots: sorting takes longer than the rest of a change.
    const isSame = names.length === robots.size && names.every((robotId) => robots.has(robotId));
    if (!isSame) names = [...robots.keys()].sort(byName);
    const byRank: ListedRobot[][] = [[], [], []];
    const counts = { alarm: 0, paused: 0, offline: 0, low: 0, idle: 0 };
    const halls = new Map<number, Hall>();
    let [good, unusual] = [0, 0];
    for (const name of names) {
      const known = robots.get(name);
      if (known === undefined) continue;
      const { robot } = known;
      const listed = { known, shown: wordOf(robot, isSilent) };
      const more = listed.shown.emphasis === "normal" ? 0 : 1;
      byRank[ranks[listed.shown.emphasis]]?.push(listed);
      unusual += more;
      if (robot.quality === "good" && more === 0) good += 1;
      for (const each of exceptionNames) if (exceptions[each](listed)) counts[each] += 1;
      if (robot.place === null) continue;
      const hall = halls.get(robot.place.map_id) ?? emptyHall;
      const worst = ranks[listed.shown.emphasis] < ranks[hall.worst] ? listed.shown.emphasis : hall.worst;
      halls.set(robot.place.map_id, { all: hall.all + 1, unusual: hall.unusual + more, worst });
    }
    return { robots: byRank.flat(), names, good, unusual, exceptions: counts, halls };
  };
}

/** Whether each word of a search is somewhere in the texts, in any case. */
export function hasWords(search: string, texts: readonly string[]): boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (words.length === 0) return true;
  const all = texts.join("\n").toLowerCase();
  return words.every((word) => all.includes(word));
}
