import type { Component } from "../platform/component.ts";
import type { Core } from "./core.ts";
import { mqtt } from "./mqtt.ts";
import { opcua } from "./opcua.ts";
import type { Run } from "./run.ts";
import { control, fleetApi, web } from "./web.ts";

/** The northbounds of a configuration, in the order in which they open. */
export async function createNorthbounds(run: Run, core: Core): Promise<readonly Component[]> {
  const { config } = run;
  const opcuaServer = config.opcua === null ? null : await opcua(config.opcua, run, core);
  const ofMqtt = config.mqtt === null ? null : mqtt(config.mqtt, run, core);
  const tags = [opcuaServer, ofMqtt].flatMap((each) => (each === null ? [] : [each.tags]));
  const peers = [
    ...(opcuaServer === null ? [] : [{ part: "opcua", peers: opcuaServer.peers }]),
    ...(ofMqtt === null ? [] : [{ part: "mqtt", peers: ofMqtt.peers }]),
  ];
  const api = fleetApi(run, core, tags, peers);
  return [
    ...(opcuaServer === null ? [] : [opcuaServer]),
    ...(ofMqtt?.components ?? []),
    ...(config.web === null
      ? []
      : [web(config.web, run, core, api, opcuaServer?.clientCertificates ?? null)]),
    ...(config.control === null ? [] : [control(config.control, run, core, api)]),
  ];
}
