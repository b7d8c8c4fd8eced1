import type { Acts } from "../../src/contracts/acts.ts";
import type { Commander } from "../../src/contracts/commander.ts";

/** What commands from MQTT would reach. The bench sends none, so each of them fails. */
export const noCommands: { readonly commander: Commander; readonly acts: Acts } = {
  commander: { submit: unexpected, check: unexpected, read: unexpected },
  acts: { run: unexpected, answer: unexpected, refusedRight: unexpected },
};

function unexpected(): never {
  throw new Error("the bench sends no commands");
}
