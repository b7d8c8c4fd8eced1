import { z } from "zod";
import { milliseconds } from "../fields.ts";

/** `commands:` the times and bounds of every command, whichever door it comes through. */
export const commandsSection = z
  .strictObject({
    startByMs: milliseconds(
      100,
      3_600_000,
      10_000,
      "How long after its receipt a command without an expiry of its own may still be sent.",
    ),
  })
  .prefault({})
  .describe("Times and bounds of commands, whichever way they come in.");

export type CommandsSection = z.output<typeof commandsSection>;
