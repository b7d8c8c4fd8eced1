import { X509Certificate } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { urlHost } from "../../platform/url-host.ts";
import { installed } from "../installed.ts";
import type { Machine } from "./cluster-files.ts";
import { consoleHosts, fileNamesOf, type Ports, usualBrokerPort } from "./configuration-text.ts";
import type { Interview } from "./interview.ts";
import { outerHosts } from "./questions.ts";
import type { Plan } from "./written-files.ts";

/**
 * The written files, the addresses, and the next steps.
 *
 * @param unit the unit of systemd that reads this configuration; null: none does
 */
export function reportOf(
  plan: Plan,
  kept: readonly string[],
  answers: Interview,
  ports: Ports,
  unit: string | null,
): string {
  const blocks = [
    ...fileLines(plan, kept),
    ...passwordLines(plan),
    ...addressLines(answers, ports),
    ...certificateLines(plan, unit),
    ...accessLines(plan, unit),
    ...nextLines(plan, answers, ports, unit),
  ];
  return `${blocks.join("\n")}\n`;
}

function fileLines(plan: Plan, kept: readonly string[]): readonly string[] {
  return [
    `Written: ${plan.path}`,
    ...plan.files.map(({ path }) => `${kept.includes(path) ? "Kept:   " : "Written:"} ${path}`),
  ];
}

/** The absolute path of a file of the plan, and its text; null: it has none of that name. */
function fileOf({ path, files }: Plan, name: string) {
  return files.find((file) => file.path === join(dirname(path), name)) ?? null;
}

function passwordLines(plan: Plan): readonly string[] {
  const file = fileOf(plan, fileNamesOf(plan.path).invented);
  if (file === null) return [];
  return [
    "",
    `The invented passwords are in ${file.path}, which only this user may read.`,
    "Note them, and remove the file: the gateway needs only their hashes.",
  ];
}

/** Of the embedded broker, as clients reach it. */
function brokerOf({ given }: Interview, ports: Ports) {
  const hosts = outerHosts(given.host ?? "");
  const [host = "localhost"] = hosts;
  return { host, port: ports.mqttPort ?? usualBrokerPort(hosts), isTls: hosts.length > 0 };
}

function addressLines(answers: Interview, ports: Ports): readonly string[] {
  const { given } = answers;
  const { host, port, isTls } = brokerOf(answers, ports);
  const shown = urlHost(host);
  const broker = `${isTls ? "mqtts" : "mqtt"}://${shown}:${port}`;
  const browsers = consoleHosts(given);
  const page = `${browsers.length > 0 ? `https://${shown}` : "http://localhost"}:${ports.webPort ?? 8_080}`;
  const lines = [
    ...(given.mqtt === "embedded" ? [`MQTT clients connect to ${broker}`] : []),
    ...(given.opcua === "on"
      ? [`OPC UA clients connect to opc.tcp://${shown}:${ports.opcuaPort ?? 4_840}`]
      : []),
    `The console is ${page}${given.webUser ? `, for ${given.webUser}` : ", without a log-in"}`,
  ];
  if (given.mqtt === "off" && given.opcua === "off") {
    lines.push(
      "Both MQTT and OPC UA are off: the plant sees nothing of the robots, and can send no command.",
    );
  }
  return ["", ...lines];
}

function certificateLines(plan: Plan, unit: string | null): readonly string[] {
  const names = fileNamesOf(plan.path);
  const [authority, certificate] = [fileOf(plan, names.authority), fileOf(plan, names.certificate)];
  const request = fileOf(plan, names.certificateRequest);
  if (authority === null || certificate === null || request === null) return [];
  return [
    "",
    `Give ${authority.path} to clients and browsers as a CA. SHA-256:`,
    `  ${new X509Certificate(authority.text).fingerprint256}`,
    "The certificate that they are shown has this SHA-256:",
    `  ${new X509Certificate(certificate.text).fingerprint256}`,
    `Or let the plant's CA sign ${basename(request.path)}, write its answer and its issuers over ${basename(certificate.path)},`,
    `and ${unit === null ? `run fleetgate reload${optionOf(plan)}` : `run sudo systemctl reload ${unit}`}.`,
  ];
}

function accessLines({ secretAccess }: Plan, unit: string | null): readonly string[] {
  if (unit === null || secretAccess.group !== null) return [];
  return [
    "",
    "The secrets belong to this user: the user as whom the gateway runs must be able to read them.",
  ];
}

/** The package's configuration needs no option. */
function optionOf({ path }: Plan): string {
  return path === installed.config ? "" : ` --config ${path}`;
}

/** A line that shows what an MQTT client sees; none without the embedded broker. */
function mqttLines(plan: Plan, answers: Interview, ports: Ports): readonly string[] {
  const { mqtt, mqttUser, id } = answers.given;
  if (mqtt !== "embedded") return [];
  const { host, port, isTls } = brokerOf(answers, ports);
  const tls = isTls ? ` --cafile ${join(dirname(plan.path), fileNamesOf(plan.path).authority)}` : "";
  return [
    `What an MQTT client sees, with the password of ${mqttUser}:`,
    `  mosquitto_sub -h ${host} -p ${port}${tls} -u ${mqttUser} -P PASSWORD -v -t 'fleetgate/${id}/robots/#'`,
  ];
}

function nextLines(plan: Plan, answers: Interview, ports: Ports, unit: string | null): readonly string[] {
  const option = optionOf(plan);
  const fleetgate = unit === null ? "fleetgate" : "sudo fleetgate";
  const approval = [
    "An OPC UA client is refused at first. Compare the thumbprint of its certificate, and let it in:",
    `  ${fleetgate} certs list${option}`,
    `  ${fleetgate} certs approve THUMBPRINT${option}`,
  ];
  return [
    "",
    "Next:",
    `  ${fleetgate} check${option} --online`,
    unit === null ? `  fleetgate run${option}` : `  sudo systemctl enable --now ${unit}`,
    "Then the first values:",
    `  ${fleetgate} robots${option}`,
    ...mqttLines(plan, answers, ports),
    ...(answers.given.opcua === "on" ? approval : []),
  ];
}

/** The files of a cluster, and the next steps. */
export function clusterReport(
  machines: readonly Machine[],
  out: string,
  written: readonly string[],
  kept: readonly string[],
): string {
  return `${[
    ...written.map((path) => `Written: ${path}`),
    ...kept.map((path) => `Kept:    ${path}`),
    "",
    "Leave ca.key and root.key on none of the machines: they give every right in etcd.",
    "Next, and then as docs/cluster.md says:",
    ...machines.map(({ name }) => `  scp -r ${join(out, name)} ${name}:cluster`),
  ].join("\n")}\n`;
}
