import { createHash } from "node:crypto";
import { type ConfigPath, pathText } from "./finding.ts";
import { fileAt, type NamedFiles } from "./named-files.ts";
import type { ConfigFile } from "./schema.ts";

/** One key of the file, defaults included. A list is one setting. */
export interface Setting {
  readonly path: ConfigPath;
  /** Changes with the value, and with the content of the file that the value names. */
  readonly digest: string;
}

/**
 * All values of a configuration, by `pathText`. It has digests instead of values, so it contains no secrets.
 */
export type Settings = ReadonlyMap<string, Setting>;

/** Files that the gateway reads again when they change: a reload need not compare their content. */
const followed: ReadonlySet<string> = new Set(["mqtt.ca", "mqtt.clientCertificate", "mqtt.clientKey"]);

export function settingsOf(file: ConfigFile, files: NamedFiles): Settings {
  const settings = new Map<string, Setting>();
  for (const [path, value] of leaves(file, [])) {
    const key = pathText(path);
    const text = followed.has(key) ? "" : (fileAt(files, ...path)?.text ?? "");
    const digest = createHash("sha256")
      .update(JSON.stringify([value, text]))
      .digest("base64");
    settings.set(key, { path, digest });
  }
  return settings;
}

function* leaves(value: unknown, path: ConfigPath): Generator<readonly [ConfigPath, unknown]> {
  if (value === undefined) return;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    yield [path, value];
    return;
  }
  for (const [key, inner] of Object.entries(value)) yield* leaves(inner, [...path, key]);
}
