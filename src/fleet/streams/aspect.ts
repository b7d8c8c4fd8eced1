import type { RobotId } from "../../domain/robot.ts";
import type { SequenceVerdict, StreamCounts } from "./sequence-tracker.ts";

/** The robots of one stream. */
export type Selection =
  | { readonly kind: "robots"; readonly ids: readonly RobotId[] }
  | { readonly kind: "location"; readonly locationId: string };

/** One kind of stream: its request, and how to handle its messages. */
export interface Aspect {
  readonly name: "mission" | "battery" | "conveyors";
  readonly method: string;
  readonly counts: StreamCounts;
  encode(selection: Selection): Buffer;
  /**
   * Decodes, checks and hands on one message. Returns the verdict, or null if the bytes were no message or
   * this kind of stream has no numbers.
   */
  receive(bytes: Buffer, stream: string, call: number): SequenceVerdict | null;
  /** How many robots this stream has sent before and the present call of it has not. */
  missing(stream: string, call: number): number;
  /** Those robots are no longer expected on this stream. */
  releaseMissing(stream: string, call: number): void;
  /** The robot is no longer expected on its stream. */
  release(robotId: RobotId): void;
}

/** Aspects that have webhook events. Conveyors have none (docs/internals/service.md, WHK-04). */
export const deliveredAspects = ["mission", "battery"] as const;
export type DeliveredAspect = (typeof deliveredAspects)[number];

/**
 * Deliveries of the events of streams. While they work, a stream takes its snapshot and is suspended until
 * the next one is due; otherwise streams stay open.
 */
export interface DeliverySource {
  /** Monotonic time of the last proof that deliveries bring an aspect's events; null: there is none. */
  provenAtMs(aspect: string): number | null;
  /** A stream brought news of a robot: a delivery should bring the same. */
  streamHadNews(aspect: DeliveredAspect, robotId: RobotId): void;
}
