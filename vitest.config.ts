import { defineConfig } from "vitest/config";

/**
 * Tests that hold the built program to a time on the user's own machine, and the one that boots a machine of its
 * own: they run alone, after all others.
 */
const alone = ["test/cli/demo.test.ts", "test/cli/run.test.ts", "test/package/boot.test.ts"];
const shared = { testTimeout: 20_000, hookTimeout: 30_000, pool: "forks" } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { ...shared, name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
