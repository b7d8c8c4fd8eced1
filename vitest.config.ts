import { defineConfig } from "vitest/config";

/** Tests that hold the built program to a time on the user's own machine: they run alone, after all others. */
const timed = ["test/cli/demo.test.ts", "test/cli/run.test.ts"];
const shared = { testTimeout: 20_000, hookTimeout: 30_000, pool: "forks" } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: timed,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...shared, name: "alone", include: timed, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
