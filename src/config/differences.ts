import { type ConfigPath, pathText } from "./problem.ts";
import { reloadRows, rowOf } from "./reload-rows.ts";
import type { Settings } from "./settings.ts";

/** What another configuration changes, by path. */
export interface Differences {
  /** What can change while the gateway runs. */
  readonly live: readonly string[];
  readonly needRestart: readonly string[];
}

/**
 * Compares two configurations. An entry or section that is new or gone, as a user, is one path; so is a list.
 */
export function differencesOf(before: Settings, after: Settings): Differences {
  const live = new Set<string>();
  const needRestart = new Set<string>();
  for (const [key, { path }] of new Map([...before, ...after])) {
    if (before.get(key)?.digest === after.get(key)?.digest) continue;
    const row = rowOf(reloadRows, path);
    const shown = pathText(entryOf(row.path, path, before, after) ?? path);
    (row.takes === "reload" ? live : needRestart).add(shown);
  }
  return { live: [...live].filter((path) => !needRestart.has(path)), needRestart: [...needRestart] };
}

/** The entry or section of the path, where only one of the configurations has it; null where both have. */
function entryOf(row: string, path: ConfigPath, before: Settings, after: Settings): ConfigPath | null {
  // Without a star it is the section.
  const star = row.split(".").indexOf("*");
  const entry = path.slice(0, Math.max(0, star) + 1);
  return has(before, entry) && has(after, entry) ? null : entry;
}

function has(settings: Settings, entry: ConfigPath): boolean {
  for (const { path } of settings.values())
    if (entry.every((part, place) => path[place] === part)) return true;
  return false;
}
