import type { AuditSink } from "../commands/audit/audit.ts";
import type { ConfigProblem } from "../config/finding.ts";
import type { Config, LoadResult } from "../config/load.ts";
import { differencesOf } from "../config/running-config.ts";
import type { Settings } from "../config/settings.ts";
import type { ReloadConfiguration, ReloadRefusal, ReloadResult } from "../contracts/reload.ts";
import { type Source, sourceKey } from "../domain/command.ts";
import { clip } from "../domain/foreign-text.ts";
import type { Clock } from "../platform/clock.ts";
import type { Health } from "../platform/component.ts";
import { describeError } from "../platform/error-text.ts";
import type { Live, LiveSource } from "../platform/live.ts";
import type { Log } from "../platform/log.ts";

/** The source of the configuration, for a gateway that can read it again. */
export interface ConfigurationSource {
  /** The values from which the gateway was made. */
  readonly settings: Settings;
  /** Reads and checks the file and all files that it names. Never rejects for their content. */
  read(): Promise<LoadResult>;
}

/** Why a component cannot take another configuration, by key. Synchronous; changes nothing. */
type FindRefusals = (next: Config) => readonly ReloadRefusal[];

export interface ReloadDependencies {
  /** Null: the gateway was made without a file. */
  readonly source: ConfigurationSource | null;
  readonly live: LiveSource<Config>;
  /** Of what holds now. */
  readonly hash: () => string;
  /** Of what may be changed otherwise. */
  readonly refusals: FindRefusals;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
}

/** Reads the configuration again while the gateway runs. */
interface Reload {
  readonly request: ReloadConfiguration;
  /** Of the configuration that is in force; null: the gateway was made without a file. */
  settings(): Settings | null;
  /** The gateway stops: nothing is changed any more. */
  close(): void;
  health(): Health;
}

const RESTART = "restart to change it";
const MOST_ASKERS = 16;
const MOST_SHOWN = 20;

/** A reading that has not begun: requests during the present one share it. */
interface Next {
  readonly askers: Set<string>;
  readonly result: Promise<ReloadResult>;
}

export function createReload(parts: ReloadDependencies): Reload {
  const { source, live, hash: hashOf } = parts;
  let settings = source?.settings ?? null;
  let isClosed = false;
  let last: Promise<unknown> = Promise.resolve();
  let next: Next | null = null;
  let reloads = 0;
  let refusals = 0;
  let problem: string | null = null;

  async function readAndApply(): Promise<Omit<ReloadResult, "hash">> {
    if (source === null || settings === null)
      return refusedAs(
        "its settings are in no file, as in the demo: end it, and start it with other options",
      );
    if (isClosed) return refusedAs("the gateway stops");
    const read = await source.read();
    // There is no `await` from here on: no command sees a part of the new configuration.
    if (isClosed) return refusedAs("the gateway stops");
    if (!read.ok) return { applied: [], refused: read.problems.map(shown), warnings: [] };
    const warnings = [...read.warnings, ...read.outdated].map(shown);
    const { live: applied, needRestart } = differencesOf(settings, read.settings);
    // A new problem would remain unseen. An earlier one may stay: its listener fails already.
    const isNew = ({ path }: ConfigProblem) => applied.some((key) => sectionOf(key) === sectionOf(path));
    const refusals = [...parts.refusals(read.config), ...read.unusable.filter(isNew).map(shown)];
    const explained = new Set(refusals.map(({ path }) => path));
    const refused = [
      ...needRestart.filter((path) => !explained.has(path)).map((path) => ({ path, reason: RESTART })),
      ...refusals,
    ];
    if (refused.length > 0) return { applied: [], refused, warnings };
    if (applied.length > 0) live.replace(read.config);
    settings = read.settings;
    return { applied, refused: [], warnings };
  }

  async function run({ askers }: { readonly askers: ReadonlySet<string> }): Promise<ReloadResult> {
    const hashBefore = hashOf();
    let found: Omit<ReloadResult, "hash">;
    try {
      found = await readAndApply();
    } catch (error) {
      found = refusedAs(`the file cannot be read: ${describeError(error)}`);
    }
    const result = { ...found, hash: hashOf() };
    reloads += 1;
    if (result.refused.length > 0) refusals += 1;
    problem = isClosed ? null : problemOf(result);
    report(parts, [...askers], hashBefore, result, isClosed);
    return result;
  }

  return {
    request(by) {
      next ??= begin();
      if (next.askers.size < MOST_ASKERS) next.askers.add(by);
      return next.result;
    },
    settings: () => settings,
    close() {
      isClosed = true;
    },
    health() {
      const figures = { reloads, reloadsRefused: refusals };
      return problem === null ? { state: "up", figures } : { state: "degraded", detail: problem, figures };
    },
  };

  function begin(): Next {
    const askers = new Set<string>();
    const result = last.then(() => {
      next = null;
      return run({ askers });
    });
    last = result;
    return { askers, result };
  }
}

