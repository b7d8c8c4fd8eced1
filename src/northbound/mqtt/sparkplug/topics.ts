import type { RobotId } from "../../../domain/robot.ts";
import { encodeLevel } from "../topic-templates.ts";
import type { SparkplugOptions } from "./options.ts";

/** The topics of an edge node (Sparkplug 3.0, 4: Topics and Messages). */
export interface SparkplugTopics {
  node(type: "NBIRTH" | "NDEATH" | "NDATA" | "NCMD"): string;
  device(type: "DBIRTH" | "DDEATH" | "DDATA", deviceId: string): string;
  /** The subscription that receives the commands for all devices. */
  readonly deviceCommands: string;
  /** The state of the primary host; null: the gateway waits for none. */
  readonly state: string | null;
  /** Whether hosts write this topic. */
  isOfHosts(topic: string): boolean;
}

const NAMESPACE = "spBv1.0";

export function createSparkplugTopics({
  groupId,
  nodeId,
  primaryHost,
  legacyState,
}: Pick<SparkplugOptions, "groupId" | "nodeId" | "primaryHost" | "legacyState">): SparkplugTopics {
  const topic = (type: string) => `${NAMESPACE}/${groupId}/${type}/${nodeId}`;
  const node: SparkplugTopics["node"] = topic;
  const state = primaryHost === null ? null : `${legacyState ? "" : `${NAMESPACE}/`}STATE/${primaryHost}`;
  const ofDevices = `${topic("DCMD")}/`;
  return {
    node,
    device: (type, deviceId) => `${topic(type)}/${deviceId}`,
    deviceCommands: `${ofDevices}+`,
    state,
    isOfHosts: (name) => name === node("NCMD") || name.startsWith(ofDevices) || name === state,
  };
}

/** What hosts cannot have in a name, beside what a topic cannot have. */
const reserved = /[,\\@:]/g;

/** A robot as a device: its id, percent-encoded as in topics. */
export function robotDeviceId(robotId: RobotId): string {
  return encodeLevel(robotId).replace(
    reserved,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** A station as a device. No robot can have this id, for its colon would be encoded. */
export function stationDeviceId(station: string): string {
  return `station:${robotDeviceId(station)}`;
}
