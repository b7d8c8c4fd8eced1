import type { RobotId } from "../../domain/robot.ts";
import type { SequenceVerdict } from "../../domain/sequence.ts";
import type { StreamCounts } from "./sequence-tracker.ts";

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
