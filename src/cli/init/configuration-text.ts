import { isIPv6 } from "node:net";
import { basename } from "node:path";
import { parse } from "yaml";
import { ownAuthority } from "../../config/key-pairs.ts";
import { installed } from "../installed.ts";
import { type Given, listOf, outerHosts } from "./questions.ts";

/** Ports that differ from the usual ones. */
export interface Ports {
  readonly mqttPort?: number;
  readonly opcuaPort?: number;
  readonly webPort?: number;
}

/** The name of the configuration of a machine's only gateway. */
const ONLY = "fleetgate";

/** The prefix of a gateway's files; null for the only one of a machine. */
export function instanceOf(path: string): string | null {
  const name = basename(path).replace(/\.ya?ml$/, "");
  return name === ONLY ? null : name;
}

/**
 * The files that `fleetgate init` writes, relative to the configuration. Those of a further gateway have a
 * folder.
 */
export function fileNamesOf(path: string) {
  const instance = instanceOf(path);
  const folder = instance === null ? "" : `${instance}/`;
  return {
    apiKey: `${folder}secrets/api-key.json`,
    fleetCa: `${folder}fleet-ca.pem`,
    mqttCa: `${folder}mqtt-ca.pem`,
    authority: `${folder}${ownAuthority.certificate}`,
    authorityKey: `${folder}secrets/${ownAuthority.key}`,
    certificate: `${folder}gateway.pem`,
    certificateKey: `${folder}secrets/gateway.key`,
    certificateRequest: `${folder}gateway.csr`,
    brokerPassword: `${folder}secrets/mqtt-password`,
    mqttPassword: (user: string) => `${folder}secrets/mqtt-${user}`,
    opcuaPassword: (user: string) => `${folder}secrets/opcua-${user}`,
    webPassword: (user: string) => `${folder}secrets/web-${user}`,
    invented: `${folder}secrets/invented-passwords`,
  } as const;
}
type FileNames = ReturnType<typeof fileNamesOf>;

/** A configuration with the keys that its reader needs, each with a comment. */
export function configurationText(path: string, dataDir: string, given: Given, ports: Ports): string {
  const names = fileNamesOf(path);
  const sections = [
    head(path),
    gateway(dataDir, given),
    fleet(given, names),
    given.mqtt === "embedded" ? embedded(given, ports, names) : null,
    given.mqtt === "embedded" || given.mqtt === "off" ? null : plantBroker(given, names),
    given.opcua === "on" ? opcua(given, ports, names) : null,
    web(given, ports, names),
    rights(given),
  ];
  return `${sections.filter((section) => section !== null).join("\n\n")}\n`;
}

function head(path: string): string {
  return `# Written by fleetgate init. Every key, with its default, is in fleetgate.example.yaml; the Debian package has
# it in /usr/share/doc/fleetgate/examples. After a change, and before a restart:
#   fleetgate check${path === installed.config ? "" : ` --config ${path}`}
# Names of files are relative to this file. Secrets stand in files of their own.`;
}

function gateway(dataDir: string, given: Given): string {
  return `gateway:
  # Unique in the plant: part of every MQTT topic and of the OPC UA application's URI.
  id: ${scalar(given.id)}
  # What must survive a restart: certificates, and the record of commands.
  dataDir: ${scalar(dataDir)}`;
}

function fleet(given: Given, names: FileNames): string {
  const chosen = listOf(given.robots || given.locations || "");
  const kind = given.robots ? "robots" : "locations";
  const ca = `
  # Trust this CA instead of the system's.
  ca: ${scalar(names.fleetCa)}`;
  return `fleet:
  grpc:
    # host:port of the fleet service. Always TLS.
    address: ${scalar(given.fleet)}
    # Package and service, as the maker calls them.
    serviceName: ${scalar(given.fleetService)}
  # Base URL of the task chain, robot and map operations.
  https: ${scalar(given.fleetHttps)}
  # The API key document: JSON with api_key, scope and secret.
  credentials: ${scalar(names.apiKey)}${given.fleetCa ? ca : ""}
  # What the gateway is for: robots by id, or all robots of locations.
  ${kind}: [${chosen.map(scalar).join(", ")}]`;
}

