import type { Quality } from "../domain/observed.ts";
import type { RobotId } from "../domain/robot.ts";

/** The protocols that have tags: OPC UA nodes, MQTT topics. */
export const tagProtocols = ["opcua", "mqtt"] as const;
export type TagProtocol = (typeof tagProtocols)[number];

/** The present value of a tag. */
export interface TagReading {
  /** As JSON; null: there is no value. For a topic its payload, as text. */
  readonly value: unknown;
  /** The type, as the protocol names it. */
  readonly type: string;
  readonly quality: Quality;
  /** The name of its status code; null: the protocol has none. */
  readonly status: string | null;
  /** Wall time by the robot's clock; null: the message has none, or the value is the gateway's own. */
  readonly sourceTimeMs: number | null;
  /** Wall time at which the gateway had the value. */
  readonly receivedAtMs: number | null;
}

/** A text in the languages of the address space. */
export interface TagText {
  readonly en: string;
  readonly de: string;
}

/** What a tag says, for people. Null: it is not described. */
export interface TagFacts {
  readonly description: TagText | null;
  /** The symbol of its unit. */
  readonly unit: string | null;
  /** What its present number means, of an enumeration. */
  readonly meaning: TagText | null;
}

export interface TagView {
  /** Its address, without the common prefix of its protocol. */
  readonly name: string;
  read(): TagReading;
  facts(): TagFacts;
}

/** The tags of one robot or one station; both null: of the gateway itself. */
export interface TagGroup {
  readonly robotId: RobotId | null;
  readonly station: string | null;
  /** Sorted by name, in the order of `<`. Never change it. */
  tags(): readonly TagView[];
}

/** All tags of a protocol. Reading them creates none. */
export interface TagSource {
  readonly protocol: TagProtocol;
  /** The common beginning of all addresses. */
  readonly prefix: string;
  groups(): readonly TagGroup[];
  /**
   * What a tag is about, in words that all protocols share: `battery`, `conveyor/1`.
   * Null: no other protocol has the same.
   */
  subjectOf(tag: TagView): string | null;
  /** How many robots have no tags yet: they are made in the background. */
  missingRobots(): number;
}
