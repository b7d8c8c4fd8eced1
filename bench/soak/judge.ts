import { atMost, type Reach } from "../report.ts";
import type { Census, Count } from "./protocol.ts";
import { type Incident, incidents } from "./schedule.ts";
import type { Latency } from "./subscriber.ts";

/** What was found at the end of a period. */
export interface Period {
  /** In simulated days. */
  readonly endsAt: number;
  readonly looks: Looks;
  /** The first of the looks: the others come just after a collection. */
  readonly memory: Pick<Census, "rssAnonMb" | "collectedMb" | "heapMb">;
  readonly latency: Latency;
  readonly happened: Readonly<Partial<Record<Incident, number>>>;
  readonly tokens: number;
  readonly plc: { readonly changes: number; readonly commands: number };
  readonly replies: number;
}

/** What must not be left behind, by kind. */
export type Held = Pick<Census, "listeners" | "timers" | "descriptors">;
/** From so many days on memory and latency have a slope. */
const DAYS_WITH_SLOPE = 3;
const MB_A_DAY = 1;
const LATENCY_RATIO = 1.2;

export function total(count: Count): number {
  return Object.values(count).reduce((sum, number) => sum + number, 0);
}

/** Some looks at what is held, in one place: the least and the most that was seen of each kind. */
export interface Looks {
  readonly least: Held;
  readonly most: Held;
}

export function looksOf({ listeners, timers, descriptors }: Census): Looks {
  const seen = { listeners, timers, descriptors };
  return { least: seen, most: seen };
}

/** One look more. */
export function lookAgain({ least, most }: Looks, census: Census): Looks {
  const both = (one: Held, choose: (a: number, b: number) => number) =>
    eachHeld((what) => joined(one[what], census[what], choose));
  return { least: both(least, Math.min), most: both(most, Math.max) };
}

function joined(one: Count, other: Count, choose: (a: number, b: number) => number): Count {
  const kinds = new Set([...Object.keys(one), ...Object.keys(other)]);
  return Object.fromEntries(Array.from(kinds, (kind) => [kind, choose(one[kind] ?? 0, other[kind] ?? 0)]));
}

/**
 * What there is more of now, whenever one looks, than there ever was before. What is under way for a moment
 * comes and goes between the looks; what was left behind stays.
 */
export function leaked(before: Looks, after: Looks): Held {
  return eachHeld((what) => {
    const grown = Object.entries(after.least[what]).map(
      ([kind, number]) => [kind, number - (before.most[what][kind] ?? 0)] as const,
    );
    return Object.fromEntries(grown.filter(([, number]) => number > 0));
  });
}

function eachHeld(of: (what: keyof Held) => Count): Held {
  return { listeners: of("listeners"), timers: of("timers"), descriptors: of("descriptors") };
}

/** The slope of the line that fits best (least squares). */
export function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (place: 0 | 1) => points.reduce((sum, point) => sum + point[place], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const above = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return above / points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

function haveSlope(periods: readonly Period[]): boolean {
  return (periods.at(-1)?.endsAt ?? 0) >= DAYS_WITH_SLOPE;
}

/** What the product promises of a week; of less than three days only what needs no slope. */
export function reachOf(periods: readonly Period[]): readonly Reach[] {
  const [first, second] = periods;
  const last = periods.at(-1);
  if (first === undefined || second === undefined || last === undefined) throw new Error("too short");
  const reach = Object.entries(leaked(first.looks, last.looks)).map(([what, counts]) =>
    atMost(`${what} left behind since the first period`, total(counts), 0),
  );
  if (!haveSlope(periods)) return reach;
  const points = periods.slice(1).map(({ endsAt, memory }) => [endsAt, memory.collectedMb] as const);
  return [
    ...reach,
    atMost("RssAnon after a collection, MB a day after the first", slope(points), MB_A_DAY),
    atMost("p99 of the last day ÷ that of the second", last.latency.p99 / second.latency.p99, LATENCY_RATIO),
  ];
}

/** Why the figures of a run mean nothing: a soak in which nothing happened must not pass. */
export function faultsOf(periods: readonly Period[]): readonly string[] {
  // In a short run every message may fall into an incident; its latency is not judged.
  const isTimed = haveSlope(periods);
  return periods.flatMap(({ happened, tokens, plc, replies, latency }, index) => {
    const missing = [
      ...incidents.filter((incident) => (happened[incident] ?? 0) === 0),
      ...(tokens === 0 ? ["token refresh"] : []),
      ...(plc.changes === 0 ? ["change at the PLC"] : []),
      ...(plc.commands === 0 ? ["command of the PLC"] : []),
      ...(replies === 0 ? ["command over MQTT"] : []),
      ...(latency.messages === 0 ? ["message"] : []),
      ...(isTimed && latency.messages - latency.disturbed === 0 ? ["message to time"] : []),
    ];
    return missing.map((what) => `period ${index + 1} had no ${what}`);
  });
}