function embedded(given: Given, { mqttPort }: Ports, names: FileNames): string {
  const user = given.mqttUser ?? "";
  const hosts = outerHosts(given.host ?? "");
  const tls = `
  # Clients need gateway-ca.pem as their CA.
  certificate: ${scalar(names.certificate)}
  key: ${scalar(names.certificateKey)}`;
  return `mqtt:
  # A broker inside the gateway (MQTT 3.1.1).
  broker: embedded
${listen(hosts, mqttPort ?? usualBrokerPort(hosts))}${hosts.length > 0 ? tls : ""}
  # Who may log in. The file holds the password or its hash; fleetgate passwd makes one.
  users:
    ${scalar(user)}:
      password: ${scalar(names.mqttPassword(user))}`;
}

/** 8883 is registered for MQTT over TLS. */
export function usualBrokerPort(hosts: readonly string[]): number {
  return hosts.length > 0 ? 8_883 : 1_883;
}

function plantBroker(given: Given, names: FileNames): string {
  const user = given.mqttUser
    ? `
  # The gateway's own user there, and the file of its password.
  username: ${scalar(given.mqttUser)}
  password: ${scalar(names.brokerPassword)}`
    : "";
  const ca = given.mqttCa
    ? `
  # Trust this CA instead of the system's.
  ca: ${scalar(names.mqttCa)}`
    : "";
  return `mqtt:
  # The plant's broker.
  broker: ${scalar(given.mqtt)}${user}${ca}
  commands:
    # Before you switch them on, the broker must enforce the names of its clients: see mqtt.md.
    enabled: false`;
}

function opcua(given: Given, { opcuaPort }: Ports, names: FileNames): string {
  const user = given.opcuaUser ?? "";
  const [first, ...others] = outerHosts(given.host ?? "");
  const hostNames =
    first === undefined
      ? ""
      : `
  # The names and addresses that clients use: the server's certificate has them.
  hostname: ${scalar(first)}
  alternateHostnames: [${others.map(scalar).join(", ")}]`;
  return `opcua:
${listen(outerHosts(given.host ?? ""), opcuaPort ?? 4_840)}${hostNames}
  # Who may log on. The file holds the password or its hash; fleetgate passwd makes one.
  users:
    ${scalar(user)}:
      password: ${scalar(names.opcuaPassword(user))}
      # observer, operator or engineer
      role: ${scalar(given.opcuaRole)}`;
}

function web(given: Given, { webPort = 8_080 }: Ports, names: FileNames): string {
  const hosts = consoleHosts(given);
  const tls = `
  # Names under which it answers, besides the address at which it is reached.
  hostnames: [${hosts.map(scalar).join(", ")}]
  tls:
    # Browsers need gateway-ca.pem as a CA.
    certificate: ${scalar(names.certificate)}
    key: ${scalar(names.certificateKey)}`;
  const users = given.webUser
    ? `
  # Who may log in. The file holds the password or its hash; fleetgate passwd makes one.
  users:
    ${scalar(given.webUser)}:
      password: ${scalar(names.webPassword(given.webUser))}
      # observer, operator or engineer
      role: ${scalar(given.webRole)}`
    : "";
  return `# Health checks, metrics and the console. Beyond loopback it needs users and TLS.
web:
${listen(hosts, webPort)}${hosts.length > 0 ? tls : ""}${users}`;
}

/** The names by which others reach the console; none: only this machine does. */
export function consoleHosts({ webUser, host = "" }: Given): readonly string[] {
  return webUser ? outerHosts(host) : [];
}

function rights(given: Given): string {
  const ofMqtt = `
  - source:
      protocol: mqtt
      name: ${scalar(given.mqttUser)}
    # observer, operator or engineer
    role: ${scalar(given.mqttRole)}`;
  const hasMqtt = given.mqtt === "embedded" && given.mqttRole !== "observer";
  return `# Who may send what besides reading, which everybody may. Users of OPC UA and the console have a role.
rights:
  # fleetgate call, hold and alarms ack, for root and the gateway's own user.
  - source:
      protocol: cli
      name: "*"
    role: operator${hasMqtt ? ofMqtt : ""}`;
}

function listen(hosts: readonly string[], port: number): string {
  const isLocal = hosts.length === 0;
  const all = hosts.some(isIPv6) ? '"::"' : "0.0.0.0";
  return `  listen:
    # ${isLocal ? "Programs of this machine only." : "Every address of this machine."}
    host: ${isLocal ? "127.0.0.1" : all}
    port: ${port}`;
}

/** A text that YAML reads back unchanged, in a list too. */
function scalar(text = ""): string {
  return /^[\w./:@-]+$/.test(text) && isPlain(text) ? text : JSON.stringify(text);
}

function isPlain(text: string): boolean {
  try {
    return JSON.stringify(parse(`[${text}]`)) === JSON.stringify([text]);
  } catch {
    return false;
  }
}
