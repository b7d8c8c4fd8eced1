import { isIP } from "node:net";
import { names } from "../../config/fields.ts";
import { fleetSection } from "../../config/sections/fleet.ts";
import { gatewaySection } from "../../config/sections/gateway.ts";
import { mqttSection } from "../../config/sections/mqtt.ts";
import { roles } from "../../domain/command.ts";
import { bareHost, isLoopback } from "../../platform/url-host.ts";
import { caFileProblem, keyFileProblem } from "./source-file.ts";

/** Answers as they were typed or given by flags, by the name of the option. */
export type Given = Readonly<Partial<Record<AnswerName, string>>>;

export type AnswerName =
  | "id"
  | "fleet"
  | "fleetService"
  | "fleetHttps"
  | "fleetCa"
  | "apiKey"
  | "robots"
  | "locations"
  | "mqtt"
  | "opcua"
  | "webUser"
  | "host"
  | "mqttUser"
  | "mqttRole"
  | "mqttCa"
  | "opcuaUser"
  | "opcuaRole"
  | "webRole";

/** A question of `fleetgate init`. */
export interface Question {
  readonly name: AnswerName;
  readonly flag: string;
  /** Of the flag's value, for the help. */
  readonly value: string;
  readonly text: string;
  /** Whether it is asked, by the answers to the earlier questions. */
  applies(given: Given): boolean;
  /** The default; null: an answer is needed. */
  usual(given: Given): string | null;
  /** Why an answer is not valid, and what would be; null: it is valid. */
  problem(answer: string, given: Given): Promise<string | null> | string | null;
}

const { serviceName } = fleetSection.shape.grpc.shape;
const always = () => true;
const needed = () => null;
const isEmbedded = ({ mqtt }: Given) => mqtt === "embedded";
const isExternal = ({ mqtt }: Given) => mqtt !== undefined && mqtt !== "embedded" && mqtt !== "off";
const hasOpcUa = ({ opcua }: Given) => opcua === "on";
const hasLogIn = ({ webUser = "" }: Given) => webUser !== "";

