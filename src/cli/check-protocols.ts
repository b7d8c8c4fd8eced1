import type { Config } from "../config/load.ts";
import { sparkplugClientId, sparkplugSender } from "../northbound/mqtt/sparkplug/options.ts";
import { isLoopback, urlHost } from "../platform/url-host.ts";

/** Where the gateway listens, for whom, and how: for `fleetgate check`. */
export function listenerLines({ opcua, mqtt, web, fleet }: Config): readonly string[] {
  const webhook = fleet.events.kind === "webhook" ? fleet.events.webhook.listen : null;
  return [
    ...(opcua === null ? [] : [line("opcua", opcua, opcUaAccess(opcua))]),
    ...(mqtt?.broker.kind === "embedded" ? [line("mqtt", mqtt.broker, brokerAccess(mqtt.broker))] : []),
    ...(web === null ? [] : [line("web", web.listen, webAccess(web))]),
    ...(webhook === null ? [] : [line("webhooks", webhook, "TLS; the fleet service, with its secret")]),
  ];
}

function line(
  name: string,
  { host, port }: { readonly host: string; readonly port: number },
  access: string,
) {
  return `${name.padEnd(10)} ${urlHost(host)}:${port}, ${reachOf(host)}: ${access}`;
}

function reachOf(host: string): string {
  if (isLoopback(host)) return "this machine only";
  return host === "0.0.0.0" || host === "::"
    ? "every network of this machine"
    : "the network of this address";
}

function opcUaAccess({ insecureLoopback }: NonNullable<Config["opcua"]>): string {
  return insecureLoopback === null
    ? "encrypted; approved clients with a user of opcua.users"
    : "INSECURE: no encryption and no user are needed (opcua.insecureLoopback)";
}

type EmbeddedBroker = Extract<NonNullable<Config["mqtt"]>["broker"], { readonly kind: "embedded" }>;

function brokerAccess({ tls, anonymousLoopback }: EmbeddedBroker): string {
  const users = anonymousLoopback
    ? "INSECURE: no user is needed (mqtt.anonymousLoopback)"
    : "users of mqtt.users";
  return `${encryption(tls)}; ${users}`;
}

function webAccess({ tls, access }: NonNullable<Config["web"]>): string {
  const { users, tokens } = access;
  return `${encryption(tls)}; ${users.length + tokens.length === 0 ? "no log-in" : "users and tokens log in"}`;
}

function encryption(tls: object | null): string {
  return tls === null ? "not encrypted" : "TLS";
}

/** What is born where, for `fleetgate check`; empty: Sparkplug is off. */
export function sparkplugLines({ mqtt, sparkplug }: Config): readonly string[] {
  if (mqtt === null || sparkplug === null) return [];
  const { groupId, nodeId, primaryHost, json, commands } = sparkplug;
  const hasUsers = mqtt.broker.kind === "embedded" && !mqtt.broker.anonymousLoopback;
  const senders = hasUsers
    ? "the users of the embedded broker"
    : `${sparkplugSender(groupId)}: every client that may write NCMD at the broker`;
  return [
    `edge node ${nodeId} of group ${groupId}, a device for each robot and station`,
    `at ${brokersText(mqtt)}, as client ${sparkplugClientId(mqtt.clientId)}`,
    json ? "beside the JSON topics" : "instead of the JSON topics: no events, no replies, no commands there",
    primaryHost === null ? "births wait for no host" : `births wait for the primary host ${primaryHost}`,
    commands ? `commands come from ${senders}` : "commands: off",
  ];
}

/** A URL may have a token as its query. */
function brokersText({ broker }: NonNullable<Config["mqtt"]>): string {
  if (broker.kind === "embedded") return "the embedded broker";
  return [broker, ...broker.fallbacks]
    .map(({ url, setting }) => `${new URL(url).host} (${setting})`)
    .join(", then ");
}