/** Writes the result of a reload to the log, and to the audit log while it is open. */
function report(
  { audit, clock, log }: ReloadDependencies,
  by: readonly string[],
  hashBefore: string,
  { applied, refused, hash, warnings }: ReloadResult,
  isClosed: boolean,
): void {
  const fields = { by, hashBefore, hash };
  const isRefused = refused.length > 0;
  for (const { path, reason } of warnings) log.warn({ path, reason }, "the configuration is unwise");
  if (isRefused) {
    const shown = { refused: refused.slice(0, MOST_SHOWN).map(lineOf), problems: refused.length };
    log.error({ ...fields, ...shown }, "the configuration was not reloaded: nothing has changed");
  } else if (applied.length === 0) log.info(fields, "the configuration was reloaded: nothing in it is new");
  else log.info({ ...fields, applied }, "the configuration was reloaded");
  if (isClosed) return;
  audit({
    at: new Date(clock.nowMs()).toISOString(),
    event: "reload",
    by,
    outcome: isRefused ? "refused" : "succeeded",
    applied,
    refused: refused.slice(0, MOST_SHOWN),
    hash_before: hashBefore,
    hash,
  });
}

function refusedAs(reason: string): Omit<ReloadResult, "hash"> {
  return { applied: [], refused: [{ path: "", reason }], warnings: [] };
}

function sectionOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function shown({ path, line, message }: ConfigProblem): ReloadRefusal {
  return { path, reason: line === null ? message : `${message} (line ${line})` };
}

function lineOf({ path, reason }: ReloadRefusal): string {
  return path === "" ? reason : `${path}: ${reason}`;
}

const LONGEST_PROBLEM = 400;

/** What differs from the file on the disk; null: nothing. */
function problemOf({ refused }: ReloadResult): string | null {
  if (refused.length === 0) return null;
  const lines = refused.slice(0, MOST_SHOWN).map(lineOf).join("; ");
  return clip(`the configuration file is not what the gateway runs with: ${lines}`, LONGEST_PROBLEM);
}

/** Holds requests back until the gateway can reload, and knows who may refuse one. */
export interface ReloadGate {
  readonly request: ReloadConfiguration;
  /** Of the present configuration. */
  readonly hash: Live<string>;
  /** Of the present configuration; null: the gateway was made without a file. */
  settings(): Settings | null;
  /** Registers a function that is asked whether a reload may change the configuration. */
  refuseReload(refusalsOf: FindRefusals): void;
  readonly refusals: FindRefusals;
  open(reload: Reload): void;
  /** The gateway has ended: waiting requests are refused. */
  end(): void;
  health(): Health;
}

/** @param first the settings until the gateway can reload */
export function createReloadGate(hash: Live<string>, first: Settings | null = null): ReloadGate {
  let settle: (reload: Reload | null) => void = () => {};
  const opened = new Promise<Reload | null>((resolve) => {
    settle = resolve;
  });
  let health: () => Health = () => ({ state: "up" });
  let settings = () => first;
  const finders: FindRefusals[] = [];
  return {
    hash,
    settings: () => settings(),
    refuseReload: (refusalsOf) => void finders.push(refusalsOf),
    refusals: (next) => finders.flatMap((refusalsOf) => refusalsOf(next)),
    async request(by) {
      const reload = await opened;
      if (reload !== null) return reload.request(by);
      const refused = [{ path: "", reason: "the gateway has ended" }];
      return { applied: [], refused, warnings: [], hash: hash.now() };
    },
    open(reload) {
      health = reload.health;
      settings = reload.settings;
      settle(reload);
    },
    end: () => settle(null),
    health: () => health(),
  };
}

/** Whether a source is a user of one configuration that the next one does not have. */
export function goneUsers(before: Config, now: Config): (source: Source) => boolean {
  const kept = new Set(usersOf(now).map(sourceKey));
  const gone = new Set(
    usersOf(before)
      .map(sourceKey)
      .filter((key) => !kept.has(key)),
  );
  return (source) => gone.has(sourceKey(source));
}

function usersOf({ rights, mqtt }: Config): readonly Source[] {
  const clients = mqtt?.broker.kind === "embedded" ? mqtt.broker.users : [];
  return [
    ...rights.accounts.map(({ source }) => source),
    ...clients.map(({ name }) => ({ protocol: "mqtt", name }) as const),
  ];
}
