import type { Protocol } from "../../domain/command.ts";
import { sparkplugSender } from "../../northbound/mqtt/sparkplug/options.ts";
import { OPEN_USER } from "../../northbound/web/options.ts";
import { type ConfigPath, type Finding, unwise, wrong } from "../finding.ts";
import type { ControlSection } from "./control.ts";
import type { MqttSection } from "./mqtt.ts";
import { type OpcUaSection, opcUaAccounts } from "./opcua.ts";
import { type WebSection, webAccounts } from "./web.ts";

/** The sections that list users and clients; undefined: the protocol is off. */
export interface ProtocolSections {
  readonly opcua?: OpcUaSection | undefined;
  readonly mqtt?: MqttSection | undefined;
  readonly control?: ControlSection | undefined;
  readonly web?: WebSection | undefined;
}

/**
 * Finds the names at `path` that can never send a command by `protocol`. A name that its section does not
 * have is a mistake. If the protocol is off, it is only a warning, so that the protocol can be switched off
 * by removing its section.
 */
export function unknownUserFindings(
  path: ConfigPath,
  protocol: Protocol,
  name: string,
  sections: ProtocolSections,
): readonly Finding[] {
  const off = whyOff(protocol, name, sections);
  if (off !== null) return [unwise(path, `${JSON.stringify(name)} can send nothing: ${off}`)];
  const known = knownUsers(protocol, sections);
  if (known === null || known.names.includes(name)) return [];
  const names = known.names.length === 0 ? "it has none" : `it has ${known.names.join(", ")}`;
  return [wrong(path, `${JSON.stringify(name)} is no user of ${known.key}; ${names}`)];
}

function whyOff(
  protocol: Protocol,
  name: string,
  { opcua, mqtt, web, control }: ProtocolSections,
): string | null {
  switch (protocol) {
    case "opcua":
      return opcua === undefined ? "there is no section opcua" : null;
    case "mqtt":
      return mqtt === undefined ? "there is no section mqtt" : null;
    case "cli":
      return control?.enabled === false ? "control.enabled is false" : null;
    case "web":
      if (web === undefined) return "there is no section web";
      return webAccounts(web).length === 0 && name !== OPEN_USER
        ? `web has no users and no tokens, and everybody is ${OPEN_USER}`
        : null;
  }
}

/** Null: the configuration does not list the names, as for an open broker and the machine's users. */
function knownUsers(
  protocol: Protocol,
  { opcua, mqtt, web }: ProtocolSections,
): { readonly names: readonly string[]; readonly key: string } | null {
  switch (protocol) {
    case "opcua":
      return { names: opcUaAccounts(opcua).map(({ source }) => source.name), key: "opcua.users" };
    case "mqtt":
      return mqtt === undefined ? null : mqttUsers(mqtt);
    case "web":
      return webUsers(web);
    case "cli":
      return null;
  }
}

function webUsers(web: WebSection | undefined): ReturnType<typeof knownUsers> {
  const names = webAccounts(web).map(({ source }) => source.name);
  return names.length === 0 ? null : { names, key: "web.users and web.tokens" };
}

function mqttUsers({
  broker,
  users,
  anonymousLoopback,
  sparkplug,
}: MqttSection): ReturnType<typeof knownUsers> {
  if (broker !== "embedded" || anonymousLoopback) return null;
  const hosts = sparkplug?.commands ? [sparkplugSender(sparkplug.groupId)] : [];
  return { names: [...Object.keys(users ?? {}), ...hosts], key: "mqtt.users" };
}
