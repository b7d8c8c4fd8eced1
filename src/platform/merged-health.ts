import type { Health } from "./component.ts";

/** Merges two healths of one component: the second knows what is wrong. */
export function mergedHealth(runner: Health, link: Health): Health {
  const state = runner.state === "up" ? link.state : runner.state;
  const { detail = runner.detail } = link;
  return {
    state,
    ...(detail === undefined ? {} : { detail }),
    figures: { ...runner.figures, ...link.figures },
  };
}
