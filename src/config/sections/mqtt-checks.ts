import { sparkplugSender } from "../../northbound/mqtt/sparkplug/options.ts";
import { type TopicProblem, topicProblems } from "../../northbound/mqtt/topic-checks.ts";
import { isLoopback } from "../../platform/url-host.ts";
import { type Finding, together, unwise, wrong } from "../finding.ts";
import type { ConfigFile } from "../schema.ts";
import { type MqttSection, placementOf } from "./mqtt.ts";
import { namedRobots } from "./opcua.ts";
import { stationPlaces } from "./stations.ts";

const forEmbedded = ["listen", "users", "certificate", "key"] as const;
const forPlantBroker = [
  "fallbackBrokers",
  "clientId",
  "username",
  "password",
  "ca",
  "clientCertificate",
  "clientKey",
] as const;

/** Keys of `mqtt` that contradict, or need, each other. */
export function mqttFindings(mqtt: MqttSection, sections: Partial<ConfigFile>): readonly Finding[] {
  const broker = mqtt.broker === "embedded" ? embeddedFindings(mqtt) : plantBrokerFindings(mqtt);
  return [...broker, ...topicFindings(mqtt, sections)];
}

/** What is wrong with the topics that base, placement, robots and stations make. */
function topicFindings(
  mqtt: MqttSection,
  { gateway, fleet, opcua, stations = {} }: Partial<ConfigFile>,
): readonly Finding[] {
  const plant = { robots: namedRobots(opcua, fleet?.robots), stations: stationPlaces(stations) };
  const base = mqtt.base ?? `fleetgate/${gateway?.id ?? ""}`;
  const problems = topicProblems(base, placementOf(mqtt, plant), fleet?.robots !== undefined);
  return problems.map((problem) => (problem.isWarning ? unwise : wrong)(pathOf(problem), problem.message));
}

function pathOf({ at }: TopicProblem): Finding["path"] {
  return "station" in at ? ["stations", at.station, "place"] : ["mqtt", ...at];
}

function embeddedFindings(mqtt: MqttSection): readonly Finding[] {
  const findings = [
    ...pointless(mqtt, forPlantBroker, "is for a broker of the plant; this one is embedded"),
    ...together(mqtt, ["mqtt"], "certificate", "key"),
  ];
  const users = Object.keys(mqtt.users ?? {});
  for (const name of users.filter((user) => !/^[^/#+\p{Cc}\p{Surrogate}]+$/u.test(user))) {
    findings.push(
      wrong(["mqtt", "users", name], "cannot be a level of a topic, where the name of the client stands"),
    );
  }
  const sender = mqtt.sparkplug === undefined ? null : sparkplugSender(mqtt.sparkplug.groupId);
  if (sender !== null && users.includes(sender))
    findings.push(wrong(["mqtt", "users", sender], "is the name of the hosts of Sparkplug; choose another"));
  const host = mqtt.listen?.host ?? "127.0.0.1";
  if (mqtt.anonymousLoopback && !isLoopback(host)) {
    findings.push(wrong(["mqtt", "anonymousLoopback"], "needs a loopback address in mqtt.listen.host"));
  }
  if (!mqtt.anonymousLoopback && users.length === 0) {
    findings.push(unwise(["mqtt"], "has no users: no client will get in"));
  }
  const missing = [
    ...(mqtt.certificate === undefined ? ["TLS (mqtt.certificate and mqtt.key)"] : []),
    ...(users.length === 0 ? ["users (mqtt.users)"] : []),
  ];
  if (!isLoopback(host) && missing.length > 0) {
    findings.push(
      wrong(
        ["mqtt", "listen", "host"],
        `is reached from elsewhere, and the broker has no ${missing.join(" and no ")}: give them, or listen on 127.0.0.1`,
      ),
    );
  }
  if (mqtt.protocolVersion === 5) {
    findings.push(wrong(["mqtt", "protocolVersion"], "must be 4: the embedded broker does not speak MQTT 5"));
  }
  return findings;
}

function plantBrokerFindings(mqtt: MqttSection): readonly Finding[] {
  const findings = [
    ...pointless(mqtt, forEmbedded, "is for the embedded broker only"),
    ...together(mqtt, ["mqtt"], "username", "password"),
    ...together(mqtt, ["mqtt"], "clientCertificate", "clientKey"),
  ];
  if (mqtt.anonymousLoopback) {
    findings.push(wrong(["mqtt", "anonymousLoopback"], "is for the embedded broker only"));
  }
  findings.push(...urlFindings(mqtt));
  if (mqtt.commands.enabled && !mqtt.commands.brokerEnforcesClientNames) {
    findings.push(
      unwise(
        ["mqtt", "commands"],
        "commands stay off until brokerEnforcesClientNames says that names can be trusted",
      ),
    );
  }
  return findings;
}

/** What the URLs of the brokers say about TLS, and about each other. */
function urlFindings(mqtt: MqttSection): readonly Finding[] {
  const findings: Finding[] = [];
  const brokers = [
    { path: ["mqtt", "broker"], url: mqtt.broker },
    ...(mqtt.fallbackBrokers ?? []).map((url, index) => ({ path: ["mqtt", "fallbackBrokers", index], url })),
  ];
  if (brokers.every(({ url }) => !isEncrypted(url)))
    findings.push(
      ...pointless(
        mqtt,
        ["ca", "clientCertificate"],
        "needs TLS: write mqtts:// or wss:// in the broker's URL",
      ),
    );
  for (const [index, { path, url }] of brokers.entries()) {
    if (brokers.findIndex((other) => other.url === url) < index) findings.push(wrong(path, "is there twice"));
    if (mqtt.password === undefined || isEncrypted(url) || isLoopback(new URL(url).hostname)) continue;
    const secure = url.startsWith("ws:") ? "wss://" : "mqtts://";
    findings.push(unwise(path, `the password travels without TLS; ${secure} would protect it`));
  }
  return findings;
}

function isEncrypted(url: string): boolean {
  return ["mqtts:", "wss:"].includes(new URL(url).protocol);
}

function pointless(
  mqtt: MqttSection,
  keys: ReadonlyArray<keyof MqttSection>,
  why: string,
): readonly Finding[] {
  return keys.filter((key) => mqtt[key] !== undefined).map((key) => wrong(["mqtt", key], why));
}
