import { z } from "zod";
import { roles } from "../../../domain/command.ts";
import { robotId, time, type ViewOf } from "../../../models/parts.ts";

/** The body of `POST /api/v1/session`. */
export const logIn = z.strictObject({
  user: z.string().describe("A name of web.users."),
  password: z.string(),
});

/** The answer of `GET` and `POST /api/v1/session`. */
export const session = z.strictObject({
  open: z.boolean().describe("There are neither users nor tokens: everybody is let in."),
  name: z.string().nullable().describe("The user, or the token; null: open."),
  role: z.enum(roles).nullable(),
  robots: z.array(robotId).nullable().describe("The robots that may be commanded; null: all."),
  expires_at: time.nullable().describe("When the log-in ends at the latest; null for a token."),
});

export type SessionFacts = ViewOf<typeof session>;
