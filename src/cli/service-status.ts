import { clip } from "../domain/clip.ts";
import type { Health } from "../platform/component.ts";

/** As much as a terminal shows without a pager. */
const LONGEST = 400;
const LONGEST_DETAIL = 120;
/** What an operator looks for first. */
const links = ["fleet", "mqtt", "opcua"];

/**
 * One sentence for `systemctl status`: the robots, the links, and the problems. It has no line breaks and no
 * control characters, and its length is bounded: it goes through a shell that reads lines, and to a terminal.
 */
export function statusText(health: Readonly<Record<string, Health>>): string {
  const figures = health.state?.figures;
  if (figures === undefined) return "Opening the stores";
  const { robots = 0, robotsGood = 0 } = figures;
  const shown = Object.entries(health).filter(
    ([name, { state }]) => links.includes(name) || !["up", "starting"].includes(state),
  );
  const parts = shown.map(([name, { state, detail }]) =>
    state === "up" || detail === undefined
      ? `${name} ${state}`
      : `${name} ${state} (${clip(detail, LONGEST_DETAIL)})`,
  );
  const text = [`${robotsGood} of ${robots} robots good`, ...parts].join("; ");
  return clip(text.replace(/[\s\p{C}]+/gu, " "), LONGEST);
}
