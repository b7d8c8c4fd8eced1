import { createHash } from "node:crypto";
import type { Settings } from "./settings.ts";

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
