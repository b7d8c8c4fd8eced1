import type { Figures } from "./measured-daemon.ts";

/** Figures of a program at several moments, as a table for a person. */
export interface FiguresTable {
  add(when: string, figures: Figures): void;
  /** In Markdown. */
  text(): string;
}

const megabytes = (bytes: number | null): string =>
  bytes === null ? "" : String(Math.round(bytes / 1_000_000));

/** Each column by its heading. */
const columns: Readonly<Record<string, (figures: Figures) => string>> = {
  "RSS MB": ({ rssBytes }) => megabytes(rssBytes),
  "RssAnon MB": ({ rssAnonBytes }) => megabytes(rssAnonBytes),
  "heap MB": ({ heapBytes }) => megabytes(heapBytes),
  "external MB": ({ externalBytes }) => megabytes(externalBytes),
  "delay p50 ms": ({ delayP50Ms }) => delayP50Ms.toFixed(1),
  "p99 ms": ({ delayP99Ms }) => delayP99Ms.toFixed(1),
  "max ms": ({ delayMaxMs }) => delayMaxMs.toFixed(0),
  "longest turn ms": ({ longestTurnMs }) => longestTurnMs.toFixed(0),
  "fixed work ms": ({ fixedWorkMs }) => fixedWorkMs.toFixed(1),
  "loop busy": ({ utilization }) => utilization.toFixed(2),
  CPU: ({ cpu }) => cpu.toFixed(2),
};

export function createFiguresTable(): FiguresTable {
  const headings = Object.keys(columns);
  const rows = [
    ["", ...headings],
    ["---", ...headings.map(() => "---:")],
  ];
  return {
    add(when, figures) {
      rows.push([when, ...Object.values(columns).map((textOf) => textOf(figures))]);
    },
    text: () => rows.map((row) => `| ${row.join(" | ")} |\n`).join(""),
  };
}
