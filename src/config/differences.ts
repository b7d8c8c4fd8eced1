import { type ConfigPath, pathText } from "./problem.ts";
import { entryRows, type ReloadRow, reloadRows, rowOf } from "./reload-rows.ts";
import type { Settings } from "./settings.ts";

/** The changes between two configurations, by path. */
export interface Differences {
  /** Changes that take effect while the gateway runs. */
  readonly live: readonly string[];
  readonly needRestart: readonly string[];
}

/**
 * Compares two configurations. An added or removed entry (such as a user) or section is one path; so is a
 * list.
 */
export function differencesOf(before: Settings, after: Settings): Differences {
  const live = new Set<string>();
  const needRestart = new Set<string>();
  for (const [key, { path }] of new Map([...before, ...after])) {
    if (before.get(key)?.digest === after.get(key)?.digest) continue;
    const row = rowOf(reloadRows, path);
    const entry = entryOf(row.path, path, before, after);
    const takes = entry === null ? row.takes : takesOfEntry(entry, row, has(after, entry));
    (takes === "reload" ? live : needRestart).add(pathText(entry ?? path));
  }
  return { live: [...live].filter((path) => !needRestart.has(path)), needRestart: [...needRestart] };
}

function takesOfEntry(entry: ConfigPath, row: ReloadRow, isAdded: boolean): ReloadRow["takes"] {
  const found = entryRows.find(({ path }) => path === entry.slice(0, -1).join("."));
  if (found === undefined) return row.takes;
  return isAdded ? found.added : found.gone;
}

/** The entry or section of the path if only one of the configurations has it; null: both have it. */
function entryOf(row: string, path: ConfigPath, before: Settings, after: Settings): ConfigPath | null {
  // A path without a star is a section.
  const star = row.split(".").indexOf("*");
  const entry = path.slice(0, Math.max(0, star) + 1);
  return has(before, entry) && has(after, entry) ? null : entry;
}

function has(settings: Settings, entry: ConfigPath): boolean {
  for (const { path } of settings.values())
    if (entry.every((part, place) => path[place] === part)) return true;
  return false;
}
