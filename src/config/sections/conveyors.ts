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
        "After so long the gateway stops a conveyor that nobody started through a station. Default: never.",
      ),
  })
  .prefault({})
  .describe("Conveyors of robots.");

export type ConveyorsSection = z.output<typeof conveyorsSection>;
