import { z } from "zod";
import { qualities } from "../domain/observed.ts";

/** What the models have in common. Programs that read them import these files type-only. */

/** The type of a model; what was published is never changed. */
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

export const session = z
  .string()
  .describe("The run of the gateway, as in status. State of another session is not to be believed.");

export const robotId = z.string().describe("The robot's id at the fleet service.");

export const quality = z.enum(qualities);

export const milliseconds = z.int().min(0);

export const index = z.int().min(0);

export const protocol = z.enum(["mqtt", "opcua", "web", "cli", "gateway"]);

/** The sender: the protocol, and the authenticated user or client. */
export const sender = z.strictObject({ protocol, user: z.string() });

/** A user, as it is shown to people. */
export const user = z.string().describe("Protocol and user, as opcua:plc1.");

/** An enum of the service: its name, or its number if this version knows no name. */
export function coded<const Names extends readonly [string, ...string[]]>(names: Names) {
  return z.union([z.enum(names), z.int()]).describe("Its name, or its number if this version has no name.");
}

/** A 32-bit float as proto3 JSON. */
export const float = z.union([z.number(), z.enum(["NaN", "Infinity", "-Infinity"])]);

/** A robot's value with its quality, and the `state` of one kind. */
export function observed<State extends z.ZodType>(state: State) {
  return z.strictObject({
    quality: quality.describe("How far the state is known to be true now."),
    received_at: time.nullable(),
    state: state.nullable().describe("Null while the quality is lost."),
  });
}

/** A robot's value with its quality and times, in answers of the HTTP API. */
export function aged<State extends z.ZodType>(state: State) {
  return observed(state).extend({
    age_ms: milliseconds.describe("Since it was received, when this was sent."),
    source_time: time
      .nullable()
      .describe("The robot's clock, or received_at while that is wrong; null: its message has no time."),
  });
}

/** The members of each page of a list of the HTTP API, besides its items. */
export const page = {
  count: z.int().min(0).describe("Of all pages."),
  next: z.string().nullable().describe("The cursor of the next page; null: this is the last."),
};
