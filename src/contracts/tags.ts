import type { Quality } from "../domain/quality.ts";
import type { RobotId } from "../domain/robot.ts";

/** The protocols that have tags: OPC UA nodes, MQTT topics. */
export const tagProtocols = ["opcua", "mqtt"] as const;
export type TagProtocol = (typeof tagProtocols)[number];

/** What a tag says now. */
export interface TagReading {
  /** As JSON has it; null: there is no value. Of a topic its payload, as text. */
  readonly value: unknown;
  /** In the words of the protocol. */
  readonly type: string;
  readonly quality: Quality;
  /** The name of its status code; null where the protocol has none. */
  readonly status: string | null;
  /** Wall time by the robot's clock; null: its message has none, or the value is the gateway's own. */
  readonly sourceTimeMs: number | null;
  /** Wall time at which the gateway had the value. */
  readonly receivedAtMs: number | null;
}

export interface ShownTag {
  /** Its address, without what all addresses of its protocol begin with. */
  readonly name: string;
  read(): TagReading;
}

/** The tags of one robot, of one station (both null: of the gateway itself). */
export interface TagGroup {
  readonly robotId: RobotId | null;
  readonly station: string | null;
  /** By name, in the order of `<`. Never to be changed. */
  tags(): readonly ShownTag[];
}

/** All tags that a protocol shows. To look at them makes none. */
export interface TagSource {
  readonly protocol: TagProtocol;
  /** What every address begins with. */
  readonly prefix: string;
  groups(): readonly TagGroup[];
  /** Robots whose tags do not exist yet: they are made in the background. */
  missingRobots(): number;
}
