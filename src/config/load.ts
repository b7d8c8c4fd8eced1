import { stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { ClusterOptions } from "../cluster/options.ts";
import type { DispatcherOptions, IntakeOptions, Rights, StationOptions } from "../commands/options.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { OutboxOptions } from "../delivery/outbox/options.ts";
import type { QualityTimes } from "../domain/observed.ts";
import type { FleetOptions } from "../fleet/options.ts";
import type { MqttOptions } from "../northbound/mqtt/options.ts";
import type { SparkplugOptions } from "../northbound/mqtt/sparkplug/options.ts";
import type { OpcUaOptions } from "../northbound/opcua/options.ts";
import type { ControlOptions, WebOptions } from "../northbound/web/options.ts";
import type { Live, Now } from "../platform/live.ts";
import type { LogLevel } from "../platform/log.ts";
import { type ReadFile, readPlainFile } from "../platform/plain-file.ts";
import type { RecorderOptions } from "../platform/recorder/recording.ts";
import { crossChecks, type SoundSections } from "./cross-checks.ts";
import { dataDir, type Environment } from "./environment.ts";
import { type ConfigProblem, type Finding, unwise, wrong } from "./finding.ts";
import { problemAt, problemsOf } from "./issues.ts";
import { type NamedFiles, type OwnCertificate, readNamedFiles } from "./named-files.ts";
import { inOrder, readConfigDocument, soundSections, unsoundSections } from "./read-document.ts";
import { type ConfigFile, configSchema } from "./schema.ts";
import { clusterOptions, ownOpcUaUri } from "./sections/cluster.ts";
import { ownUriFindings } from "./sections/cluster-checks.ts";
import { dispatcherOptions, intakeOptions } from "./sections/commands.ts";
import { fleetOptions } from "./sections/fleet.ts";
import { controlOptions, recorderOptions, socketPath, socketPathProblem } from "./sections/gateway.ts";
import { mqttOptions, sparkplugOptions, sparkplugOutboxOptions } from "./sections/mqtt.ts";
import { namedRobots, opcUaAccounts, opcUaOptions } from "./sections/opcua.ts";
import { stationNodes, stationOptions, stationPlaces } from "./sections/stations.ts";
import { webAccounts, webOptions } from "./sections/web.ts";
import { type Settings, settingsOf } from "./settings.ts";

/**
 * The whole configuration, with defaults; a reload changes the live values. It contains secrets: print it
 * only through `redact`.
 */
export interface RunningConfig {
  readonly gateway: {
    readonly id: string;
    /** Absolute. */
    readonly dataDir: string;
  };
  readonly log: { readonly level: Live<LogLevel>; readonly format: "json" | "text" };
  readonly fleet: FleetOptions;
  readonly quality: QualityTimes;
  /** Null: off, because the file has no such section. The same holds for the next four. */
  readonly mqtt: MqttOptions | null;
  /** The edge node of Sparkplug, beside the JSON topics or instead of them. */
  readonly sparkplug: SparkplugOptions | null;
  /** The queue of events for the broker; null: no JSON topics are published. */
  readonly outbox: OutboxOptions | null;
  /** The queue of what Sparkplug shows of the past. */
  readonly sparkplugOutbox: OutboxOptions | null;
  readonly opcua: OpcUaOptions | null;
  readonly web: WebOptions | null;
  readonly cluster: ClusterOptions | null;
  /** The socket of `fleetgate call`; null: off, or the path of the socket is too long. */
  readonly control: ControlOptions | null;
  readonly rights: Live<Rights>;
  readonly intake: IntakeOptions;
  readonly dispatcher: DispatcherOptions;
  readonly stations: Live<readonly StationOptions[]>;
  readonly alarms: {
    /** Percent of charge at which an alarm is raised. */
    readonly battery: Live<ConfigFile["alarms"]["battery"]>;
  };
  /** What the gateway shows to others, of which the end is watched. */
  readonly certificates: Live<readonly OwnCertificate[]>;
  /** How long a shutdown waits for the answers of what was sent. */
  readonly drainMs: number;
  /**
   * The audit log: the size at which a file is rotated, and how many are kept; systemd's journal gets a copy.
   */
  readonly audit: { readonly maxBytes: number; readonly keep: number; readonly journald: boolean };
  /** Null: switched off. */
  readonly recorder: RecorderOptions | null;
  /** The bounds of the journal; an unfinished command is always kept. */
  readonly journal: { readonly keepMs: number; readonly keepCount: number };
}

/** A configuration as it was read: nothing in it changes. */
export type Config = Now<RunningConfig>;

/**
 * A configuration, or everything that is wrong with the file. `outdated` are the gateway's own certificates
 * that are not valid now, `unusable` those that TLS does not take: the gateway starts, because its other
 * listeners work.
 */
export type LoadResult =
  | {
      readonly ok: true;
      readonly config: Config;
      /** The values in the file, to find the changes of a later one. */
      readonly settings: Settings;
      readonly warnings: readonly ConfigProblem[];
      readonly outdated: readonly ConfigProblem[];
      readonly unusable: readonly ConfigProblem[];
    }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/**
 * Reads the configuration file and every file that it names. Never rejects because of their content, or
 * because one is missing: the result has every problem, in the order of the file's lines.
 *
 * @param env the environment, for systemd's $CREDENTIALS_DIRECTORY and $STATE_DIRECTORY
 * @param catalogue the operations that rights may name
 * @param nowMs wall time, for the validity of certificates; NaN: not known
 */
export async function loadConfig(
  path: string,
  env: Environment,
  catalogue: Catalogue,
  nowMs: number,
  readFile: ReadFile = readPlainFile,
): Promise<LoadResult> {
  const read = await readConfigDocument(path, readFile);
  if (!read.ok) return read;
  const { document } = read;
  const parsed = configSchema.safeParse(document.value);
  const files = await readNamedFiles(configSchema, document, path, env, nowMs, readFile);
  const sections = parsed.success ? parsed.data : soundSections(document);
  const findings = [
    ...crossChecks(sections, catalogue, unsoundSections(document)),
    ...ownUriFindings(sections, files),
    ...socketFindings(sections, path, env),
    ...(await folderFindings(sections, path, env)),
  ];
  const [wrong, unwise] = (["problem", "warning"] as const).map((severity) =>
    findings
      .filter((finding) => finding.severity === severity)
      .map((finding) => problemAt(document, finding.path, finding.message)),
  );
  const problems = [
    ...problemsOf(parsed.error?.issues ?? [], configSchema, document),
    ...files.problems,
    ...(wrong ?? []),
  ];
  if (!parsed.success || problems.length > 0) return { ok: false, problems: inOrder(problems) };
  return {
    ok: true,
    config: assemble(parsed.data, files, path, env),
    settings: settingsOf(parsed.data, files),
    warnings: inOrder([...files.warnings, ...(unwise ?? [])]),
    outdated: inOrder(files.outdated),
    unusable: inOrder(files.unusable),
  };
}

function assemble(file: ConfigFile, files: NamedFiles, path: string, env: Environment): Config {
  const gateway = { id: file.gateway.id, dataDir: dataDir(file, path, env) };
  const members = file.cluster === undefined ? 1 : Object.keys(file.cluster.members).length;
  const socket = socketPath(file.control, dirname(resolve(path)), gateway.dataDir);
  return {
    gateway,
    log: file.log,
    quality: file.quality,
    fleet: fleetOptions(file.fleet, file.quality, files, gateway.dataDir, members),
    mqtt: file.mqtt === undefined ? null : mqttOptions(file.mqtt, gateway.id, mqttPlant(file), files),
    sparkplug: sparkplugOptions(file.mqtt, gateway.id, file.opcua),
    sparkplugOutbox: sparkplugOutboxOptions(file.mqtt),
    outbox: file.mqtt?.sparkplug?.json === false ? null : (file.mqtt?.outbox ?? null),
    opcua:
      file.opcua === undefined
        ? null
        : opcUaOptions(
            file.opcua,
            { ...gateway, memberUri: ownOpcUaUri(file.cluster) },
            file.fleet,
            stationNodes(file.stations),
            files,
          ),
    web: file.web === undefined ? null : webOptions(file.web, files),
    cluster: file.cluster === undefined ? null : clusterOptions(file.cluster, files),
    control: controlOptions(file.control, socket),
    stations: stationOptions(file.stations),
    intake: intakeOptions(file.commands, file.mqtt?.commands.clientRate),
    dispatcher: dispatcherOptions(file.commands, file.conveyors),
    rights: { rules: file.rights, accounts: [...opcUaAccounts(file.opcua), ...webAccounts(file.web)] },
    alarms: file.alarms,
    certificates: files.certificates,
    drainMs: file.commands.drainMs,
    audit: file.commands.audit,
    recorder: recorderOptions(file.recorder, gateway.dataDir),
    journal: file.commands.journal,
  };
}

function mqttPlant({ opcua, fleet, stations }: ConfigFile): Parameters<typeof mqttOptions>[2] {
  return { robots: namedRobots(opcua, fleet.robots), stations: stationPlaces(stations) };
}

/** A configured path must be usable. If a default path is not usable, there is no socket. */
function socketFindings({ gateway, control }: SoundSections, path: string, env: Environment): Finding[] {
  if (gateway === undefined || control === undefined || !control.enabled) return [];
  const problem = socketPathProblem(
    socketPath(control, dirname(resolve(path)), dataDir({ gateway }, path, env)),
  );
  if (problem === null) return [];
  if (control.socket !== undefined) return [wrong(["control", "socket"], problem)];
  return [unwise(["gateway", "dataDir"], `fleetgate call will not work: ${problem}`)];
}

async function folderFindings(
  { gateway }: SoundSections,
  path: string,
  env: Environment,
): Promise<readonly Finding[]> {
  if (gateway === undefined) return [];
  // If root checks for a unit, the folder belongs to another user.
  const uid = env.unit === undefined ? (process.getuid?.() ?? null) : null;
  const problems = await folderProblems(dataDir({ gateway }, path, env), uid);
  return problems.map((problem) => unwise(["gateway", "dataDir"], problem));
}

/** Write for the group, write for others. */
const OTHERS_MAY_WRITE = 0o022;

/**
 * Who besides the user `uid` may change the content of a folder, each as a sentence with the command that
 * corrects it. Empty for a folder that does not exist yet: the gateway makes it for its own user alone.
 *
 * @param uid null: the system has no users by number
 */
export async function folderProblems(path: string, uid: number | null): Promise<readonly string[]> {
  const about = await stat(path).catch(() => null);
  if (about === null || !about.isDirectory()) return [];
  const mode = (about.mode & 0o7777).toString(8).padStart(4, "0");
  const problems: string[] = [];
  if ((about.mode & OTHERS_MAY_WRITE) !== 0) {
    problems.push(
      `${path} can be written by users besides its owner (mode ${mode}), who could forge the record of commands: chmod go-w ${path}`,
    );
  }
  if (uid !== null && about.uid !== uid) {
    problems.push(
      `${path} belongs to user ${about.uid} (mode ${mode}), and this program runs as user ${uid}: run the gateway as its owner, or chown ${uid} ${path} && chmod 700 ${path}`,
    );
  }
  return problems;
}
