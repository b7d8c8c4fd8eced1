import type { FleetEvent } from "../../domain/event.ts";

/** How much the outbox keeps, and how fast it hands over waiting events. */
export interface OutboxOptions {
  /**
   * Events of robots, and as many of commands. Beyond it, the oldest of the robot or source with the most are
   * dropped.
   */
  readonly maxEvents: number;
  /** An event that has waited longer is dropped, in milliseconds. */
  readonly maxAgeMs: number;
  /** Events in a second that have waited for the broker. */
  readonly replayRate: number;
  /** Events of other kinds are not for this northbound. Absent: all are. */
  readonly kinds?: ReadonlySet<FleetEvent["kind"]>;
}
