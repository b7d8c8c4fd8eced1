import { z } from "zod";
import { milliseconds } from "../fields.ts";

/** `quality:` how long each kind of silence may last before a value stops being good. */
export const qualitySection = z
  .strictObject({
    streamSilenceMs: milliseconds(
      1_000,
      3_600_000,
      30_000,
      "A stream is live while something proves it within this time.",
    ),
    resyncMs: milliseconds(
      1_000,
      3_300_000,
      60_000,
      "A robot's values are asked for again before they are this old.",
    ),
    holdMs: milliseconds(
      0,
      86_400_000,
      300_000,
      "How long a value that is no longer good is still shown, as stale or offline.",
    ),
  })
  .prefault({})
  .describe("How long silence is forgiven before a value is no longer shown as good.");
