import type { RobotId } from "../../../domain/robot.ts";
import { encodeLevel } from "../topic-templates.ts";
import { type SparkplugOptions, sparkplugSender } from "./options.ts";

/** The topics of an edge node (Sparkplug 3.0, 4: Topics and Messages). */
export interface SparkplugTopics {
  node(type: "NBIRTH" | "NDEATH" | "NDATA" | "NCMD"): string;
  device(type: "DBIRTH" | "DDEATH" | "DDATA", deviceId: string): string;
  /** A message of no type of Sparkplug, of the node or a device: hosts ignore it. */
  trial(deviceId?: string): string;
  /** The subscriptions that receive the commands for the node. */
  readonly nodeCommands: readonly string[];
  /** The subscription that receives the commands for all devices. */
  readonly deviceCommands: string;
  /** The state of the primary host; null: the gateway waits for none. */
  readonly state: string | null;
  /** In rights, log and audit: who has sent a command for the node. Null: the topic is of no such command. */
  senderOf(topic: string): string | null;
  /**
   * What becomes of a message at the embedded broker; null: hosts do not write this topic.
   *
   * @param user null: one without a log-in
   */
  fromHost(topic: string, user: string | null): HostMessage | null;
}

/** A message of a host, as the embedded broker delivers it. */
export interface HostMessage {
  readonly topic: string;
  /**
   * What becomes of its retain flag. `kept`: the broker keeps the message. `shown`: subscribers see the flag,
   * and the broker does not keep it; there is a topic for each user. `dropped`: it counts as without one.
   */
  readonly retain: "kept" | "shown" | "dropped";
}

const NAMESPACE = "spBv1.0";

/**
 * @param isEmbedded the embedded broker adds the user to the topic of a command; no client may write there
 */
export function createSparkplugTopics(
  {
    groupId,
    nodeId,
    primaryHost,
    legacyState,
  }: Pick<SparkplugOptions, "groupId" | "nodeId" | "primaryHost" | "legacyState">,
  isEmbedded: boolean,
): SparkplugTopics {
  const topic = (type: string) => `${NAMESPACE}/${groupId}/${type}/${nodeId}`;
  const node: SparkplugTopics["node"] = topic;
  const states = `${legacyState ? "" : `${NAMESPACE}/`}STATE/`;
  const state = primaryHost === null ? null : states + primaryHost;
  const ofDevices = `${topic("DCMD")}/`;
  const ofNode = topic("NCMD");
  const ofUsers = `${ofNode}/`;
  return {
    node,
    device: (type, deviceId) => `${topic(type)}/${deviceId}`,
    trial: (deviceId) => [topic("CHECK"), ...(deviceId === undefined ? [] : [deviceId])].join("/"),
    nodeCommands: isEmbedded ? [ofNode, `${ofUsers}+`] : [ofNode],
    deviceCommands: `${ofDevices}+`,
    state,
    senderOf(name) {
      if (name === ofNode) return sparkplugSender(groupId);
      return isEmbedded && name.startsWith(ofUsers) ? name.slice(ofUsers.length) : null;
    },
    fromHost(name, user) {
      if (name === ofNode) return { topic: user === null ? name : ofUsers + user, retain: "shown" };
      const isOfHost = [ofDevices, states].some((beginning) => name.startsWith(beginning));
      return isOfHost ? { topic: name, retain: name === state ? "kept" : "dropped" } : null;
    },
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
