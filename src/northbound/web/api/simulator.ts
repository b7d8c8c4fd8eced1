import { z } from "zod";
import { milliseconds, robotId, time, type ViewOf } from "../../../models/parts.ts";

/** What the demo's simulated fleet service can be made to do. A gateway without one has no such route. */

export const faultNames = ["cut", "silence", "block", "lost_answer", "flat_battery"] as const;

const simulatedFault = z.strictObject({
  fault: z.enum(faultNames),
  robot_id: robotId.nullable().describe("Null: it is of the whole service."),
  active_for_ms: milliseconds.nullable().describe("Null: it did not begin by this API."),
});

export const simulatedFaults = z.strictObject({ at: time, active: z.array(simulatedFault) });

/** The body of `PUT /api/v1/simulator/faults/{fault}`. */
export const faultRequest = z.strictObject({
  active: z.boolean().describe("True begins it, false ends it; the same again changes nothing."),
  robot_id: robotId.optional().describe("Needed for block, lost_answer and flat_battery, and for no other."),
});

export type FaultName = (typeof faultNames)[number];
export type SimulatedFaultState = ViewOf<typeof simulatedFault>;
export type SimulatedFaultStates = ViewOf<typeof simulatedFaults>;
