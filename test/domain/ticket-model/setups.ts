import type { ProgramShape } from "./program.ts";
import { realReducer, type TicketReducer } from "./reducer.ts";
import type { ServerFaults } from "./server.ts";
import type { ProgramFaults } from "./verdict.ts";
import type { Setup } from "./world.ts";

/** What a setup is made of: the rules, and the faults of both sides. */
export interface Parts {
  readonly reducer: TicketReducer;
  readonly server: ServerFaults;
  readonly program: ProgramFaults;
  /** By which of the page's rules programs use the slot. */
  readonly rules: "tags" | "verdict" | "both";
}

/** Nothing planted. */
export const soundParts: Parts = { reducer: realReducer, server: {}, program: {}, rules: "tags" };

const writesOf = {
  tags: ["request", "whole", "separate", "beside"],
  verdict: ["whole", "copied"],
} as const;

/**
 * Two programs that share a slot, each with its own way to read and to write. Half of the setups have no
 * numbers of users.
 */
export function randomSetup(parts: Parts): (random: () => number) => Setup {
  return (random) => {
    const hasNumbers = random() % 2 === 0;
    const programs = [1, 2].map((user): ProgramShape => {
      const rules = parts.rules !== "both" ? parts.rules : random() % 2 === 0 ? "tags" : "verdict";
      const writes = writesOf[rules];
      const isCyclic = random() % 2 === 0;
      const isAtOnce = random() % 2 === 0;
      const reads = rules === "verdict" ? "verdict" : isAtOnce ? "answer" : "tags";
      const way = writes[random() % writes.length] ?? "whole";
      const userNo = hasNumbers ? user : 0;
      return { user, userNo, reads, writes: way, isCyclic, mostTries: 3, faults: parts.program };
    });
    return { reducer: parts.reducer, serverFaults: parts.server, programs };
  };
}
