import type { Robot } from "../../northbound/web/api/robot.ts";
import type { Emphasis } from "../floor/scene.ts";
import type { Fleet, KnownRobot } from "./fleet.ts";
import { hasEnded, wordOf } from "./words.ts";

/** What makes a robot worth a look. */
export type ExceptionName = "alarm" | "paused" | "offline" | "low" | "idle";

/** A chip above the list: those that it leaves. */
export const exceptions: Readonly<Record<ExceptionName, (robot: Robot) => boolean>> = {
  alarm: (robot) => wordOf(robot).emphasis === "alarm" || robot.alarms.some(({ active }) => active),
  paused: ({ standing: { reason } }) => reason === "PAUSED" || reason === "HELD",
  offline: ({ quality }) => quality === "offline" || quality === "lost",
  low: ({ battery }) => {
    const percent = battery?.state?.battery_state.charge_percent;
    return percent !== undefined && percent < LOW_PERCENT;
  },
  idle: ({ mission }) => {
    const current = mission?.state?.current_mission;
    return current === null || (current !== undefined && hasEnded(current));
  },
};

const LOW_PERCENT = 20;

const order = new Intl.Collator(undefined, { numeric: true });
const ranks: Readonly<Record<Emphasis, number>> = { alarm: 0, abnormal: 1, normal: 2 };

/** The robots by need: alarms, then what is unusual, then the others, each by name. */
export function createOrder(): (fleet: Fleet) => readonly KnownRobot[] {
  let names: readonly string[] = [];
  return ({ robots }) => {
    // Sorted anew only if there are other robots: sorting takes longer than the rest of a change.
    const isSame = names.length === robots.size && names.every((robotId) => robots.has(robotId));
    if (!isSame) names = [...robots.keys()].sort(order.compare);
    const byRank: KnownRobot[][] = [[], [], []];
    for (const name of names) {
      const known = robots.get(name);
      if (known !== undefined) byRank[ranks[wordOf(known.robot).emphasis]]?.push(known);
    }
    return byRank.flat();
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

/** How many robots are on each map, and how many of them need a look. */
export function byMap(
  robots: Iterable<KnownRobot>,
): ReadonlyMap<number, readonly [all: number, unusual: number]> {
  const counts = new Map<number, readonly [number, number]>();
  for (const { robot } of robots) {
    const mapId = robot.place?.map_id;
    if (mapId === undefined) continue;
    const [all, unusual] = counts.get(mapId) ?? [0, 0];
    counts.set(mapId, [all + 1, unusual + (wordOf(robot).emphasis === "normal" ? 0 : 1)]);
  }
  return counts;
}
