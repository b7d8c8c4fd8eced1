import { z } from "zod";
import { milliseconds } from "../fields.ts";

/** `quality:` how long each kind of silence may last before a value stops being good. */
export const qualitySection = z
  .strictObject({
    streamSilenceMs: milliseconds(
      1_000,
      3_600_000,
      30_000,
      "A stream shows a sign of life within this time, or is not live.",
    ),
    resyncMs: milliseconds(
      1_000,
      3_300_000,
      60_000,
      "The gateway asks for a robot's values again before they are this old.",
    ),
    holdMs: milliseconds(
      0,
      86_400_000,
      300_000,
      "How long a value that is no longer good stays, as stale or offline.",
    ),
  })
  .prefault({})
  .describe("How long a value stays good in silence.");
