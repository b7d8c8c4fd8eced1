import { z } from "zod";

/** `conveyors:` the settings for the conveyors of all robots. */
export const conveyorsSection = z
  .strictObject({
    maxRunMs: z
      .int()
      .min(1_000)
      .max(3_600_000)
      .optional()
      .describe(
        "The gateway stops a conveyor after so long that was not started through a station. Left out: it runs until somebody stops it.",
      ),
  })
  .prefault({})
  .describe("Conveyors of robots.");

export type ConveyorsSection = z.output<typeof conveyorsSection>;
