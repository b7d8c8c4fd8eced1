import type { Component } from "../platform/component.ts";
import { mqtt } from "./mqtt.ts";
import type { NorthboundParts } from "./northbound-parts.ts";
import { opcua } from "./opcua.ts";
import { control, fleetApi, web } from "./web.ts";

/** The northbounds of a configuration, in the order in which they open. */
export async function createNorthbounds(parts: NorthboundParts): Promise<readonly Component[]> {
  const { config } = parts;
  const opcuaServer = config.opcua === null ? null : await opcua(config.opcua, parts);
  const ofMqtt = config.mqtt === null ? null : mqtt(config.mqtt, parts);
  const tags = [opcuaServer, ofMqtt].flatMap((each) => (each === null ? [] : [each.tags]));
  const peers = [
    ...(opcuaServer === null ? [] : [{ part: "opcua", peers: opcuaServer.peers }]),
    ...(ofMqtt === null ? [] : [{ part: "mqtt", peers: ofMqtt.peers }]),
  ];
  const api = fleetApi(parts, { tags, peers });
  return [
    ...(opcuaServer === null ? [] : [opcuaServer]),
    ...(ofMqtt?.components ?? []),
    ...(config.web === null ? [] : [web(config.web, parts, api, opcuaServer?.clientCertificates ?? null)]),
    ...(config.control === null ? [] : [control(config.control, parts, api)]),
  ];
}
