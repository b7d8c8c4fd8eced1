import { z } from "zod";
import { user, type ViewOf } from "../../../models/parts.ts";

/** The body of `PUT /api/v1/hold` and `PUT /api/v1/robots/{robot}/hold`. */
export const holdRequest = z.strictObject({
  hold: z.boolean().describe("True begins your hold, false lifts it."),
  user: user.optional().describe("Beside hold false: whose hold is lifted, as opcua:plc1."),
});

export const holders = z.strictObject({ held: z.boolean(), by: z.array(z.string()) });

/** The lease before it was ended. */
export const endedLease = z.strictObject({ station: z.string().nullable(), owner: user.nullable() });

export type HoldRequest = ViewOf<typeof holdRequest>;
export type Holders = ViewOf<typeof holders>;
export type EndedLease = ViewOf<typeof endedLease>;
