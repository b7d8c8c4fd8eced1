// Replaces the machine's clock of a compiled program, before anything has read it.
import { systemClock } from "../../src/platform/clock.ts";
import { type AcceleratedClock, createAcceleratedClock } from "./accelerated-clock.ts";

/**
 * `SOAK_PROGRAM` is the address of the program's folder; a wait takes `SOAK_SHORTEST_MS` of real time at
 * least, if it is not shorter anyway.
 */
export async function useAcceleratedClock(): Promise<AcceleratedClock> {
  const program: { readonly systemClock: typeof systemClock } = await import(
    partOfProgram("platform/clock.js")
  );
  const { after } = systemClock;
  const accelerated = createAcceleratedClock({ after }, Number(process.env.SOAK_SHORTEST_MS ?? 0));
  Object.assign(program.systemClock, accelerated.clock);
  return accelerated;
}

/** The address of a compiled file of the program that runs: it has one copy of each. */
export function partOfProgram(path: string): string {
  return new URL(path, process.env.SOAK_PROGRAM).href;
}
