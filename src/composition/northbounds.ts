import type { Component } from "../platform/component.ts";
import { mqtt } from "./mqtt.ts";
import type { NorthboundParts } from "./northbound-parts.ts";
import { opcua } from "./opcua.ts";
import { control, fleetApi, web } from "./web.ts";

/** The northbounds of a configuration, in the order in which they open. */
export async function createNorthbounds(parts: NorthboundParts): Promise<readonly Component[]> {
  const { config } = parts;
  const api = fleetApi(parts);
  return [
    ...(config.opcua === null ? [] : [await opcua(config.opcua, parts)]),
    ...(config.mqtt === null ? [] : mqtt(config.mqtt, parts)),
    ...(config.web === null ? [] : [web(config.web, parts, api)]),
    ...(config.control === null ? [] : [control(config.control, parts, api)]),
  ];
}
