import type { Config } from "../config/load.ts";
import { sparkplugClientId, sparkplugSender } from "../northbound/mqtt/sparkplug/options.ts";

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
