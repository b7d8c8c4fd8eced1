import { z } from "zod";
import { type Protocol, roles } from "../../domain/command.ts";
import { live, names } from "../fields.ts";

const protocols = ["mqtt", "opcua", "web", "cli"] as const satisfies readonly Protocol[];

/** `rights:` who may send which commands. Everybody may read. */
export const rightsSection = live(
  z
    .array(
      z.strictObject({
        source: z
          .strictObject({
            protocol: z.enum(protocols).describe("Which way the command comes in."),
            name: z
              .string()
              .min(1)
              .describe('The client\'s name in its MQTT topic, the user of OPC UA or web; "*" for any.'),
          })
          .describe("Who."),
        role: z
          .enum(roles)
          .describe("observer reads, operator moves robots, engineer also sets up webhooks."),
        robots: names("Only these robots, by robot_id. Left out: all.").min(1).optional(),
        operations: names("Only these operations of docs/commands.md. Left out: all of the role.")
          .min(1)
          .optional(),
      }),
    )
    .default([])
    .describe(
      "Who may send what besides reading, which everybody may. Users of opcua.users have their own role, and rules narrow it.",
    ),
);

export type RightsSection = z.output<typeof rightsSection>;
