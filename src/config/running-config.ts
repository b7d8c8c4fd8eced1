import { createHash } from "node:crypto";
import type { Live } from "../platform/live.ts";
import { stepsTo } from "./fields.ts";
import { type ConfigPath, pathText } from "./finding.ts";
import type { Config, RunningConfig } from "./load.ts";
import { configSchema } from "./schema.ts";
import { runningMqtt, runningSparkplug } from "./sections/mqtt.ts";
import { runningOpcUa } from "./sections/opcua.ts";
import { runningWeb } from "./sections/web.ts";
import type { Settings } from "./settings.ts";

/** What the gateway is made of: the first configuration, and of the live values the one that holds now. */
export function runningConfig(live: Live<Config>): RunningConfig {
  return {
    ...live.now(),
    log: { ...live.now().log, level: live.pick(({ log }) => log.level) },
    mqtt: sectionOf(live, ({ mqtt }) => mqtt, runningMqtt),
    sparkplug: sectionOf(live, ({ sparkplug }) => sparkplug, runningSparkplug),
    opcua: sectionOf(live, ({ opcua }) => opcua, runningOpcUa),
    web: sectionOf(live, ({ web }) => web, runningWeb),
    certificates: live.pick(({ certificates }) => certificates),
    rights: live.pick(({ rights }) => rights),
    stations: live.pick(({ stations }) => stations),
    alarms: { battery: live.pick(({ alarms }) => alarms.battery) },
  };
}

/** A section; null: the file has none. A reload neither adds nor removes one. */
function sectionOf<T, U>(
  live: Live<Config>,
  of: (config: Config) => T | null,
  make: (section: Live<T>) => U,
): U | null {
  const first = of(live.now());
  return first === null ? null : make(live.pick((config) => of(config) ?? first));
}

const SHOWN_DIGITS = 16;

/**
 * A few hexadecimal digits that change with the configuration, without its secrets. They show whether two
 * gateways have the same configuration.
 */
export function configHash(config: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify(redact(config)))
    .digest("hex")
    .slice(0, SHOWN_DIGITS);
}

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

/** The replacement of a secret. */
const HIDDEN = "(hidden)";

/** Keys of the configuration whose values are secret, with everything inside. */
const secretKeys: ReadonlySet<string> = new Set(["apiKey", "secret", "password", "key"]);

/**
 * A configuration without secrets, for logs and `fleetgate check`: secrets are hidden, maps become objects,
 * and PEM texts are cut to their first line.
 */
export function redact(value: unknown): unknown {
  if (typeof value === "string") return redactText(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map(redact);
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, inner]) => [
      key,
      secretKeys.has(String(key)) && inner !== null ? HIDDEN : redact(inner),
    ]),
  );
}

function redactText(text: string): string {
  if (text.startsWith("-----BEGIN ")) return text.split(/\r?\n/, 1)[0] ?? "";
  return text.replace(/^(\w+:\/\/)[^/@]*@/, `$1${HIDDEN}@`);
}

/** Keys with nothing secret inside: otherwise their words would be hidden in every text. */
const plainKeys: ReadonlySet<string> = new Set(["kind", "certificates"]);

/** The secrets of a configuration, to remove them from a text. */
export function secretsOf(value: unknown, isSecret = false): readonly string[] {
  if (typeof value === "string") return isSecret && value !== "" ? [value] : [];
  if (value === null || typeof value !== "object") return [];
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries.flatMap(([key, inner]) =>
    plainKeys.has(String(key)) ? [] : secretsOf(inner, isSecret || secretKeys.has(String(key))),
  );
}
