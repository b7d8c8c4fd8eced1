import { defineConfig } from "vitest/config";

/** Tests that hold the built program to a time on the user's own machine: they run alone, after all others. */
const timed = ["test/cli/demo.test.ts", "test/cli/run.test.ts"];
/** Tests that boot a machine, or run the others' files on other versions of Node.js: minutes each, at the end. */
const machines = ["test/package/*.test.ts"];
const shared = { testTimeout: 60_000, hookTimeout: 60_000, pool: "forks" } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...timed, ...machines],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...shared, name: "alone", include: timed, maxWorkers: 1, sequence: { groupOrder: 1 } } },
      {
        test: { ...shared, name: "machines", include: machines, maxWorkers: 2, sequence: { groupOrder: 2 } },
      },
    ],
  },
});
