import type { RobotId } from "../../domain/robot.ts";

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
