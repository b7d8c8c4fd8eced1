// Runs the cases, each with a process of the stack for itself: none begins on a session of another.
import { NotRun } from "./stack.mjs";

/** Runs them in turn. @returns the names of what passed and of what was not run, and how many failed */
export async function runCases(cases, start, plant, print) {
  const [passed, notRun] = [[], []];
  let failed = 0;
  for (const [name, run] of Object.entries(cases)) {
    const stack = start();
    try {
      await run(stack, plant);
      passed.push(name);
      print(`passed  ${name}`);
    } catch (error) {
      if (error instanceof NotRun) {
        notRun.push(`${name} (${error.message})`);
        print(`not run ${name}: ${error.message}`);
      } else {
        failed++;
        print(`FAILED  ${name}: ${error.message}`);
      }
    } finally {
      await stack.close();
    }
  }
  return { passed, notRun, failed };
}
