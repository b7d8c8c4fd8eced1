import { z } from "zod";
import { isValidSight } from "../domain/station-sight.ts";
import type { VisibleStation } from "../domain/station-visits.ts";
import { timeText } from "./json-text.ts";
import { index, quality, robotId, time, type ViewOf } from "./parts.ts";

const seconds = z.number().min(0);

/** The value of a station. Nothing in it is true unless it is known to be true now. */
export const stationModel = z.strictObject({
  station: z.string(),
  quality,
  state: z.strictObject({
    valid: z.boolean().describe("Whether all of it is known to be true now."),
    robot_here: robotId.nullable(),
    robots_here: z.int().min(0),
    arrived: z.boolean(),
    conveyors: z.array(z.strictObject({ index, loaded: z.boolean(), rolling: z.boolean() })),
    conveyors_quality: quality,
    next_robot: robotId.nullable(),
    next_robot_goals_before: z.int().min(0).nullable(),
    next_robot_quality: quality,
    counters: z.strictObject({
      since: time,
      cycles: z.int(),
      aborted: z.int(),
      waiting_last_s: seconds,
      waiting_total_s: seconds,
      cycle_last_s: seconds,
      cycle_total_s: seconds,
    }),
  }),
});

export function stationOf(station: string, shown: VisibleStation): ViewOf<typeof stationModel> {
  const { sight, counters } = shown;
  const { here, next } = sight;
  return {
    station,
    quality: sight.quality,
    state: {
      valid: isValidSight(sight),
      robot_here: here?.robotId ?? null,
      robots_here: sight.count,
      arrived: here?.hasArrived ?? false,
      conveyors: sight.conveyors.map((conveyor) => ({
        index: conveyor.index,
        loaded: conveyor.isLoaded,
        rolling: conveyor.isRolling,
      })),
      conveyors_quality: sight.conveyorQuality,
      next_robot: next?.robotId ?? null,
      next_robot_goals_before: next?.goalsBefore ?? null,
      next_robot_quality: sight.nextQuality,
      counters: {
        since: timeText(counters.sinceMs),
        cycles: counters.cycles,
        aborted: counters.aborted,
        waiting_last_s: counters.waitingLastMs / 1_000,
        waiting_total_s: counters.waitingTotalMs / 1_000,
        cycle_last_s: counters.cycleLastMs / 1_000,
        cycle_total_s: counters.cycleTotalMs / 1_000,
      },
    },
  };
}
