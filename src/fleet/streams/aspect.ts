import type { RobotId } from "../../domain/robot.ts";
import type { SequenceVerdict } from "../../domain/sequence.ts";
import type { StreamCounts } from "./sequence-tracker.ts";

/** Which robots one stream is about. */
export type Selection =
  | { readonly kind: "robots"; readonly ids: readonly RobotId[] }
  | { readonly kind: "location"; readonly locationId: string };

/** One kind of stream: how to ask for it, and what to make of its messages. */
export interface Aspect {
  readonly name: "mission" | "battery" | "conveyors";
  readonly method: string;
  readonly counts: StreamCounts;
  encode(selection: Selection): Buffer;
  /**
   * Decodes, judges and hands on one message. What was judged, or null when the
   * bytes were no message or a kind of stream has no numbers.
   */
  receive(bytes: Buffer, stream: string, call: number): SequenceVerdict | null;
  /** How many robots this stream has sent before and this call of it has not. */
  unheard(stream: string, call: number): number;
  /** Those robots are no longer expected on this stream. */
  releaseUnheard(stream: string, call: number): void;
  /** The robot is no longer expected on its stream. */
  release(robotId: RobotId): void;
}
