import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Tests that boot a machine, or run the others' files on other versions of Node.js: minutes each, at the end. */
const machines = ["test/package/*.test.ts"];
/** Half a minute and more each, the longest first. */
const long = [
  "test/daemon/soak.test.ts",
  "test/daemon/slot-crash.test.ts",
  "test/daemon/decidability-modes.test.ts",
  "test/daemon/lost-stores.test.ts",
  "test/northbound/opcua/tickets-kept.test.ts",
  "test/cli/surroundings.test.ts",
  "test/cli/demo.test.ts",
  "test/daemon/opcua-drops.test.ts",
  "test/daemon/full-disk.test.ts",
  "test/daemon/crash.test.ts",
  "test/daemon/crash-rounds.test.ts",
  "test/pages/command-lines.test.ts",
  "test/e2e/two-gateways.test.ts",
  "test/faults/network.test.ts",
  "test/daemon/decidability.test.ts",
  "test/daemon/outbox-crash.test.ts",
  "test/daemon/outbox-embedded.test.ts",
];

/**
 * What runs in the test's own process, and leaves nothing behind there: a worker loads the modules once, and
 * keeps what it has compiled for the next file. To load and compile node-opcua takes seconds a file.
 */
const kept = [
  "test/*.test.ts",
  ...[
    "console/{fleet,floor,simulator,stream,trends,trust}",
    "commands",
    "composition",
    "config",
    "contract",
    "delivery",
    "domain",
    "fleet",
    "northbound",
    "platform",
  ].map(all),
  ...["simulator", "state"].map(all),
];
/** Tests of rooms that take more than half a minute: crashes, models, memory that is counted. */
const deep = [
  "test/delivery/outbox/killed/killed.test.ts",
  "test/domain/ticket-model/ticket-model.test.ts",
  "test/northbound/opcua/hung-up-clients.test.ts",
  "test/northbound/opcua/scale.test.ts",
  "test/northbound/opcua/tickets-kept.test.ts",
];
/** What shows a newcomer that the whole works: a few end-to-end tests. */
const whole = ["bad-input", "holds", "missions", "record", "stations"].map(
  (name) => `test/e2e/${name}.test.ts`,
);

function all(room: string): string {
  return `test/${room}/**/*.test.ts`;
}

/**
 * Begins with the files that take longest, so that no worker is idle at the end. Those whose worker is
 * kept stay together: it is kept for the next file of its own project only.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId, project }: TestSpecification) => {
      const place = long.findIndex((name) => moduleId.endsWith(`/${name}`));
      const isKept = project.name === "kept";
      return (place < 0 ? long.length : place) + (isKept ? long.length : 0);
    };
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => placeOf(one) - placeOf(other));
  }
}

const shared = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: "forks",
  // More files run than there are cores.
  expect: { poll: { timeout: 20_000 } },
} as const;

export default defineConfig({
  test: {
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          ...shared,
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: [...machines, ...kept, ...whole],
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          name: "kept",
          include: kept,
          exclude: deep,
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: { ...shared, name: "deep", include: deep, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        test: { ...shared, name: "whole", include: whole, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        test: { ...shared, name: "machines", include: machines, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
    ],
  },
});
