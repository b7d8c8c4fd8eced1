import { createHash } from "node:crypto";
import { type ConfigPath, pathText } from "./finding.ts";
import { fileAt, type NamedFiles } from "./named-files.ts";
import type { ConfigFile } from "./schema.ts";

/** One key of the file, defaults included. A list is one setting. */
interface Setting {
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

/** What each box has of its own (docs/cluster.md, Three machines, step by step), by the begin of the key. */
const ownKeys: readonly string[] = [
  "cluster.etcd",
  "cluster.member",
  "control",
  "gateway.dataDir",
  "log",
  "opcua.alternateHostnames",
  "opcua.certificate",
  "opcua.hostname",
  "opcua.key",
  "opcua.listen.host",
  "web.listen.host",
  "web.hostnames",
  "web.tls",
];
const DIGITS = 8;

/** A few digits of each section of a configuration that the members of a cluster should have alike. */
export function sharedSections(settings: Settings): Readonly<Record<string, string>> {
  const sections = new Map<string, string[]>();
  for (const [key, { digest }] of [...settings].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (ownKeys.some((own) => key === own || [".", "["].some((next) => key.startsWith(own + next)))) continue;
    const section = key.split(".", 1)[0] ?? key;
    sections.set(section, [...(sections.get(section) ?? []), `${key} ${digest}`]);
  }
  return Object.fromEntries(
    Array.from(sections, ([section, lines]) => [
      section,
      createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, DIGITS),
    ]),
  );
}

/** The sections in which two configurations differ. */
export function differingSections(
  own: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): readonly string[] {
  const names = [...new Set([...Object.keys(own), ...Object.keys(other)])].sort();
  return names.filter((name) => own[name] !== other[name]);
}
