import type { RunningTime } from "../../src/platform/running-time.ts";

/** A gateway that has just started for the first time: nothing is old. */
export const noRunningTime: RunningTime = { totalMs: () => 0, atLeast() {} };
