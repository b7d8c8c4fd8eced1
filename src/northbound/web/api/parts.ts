import { z } from "zod";
import { qualities } from "../../../domain/quality.ts";

/** What the answers of the HTTP API have in common. Programs that read them import these files type-only. */

/** The type of a model; an answer is never changed. */
export type ViewOf<Model extends z.ZodType> = Unchanging<z.infer<Model>>;

type Unchanging<T> = T extends readonly (infer Each)[]
  ? readonly Unchanging<Each>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanging<T[Key]> }
    : T;

export const time = z
  .string()
  .regex(/^-?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .describe("ISO 8601, UTC, with milliseconds.");

export const session = z.string().describe("The run of the gateway.");

export const robotId = z.string().describe("The robot's id at the fleet service.");

export const quality = z.enum(qualities);

export const milliseconds = z.int().min(0);

export const index = z.int().min(0);

/** A user, as it is shown to people. */
export const user = z.string().describe("Protocol and user, as opcua:plc1.");

/** An enum of the service: its name, or its number if this version knows no name. */
export function coded<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.union([z.enum(names), z.int()]).describe("Its name, or its number if this version has no name.");
}

/** A robot's value with its quality and times. */
export function observed<State extends z.ZodType>(state: State) {
  return z.strictObject({
    quality: quality.describe("How far the value is known to be true now."),
    received_at: time,
    age_ms: milliseconds.describe("Since it was received, when this was sent."),
    source_time: time.nullable().describe("The robot's clock; null where its message has no time."),
    state: state.nullable().describe("Null while the quality is lost."),
  });
}

/** The members of each page of a list, besides its items. */
export const page = {
  count: z.int().min(0).describe("Of all pages."),
  next: z.string().nullable().describe("The cursor of the next page; null: this is the last."),
};
