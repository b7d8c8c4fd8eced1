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
}

const writes = ["request", "whole", "separate", "beside"] as const;

/** Nothing planted. */
export const soundParts: Parts = { reducer: realReducer, server: {}, program: {} };

/** Two programs that share a slot, each with its own way to read and to write. */
export function randomSetup(parts: Parts): (random: () => number) => Setup {
  return (random) => {
    const programs = [1, 2].map((user): ProgramShape => {
      const isCyclic = random() % 2 === 0;
      const reads = random() % 2 === 0 ? "answer" : "tags";
      const way = writes[random() % writes.length] ?? "request";
      return { user, reads, writes: way, isCyclic, mostTries: 3, faults: parts.program };
    });
    return { reducer: parts.reducer, serverFaults: parts.server, programs };
  };
}
