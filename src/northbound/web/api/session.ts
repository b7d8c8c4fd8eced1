import { z } from "zod";
import { roles } from "../../../domain/command.ts";
import { robotId, time, user, type ViewOf } from "../../../models/parts.ts";

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

/** The rights of a request's sender. The gateway checks each command again. */
export const rights = z.strictObject({
  user: user.describe("As whom the gateway knows the sender."),
  robot: z
    .string()
    .nullable()
    .describe("Why it may send the robot nothing; null: it may, or none was named."),
  moves: z.string().nullable().describe("Why it may move no robot from its address; null: it may."),
  lift: z
    .string()
    .nullable()
    .describe("Why it may not lift other users' holds on the robot; null: it may, or no robot was named."),
  lift_all: z
    .string()
    .nullable()
    .describe("Why it may not lift other users' holds on all robots; null: it may."),
  operations: z.array(
    z.strictObject({
      name: z.string(),
      refused: z.string().nullable().describe("Why it may send it to no robot at all; null: it may."),
    }),
  ),
});

/** The body of `POST /api/v1/check`. */
export const checkRequest = z.strictObject({
  operation: z.string().describe("One of docs/commands.md."),
  request: z.record(z.string(), z.unknown()).optional().describe("As that of a command."),
});

/** The result that a command would have now. Nothing was sent. */
export const check = z.strictObject({
  outcome: z.enum(["checked", "refused"]),
  code: z.string(),
  message: z
    .string()
    .describe("Begins with the path of a field that is wrong, as request.goals.0.destinationId:"),
  effect: z.enum(["reads", "changes", "moves", "stops"]).nullable().describe("Null: it cannot be read."),
  robot_id: z.string().nullable().describe("The robot that it names by id."),
});

export type Rights = ViewOf<typeof rights>;
export type Check = ViewOf<typeof check>;
