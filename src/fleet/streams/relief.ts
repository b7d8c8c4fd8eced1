import type { RobotId } from "../../domain/robot.ts";

/** Aspects that webhooks have events for. Conveyors have none (fleet-service-interface, Webhook events). */
export const deliveredAspects = ["mission", "battery"] as const;
export type DeliveredAspect = (typeof deliveredAspects)[number];

/**
 * Something that brings the events of streams beside them. While it does, a stream takes
 * its snapshot and rests until the next one is due; when it does not, streams stay open.
 */
export interface Relief {
  /** Monotonic time of the last proof that it brings an aspect's events; null while there is none. */
  provenAtMs(aspect: string): number | null;
  /** A stream brought news of a robot: the relief should bring the same. */
  noticed(aspect: DeliveredAspect, robotId: RobotId): void;
}
