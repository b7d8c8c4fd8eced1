import { row } from "../report.ts";
import { type Held, type Period, total } from "./judge.ts";

const KINDS_SHOWN = 12;

/** What stands above the lines of the periods. */
export function headLine(): string {
  return row(
    "simulated days",
    ...["RssAnon", "collected", "heap, MB", "listeners", "timers", "descriptors"],
    ...["messages", "p50, ms", "p99, ms", "incidents", "tokens"],
  );
}

/** A line of the table. */
export function periodLine({ endsAt, looks, memory, latency, happened, tokens }: Period): string {
  return row(
    endsAt.toFixed(2),
    ...[memory.rssAnonMb, memory.collectedMb, memory.heapMb],
    ...[looks.least.listeners, looks.least.timers, looks.least.descriptors].map(total),
    ...[latency.messages, latency.p50, latency.p99],
    ...[Object.values(happened).reduce((sum, number) => sum + number, 0), tokens],
  );
}

/** What was left behind, by kind, the most first. */
export function leakLines(found: Held): string {
  const lines = Object.entries(found).flatMap(([what, counts]) =>
    Object.entries(counts)
      .sort(([, one], [, other]) => other - one)
      .slice(0, KINDS_SHOWN)
      .map(([kind, number]) => `  ${what} +${number}: ${kind}`),
  );
  return lines.length === 0 ? "  nothing was left behind" : lines.join("\n");
}
