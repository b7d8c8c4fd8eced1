import { z } from "zod";
import { milliseconds, observed, time } from "../../../models/parts.ts";

/** What the answers of the HTTP API have in common, besides what every protocol has (models/). */

/** A robot's value with its quality and times. */
export function aged<State extends z.ZodType>(state: State) {
  return observed(state).extend({
    age_ms: milliseconds.describe("Since it was received, when this was sent."),
    source_time: time
      .nullable()
      .describe("The robot's clock, or received_at while that is wrong; null: its message has no time."),
  });
}

/** The members of each page of a list, besides its items. */
export const page = {
  count: z.int().min(0).describe("Of all pages."),
  next: z.string().nullable().describe("The cursor of the next page; null: this is the last."),
};
