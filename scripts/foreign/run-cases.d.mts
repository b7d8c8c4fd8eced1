/** A process of a foreign stack, as far as the runner goes. */
export interface Closable {
  close(): Promise<void>;
}
/** Runs the cases in turn, each with a process for itself. */
export function runCases<S extends Closable, P>(
  cases: Readonly<Record<string, (stack: S, plant: P) => Promise<void>>>,
  start: () => S,
  plant: P,
  print: (line: string) => void,
): Promise<{
  readonly passed: readonly string[];
  readonly notRun: readonly string[];
  readonly failed: number;
}>;
