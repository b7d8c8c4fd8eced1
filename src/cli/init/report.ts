import { urlHost } from "../../platform/url-host.ts";
import { fileNamesOf, type Ports, usualBrokerPort } from "./configuration-text.ts";
import type { Interview } from "./interview.ts";
import { outerHosts } from "./questions.ts";
import type { Plan } from "./written-files.ts";

/**
 * The written files, the invented passwords, and the next steps.
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
    ...passwordLines(answers),
    ...addressLines(plan, answers, ports),
    ...accessLines(plan, unit),
    "",
    "Next:",
    ...nextLines(plan, unit),
  ];
  return `${blocks.join("\n")}\n`;
}

function fileLines(plan: Plan, kept: readonly string[]): readonly string[] {
  return [
    `Written: ${plan.path}`,
    ...plan.files.map(({ path }) => `${kept.includes(path) ? "Kept:   " : "Written:"} ${path}`),
  ];
}

function passwordLines({ given, mqttPassword, opcuaPassword }: Interview): readonly string[] {
  const lines = [
    ["MQTT", given.mqttUser, mqttPassword],
    ["OPC UA", given.opcuaUser, opcuaPassword],
  ] as const;
  const invented = lines.flatMap(([protocol, user, password]) =>
    password === null || password.invented === null
      ? []
      : [`Password of ${protocol} user ${user}: ${password.invented}`],
  );
  return invented.length === 0
    ? []
    : ["", ...invented, "Note it now: the gateway keeps a hash only, and nobody can read it again."];
}

function addressLines({ path }: Plan, { given }: Interview, ports: Ports): readonly string[] {
  const hosts = outerHosts(given.host ?? "");
  const host = hosts[0] ?? "localhost";
  const shown = urlHost(host);
  const isOpen = hosts.length > 0;
  const broker = `${isOpen ? "mqtts" : "mqtt"}://${shown}:${ports.mqttPort ?? usualBrokerPort(hosts)}`;
  const lines = [
    ...(given.mqtt === "embedded"
      ? [
          `MQTT clients connect to ${broker}${isOpen ? `, with ${fileNamesOf(path).brokerCertificate} as their authority` : ""}`,
        ]
      : []),
    ...(given.opcua === "on"
      ? [`OPC UA clients connect to opc.tcp://${shown}:${ports.opcuaPort ?? 4_840}`]
      : []),
  ];
  if (given.mqtt === "off" && given.opcua === "off") {
    lines.push(
      "Both MQTT and OPC UA are off: the plant sees nothing of the robots, and can send no command.",
    );
  }
  return lines.length === 0 ? [] : ["", ...lines];
}

function accessLines({ secretAccess }: Plan, unit: string | null): readonly string[] {
  if (unit === null || secretAccess.group !== null) return [];
  return [
    "",
    "The secrets belong to this user: the user as whom the gateway runs must be able to read them.",
  ];
}

function nextLines({ path }: Plan, unit: string | null): readonly string[] {
  return unit !== null
    ? [`  sudo fleetgate check --config ${path} --online`, `  sudo systemctl enable --now ${unit}`]
    : [`  fleetgate check --config ${path} --online`, `  fleetgate run --config ${path}`];
}
