import { dirname, join, resolve } from "node:path";
import { Command, Option } from "commander";
import { shortName } from "../../config/fields.ts";
import { loadConfig } from "../../config/load.ts";
import { createCatalogue } from "../../fleet/operations.ts";
import { refuseForeignPath } from "../../platform/folder.ts";
import { fail, Refused, refuse } from "../exit.ts";
import { installed } from "../installed.ts";
import { judgingHereMs, wrongClockHere } from "../machine-clock.ts";
import { type Access, isThere, publicAccess, secretAccess } from "../new-file.ts";
import { port } from "../option.ts";
import { openTerminal } from "../terminal.ts";
import {
  configurationText,
  consoleHosts,
  fileNamesOf,
  instanceOf,
  type Ports,
} from "./configuration-text.ts";
import { type Interview, interview, type PasswordFiles } from "./interview.ts";
import { type AnswerName, type Given, outerHosts, questions } from "./questions.ts";
import { clusterReport, reportOf } from "./report.ts";
import { readSource } from "./source-file.ts";
import { type Plan, type PlannedFile, placeProblem, refusePlace, writePlan } from "./written-files.ts";

/** Advice for a folder in which root could be misled by a link. */
const AS_OWNER = "run fleetgate init as that user, or choose a folder of root's";

interface Options extends Given, PasswordFiles, Ports {
  readonly config?: string;
  readonly data?: string;
  readonly ifMissing?: boolean;
  readonly cluster?: string;
  readonly machines?: string;
  readonly out?: string;
}

/** `fleetgate init`: makes a configuration by questions, or by flags alone. */
export function initCommand(): Command {
  const command = new Command("init")
    .description("make a configuration, with the files that it names, by questions")
    .option(
      "-c, --config <file>",
      `the configuration to write (default: ${installed.config}, or fleetgate.yaml here)`,
    )
    .option(
      "--data <folder>",
      `the gateway's data folder (default: ${installed.data}, or data beside the file)`,
    );
  for (const { flag, value, text } of questions) command.option(`${flag} ${value}`, text, asGiven);
  return command
    .option("--mqtt-password-file <file>", "its first line is the password of the MQTT user")
    .option("--opcua-password-file <file>", "its first line is the password of the OPC UA user")
    .option("--web-password-file <file>", "its first line is the password of the console's user")
    .addOption(new Option("--mqtt-port <port>", "of the embedded broker").argParser(port))
    .addOption(new Option("--opcua-port <port>", "of the OPC UA server").argParser(port))
    .addOption(new Option("--web-port <port>", "of the console and the health check").argParser(port))
    .option("--cluster <name>", "instead: certificates, and settings of etcd, for two boxes of this cluster")
    .option(
      "--machines <list>",
      "with --cluster, the two boxes and the voter: a=10.0.0.1,b=10.0.0.2,v=10.0.0.3",
    )
    .option("--out <folder>", "with --cluster, where its files are made, or kept (default: cluster)")
    .option("--if-missing", "do nothing if the configuration is there already")
    .addHelpText(
      "after",
      "\nIt asks at a terminal, unless flags answer all that is needed: --id, --fleet, --api-key, and --robots or" +
        "\n--locations. A password of the gateway's own users is invented if no file gives it, and written to" +
        "\nsecrets/invented-passwords, which only the present user may read." +
        "\nIt never writes over a file.",
    )
    .action(async (options: Options) => {
      try {
        await (options.cluster === undefined ? init(options) : initCluster(options.cluster, options));
      } catch (error) {
        if (error instanceof Refused) refuse(error);
        fail(error, () => "");
      }
    });
}

/** Some answers may be empty: the interview checks them all. */
function asGiven(answer: string): string {
  return answer;
}

async function init(options: Options): Promise<void> {
  if (options.machines !== undefined || options.out !== undefined)
    throw new Refused(["--machines and --out need --cluster"]);
  const { config, data, ifMissing, ...flags } = options;
  const isService = config === undefined && (await isThere(dirname(installed.config)));
  const path = config ?? (isService ? installed.config : "fleetgate.yaml");
  if (ifMissing && (await isThere(path))) {
    process.stdout.write(`${path} is there already: nothing was done\n`);
    return;
  }
  const isBeside = dirname(resolve(path)) === dirname(installed.config);
  const dataDir = data ?? usualDataDir(instanceOf(path), isBeside);
  refuseForeignPath(path, AS_OWNER);
  await refusePlace(path);
  const clockProblem = wrongClockHere();
  if (clockProblem !== null) process.stderr.write(`fleetgate: ${clockProblem}\n`);
  const openHere = () => {
    const terminal = openTerminal(process.stdin, process.stderr);
    terminal.say(`For ${path}. Enter takes what stands in brackets; Ctrl-C ends, and nothing is written.`);
    return terminal;
  };
  const isInTheWay = (name: AnswerName, answer: string) => placeProblem(path, name, answer);
  const answers = await interview(flags, flags, process.stdin.isTTY ? openHere : null, isInTheWay);
  const plan = await planOf(path, dataDir, answers, flags);
  for (const file of plan.files) refuseForeignPath(file.path, AS_OWNER);
  const kept = await undisturbed(() => writePlan(plan, refuseFaults));
  process.stdout.write(reportOf(plan, kept, answers, flags, isBeside ? unitOf(instanceOf(path)) : null));
}