/** In the order in which they are asked. */
export const questions: readonly Question[] = [
  {
    name: "id",
    flag: "--id",
    value: "<id>",
    text: "Id of this gateway, unique in the plant",
    applies: always,
    usual: needed,
    problem: (answer) => issue(gatewaySection.shape.id, answer),
  },
  {
    name: "fleet",
    flag: "--fleet",
    value: "<host:port>",
    text: "gRPC address of the fleet service, host:port",
    applies: always,
    usual: needed,
    problem: (answer) => issue(fleetSection.shape.grpc.shape.address, answer),
  },
  {
    name: "fleetService",
    flag: "--fleet-service",
    value: "<name>",
    text: "Name of its gRPC service, as its maker calls it",
    applies: always,
    usual: () => serviceName.parse(undefined),
    problem: (answer) => issue(serviceName, answer),
  },
  {
    name: "fleetHttps",
    flag: "--fleet-https",
    value: "<url>",
    text: "Base URL of its REST operations",
    applies: always,
    usual: ({ fleet = "" }) => `https://${fleet.replace(/:\d+$/, "")}`,
    problem: (answer) => issue(fleetSection.shape.https, answer),
  },
  {
    name: "fleetCa",
    flag: "--fleet-ca",
    value: "<file>",
    text: "File of the CA of its certificate (PEM), which is copied; empty: the system's",
    applies: always,
    usual: () => "",
    problem: (answer) => (answer === "" ? null : caFileProblem(answer)),
  },
  {
    name: "apiKey",
    flag: "--api-key",
    value: "<file>",
    text: "File of the API key document, which is copied",
    applies: always,
    usual: needed,
    problem: keyFileProblem,
  },
  {
    name: "robots",
    flag: "--robots",
    value: "<ids>",
    text: "Robots by id, separated by commas; empty: all robots of locations",
    applies: ({ locations }) => locations === undefined,
    usual: () => "",
    problem: (answer) => (answer === "" ? null : issue(names(""), listOf(answer))),
  },
  {
    name: "locations",
    flag: "--locations",
    value: "<names>",
    text: "Locations, separated by commas",
    applies: ({ robots = "" }) => robots === "",
    usual: needed,
    problem: (answer) => (answer === "" ? "give at least one" : issue(names(""), listOf(answer))),
  },
  {
    name: "mqtt",
    flag: "--mqtt",
    value: "<broker>",
    text: "MQTT: off, embedded (a broker inside the gateway), or the URL of the plant's broker",
    applies: always,
    usual: () => "off",
    problem: (answer) =>
      answer === "off" || issue(mqttSection.shape.broker, answer) === null
        ? null
        : "write off, embedded, mqtts://host:port, mqtt://host:port, or wss://host:port/path, without user and password",
  },
  {
    name: "opcua",
    flag: "--opcua",
    value: "<on|off>",
    text: "OPC UA server: on or off",
    applies: always,
    // Without either, nobody would see a robot.
    usual: ({ mqtt }) => (mqtt === "off" ? "on" : "off"),
    problem: (answer) => (answer === "on" || answer === "off" ? null : "write on or off"),
  },
  {
    name: "webUser",
    flag: "--web-user",
    value: "<name>",
    text: "User of the console, who logs in; empty: no log-in, and only this machine reaches it",
    applies: always,
    usual: () => "",
    problem: (answer) => (answer === "" ? null : userProblem(answer)),
  },
  {
    name: "host",
    flag: "--host",
    value: "<names>",
    text: "Names or addresses by which clients reach this machine; localhost: only its own programs",
    applies: (given) => isEmbedded(given) || hasOpcUa(given) || hasLogIn(given),
    usual: () => "localhost",
    problem: hostProblem,
  },
  {
    name: "mqttUser",
    flag: "--mqtt-user",
    value: "<name>",
    text: "MQTT user",
    applies: (given) => isEmbedded(given) || isExternal(given),
    usual: (given) => (isEmbedded(given) ? "scada" : ""),
    // The plant's broker may ask for no user.
    problem: (answer, given) => (answer === "" && !isEmbedded(given) ? null : userProblem(answer)),
  },
  {
    name: "mqttRole",
    flag: "--mqtt-role",
    value: "<role>",
    text: "Role of the MQTT user: observer (reads only), operator or engineer",
    applies: isEmbedded,
    usual: () => "observer",
    problem: roleProblem,
  },
  {
    name: "mqttCa",
    flag: "--mqtt-ca",
    value: "<file>",
    text: "File of the CA of the broker's certificate (PEM), which is copied; empty: the system's",
    applies: ({ mqtt = "" }) => mqtt.startsWith("mqtts:") || mqtt.startsWith("wss:"),
    usual: () => "",
    problem: (answer) => (answer === "" ? null : caFileProblem(answer)),
  },
  {
    name: "opcuaUser",
    flag: "--opcua-user",
    value: "<name>",
    text: "OPC UA user",
    applies: hasOpcUa,
    usual: () => "line1",
    problem: userProblem,
  },
  {
    name: "opcuaRole",
    flag: "--opcua-role",
    value: "<role>",
    text: "Role of the OPC UA user: observer (reads only), operator or engineer",
    applies: hasOpcUa,
    usual: () => "operator",
    problem: roleProblem,
  },
  {
    name: "webRole",
    flag: "--web-role",
    value: "<role>",
    text: "Role of the console's user: observer (reads only), operator or engineer",
    applies: hasLogIn,
    usual: () => "operator",
    problem: roleProblem,
  },
];

/** The parts of an answer that is a list. */
export function listOf(answer: string): readonly string[] {
  return answer
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** Names and addresses of the machine that others can use. */
export function outerHosts(answer: string): readonly string[] {
  return hostsOf(answer).filter((host) => !isLoopback(host));
}

/** An IPv6 address may have brackets. */
function hostsOf(answer: string): readonly string[] {
  return listOf(answer).map(bareHost);
}

function hostProblem(answer: string): string | null {
  const hosts = hostsOf(answer);
  if (hosts.length === 0) return "write host names and addresses, separated by commas";
  const wrong = hosts.find((host) => isIP(host) === 0 && !isHostName(host));
  if (wrong !== undefined) return `${wrong} is neither a host name nor an address`;
  const open = hosts.find((host) => host === "0.0.0.0" || host === "::");
  return open === undefined ? null : `${open} reaches no machine: write the address or name that clients use`;
}

/** A host name of RFC 1123. Its last part is no number, which would be a mistyped address. */
function isHostName(text: string): boolean {
  const parts = text.split(".");
  const isPart = (part: string) => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(part);
  return text.length <= 253 && parts.every(isPart) && !/^\d+$/.test(parts.at(-1) ?? "");
}

/** The name is a level of a topic, a name of OPC UA, and part of a file's name. */
function userProblem(answer: string): string | null {
  if (answer === "anonymous") return "means a session without a user; choose another name";
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/.test(answer)
    ? null
    : "use 1 to 63 letters, digits, ., - and _, the first a letter or digit";
}

function roleProblem(answer: string): string | null {
  return roles.some((role) => role === answer) ? null : `write ${roles.join(", ")}`;
}

interface Schema {
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly error?: { readonly issues: ReadonlyArray<{ readonly message: string }> } | undefined;
  };
}

/** The first mistake that the configuration's own schema finds. */
function issue(schema: Schema, value: unknown): string | null {
  return schema.safeParse(value).error?.issues[0]?.message ?? null;
}
