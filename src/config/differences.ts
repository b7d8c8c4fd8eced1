import { type ConfigPath, pathText } from "./problem.ts";
import { configSchema } from "./schema.ts";
import { stepsTo } from "./schema-walk.ts";
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
    const change = changeAt(path, before, after);
    (change.isLive ? live : needRestart).add(pathText(change.path));
  }
  return { live: [...live].filter((path) => !needRestart.has(path)), needRestart: [...needRestart] };
}

/** What has changed at this value, or above it, and whether a reload takes it. */
function changeAt(path: ConfigPath, before: Settings, after: Settings) {
  let isLive = false;
  for (const step of stepsTo(configSchema, path)) {
    const isThere = has(after, step.path);
    if (step.isOptional && has(before, step.path) !== isThere)
      return { path: step.path, isLive: step.reloads?.includes(isThere ? "added" : "gone") ?? isLive };
    isLive ||= step.reloads?.includes("changed") ?? false;
  }
  return { path, isLive };
}

function has(settings: Settings, entry: ConfigPath): boolean {
  for (const { path } of settings.values())
    if (entry.every((part, index) => path[index] === part)) return true;
  return false;
}
