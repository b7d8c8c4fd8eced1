import type { CommandRights } from "../../src/contracts/commander.ts";

/** Everybody may send everything. */
export const allowedRights: CommandRights = {
  refusedRobot: () => null,
  refusedOperation: () => null,
  refusedLift: () => null,
  refusedStation: () => null,
};