async function initCluster(name: string, { machines, out = "cluster" }: Options): Promise<void> {
  if (!shortName.test(name))
    throw new Refused([`"${name}" is no name of a cluster: use 1 to 63 letters, digits, - and _`]);
  const problem = wrongClockHere();
  if (problem !== null) throw new Refused([`no certificate is made: ${problem}`]);
  refuseForeignPath(out, AS_OWNER);
  // Loaded here: the other subcommands need no certificates.
  const { machinesOf, writeClusterFiles } = await import("./cluster-files.ts");
  const all = machinesOf(machines ?? "");
  const { written, kept } = await undisturbed(() => writeClusterFiles(name, all, out, Date.now()));
  process.stdout.write(clusterReport(all, out, written, kept));
}

/** The unit may write only there. Elsewhere, a further gateway's data are in a folder of its own. */
function usualDataDir(instance: string | null, isBeside: boolean): string {
  if (instance === null) return isBeside ? installed.data : "data";
  return isBeside ? join(installed.instances, instance) : join(instance, "data");
}

function unitOf(instance: string | null): string {
  return instance === null ? "fleetgate" : `fleetgate@${instance}`;
}

/** Rejects with Refused for a configuration with which the gateway would not start. */
export async function refuseFaults(path: string): Promise<void> {
  const loaded = await loadConfig(path, process.env, createCatalogue(), judgingHereMs());
  if (loaded.ok) return;
  throw new Refused(
    loaded.problems.map((problem) => `the configuration would be wrong: ${problem.path}: ${problem.message}`),
  );
}

/** Signals wait for less than a second: otherwise half of the files could be left. */
async function undisturbed<Value>(work: () => Promise<Value>): Promise<Value> {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const ignore = () => {};
  for (const signal of signals) process.on(signal, ignore);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.removeListener(signal, ignore);
  }
}

/** Makes the configuration and its files from the answers. */
export async function planOf(path: string, dataDir: string, answers: Interview, ports: Ports): Promise<Plan> {
  const { given } = answers;
  const names = fileNamesOf(path);
  const secret = secretAccess();
  const files: PlannedFile[] = [];
  const add = (name: string, text: string, access: Access) =>
    files.push({ path: join(dirname(resolve(path)), name), text, access });
  const copy = async (name: string, source: string | undefined, access: Access) => {
    if (source) add(name, await readSource(source), access);
  };
  await copy(names.apiKey, given.apiKey, secret);
  await copy(names.fleetCa, given.fleetCa, publicAccess);
  await copy(names.mqttCa, given.mqttCa, publicAccess);
  const hosts = given.mqtt === "embedded" ? outerHosts(given.host ?? "") : consoleHosts(given);
  if (hosts.length > 0) {
    const problem = wrongClockHere();
    if (problem !== null) throw new Refused([`no certificate is made: ${problem}`]);
    const made = await certificatesOf(given.id ?? "", [...hosts, "localhost", "127.0.0.1"], Date.now());
    add(names.authority, made.authority.certificate, publicAccess);
    add(names.authorityKey, made.authority.key, privateAccess);
    add(names.certificate, made.pair.certificate, publicAccess);
    add(names.certificateKey, made.pair.key, secret);
    add(names.certificateRequest, made.request, publicAccess);
  }
  for (const { file, password } of passwordsOf(path, answers)) add(file, `${password.kept}\n`, secret);
  const invented = inventedLines(path, answers);
  if (invented.length > 0) add(names.invented, `${invented.join("\n")}\n`, privateAccess);
  return {
    path: resolve(path),
    text: configurationText(resolve(path), dataDir, given, ports),
    files,
    secretAccess: secret,
  };
}

/** A CA of this gateway, and a server's certificate of it. */
async function certificatesOf(id: string, names: readonly string[], nowMs: number) {
  // Loaded here: the other subcommands need no certificates.
  const { certificateLife, createAuthority, issueCertificate, signingRequestFor } = await import(
    "../../platform/certificate-authority.ts"
  );
  // A common name has at most 64 characters.
  const commonName = `Fleetgate ${id}`.slice(0, 64);
  const authority = await createAuthority(commonName, certificateLife.authorityMs, nowMs);
  const order = {
    commonName: names[0] ?? "",
    names,
    uses: ["server"],
    lifeMs: certificateLife.leafMs,
  } as const;
  const pair = await issueCertificate(authority, order, nowMs);
  return { authority, pair, request: await signingRequestFor(pair) };
}

/** For its owner alone: the gateway does not need it. */
const privateAccess: Access = { mode: 0o600, group: null };

function inventedLines(path: string, answers: Interview): readonly string[] {
  return passwordsOf(path, answers).flatMap(({ protocol, user, password: { invented } }) =>
    invented === null ? [] : [`Password of ${protocol} user ${user}: ${invented}`],
  );
}

function passwordsOf(path: string, { given, mqttPassword, opcuaPassword, webPassword }: Interview) {
  const { mqttUser = "", opcuaUser = "", webUser = "" } = given;
  const names = fileNamesOf(path);
  const mqttFile = given.mqtt === "embedded" ? names.mqttPassword(mqttUser) : names.brokerPassword;
  const all = [
    { protocol: "MQTT", user: mqttUser, file: mqttFile, password: mqttPassword },
    { protocol: "OPC UA", user: opcuaUser, file: names.opcuaPassword(opcuaUser), password: opcuaPassword },
    { protocol: "console", user: webUser, file: names.webPassword(webUser), password: webPassword },
  ];
  return all.flatMap(({ password, ...others }) => (password === null ? [] : [{ ...others, password }]));
}
