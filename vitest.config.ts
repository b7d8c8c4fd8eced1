import { dirname, join, relative, resolve } from "node:path";
import { defineConfig, type Plugin } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = join(import.meta.dirname, "src");
/** Half a minute and more each, the longest of a project first. */
const long = [
  "test/package/boot.test.ts",
  "test/package/each-node.test.ts",
  "test/cluster/model/cluster-model.test.ts",
  "test/cluster/chaos/chaos.test.ts",
  "test/cluster/fence/fence.test.ts",
  "test/cluster/handover/handover.test.ts",
  "test/cluster/warm/warm.test.ts",
  "test/cluster/unled/unled-start.test.ts",
  "test/daemon/decidability-modes.test.ts",
  "test/daemon/soak.test.ts",
  "test/daemon/sparkplug.test.ts",
  "test/northbound/opcua/tickets-kept.test.ts",
  "test/domain/ticket-model/ticket-model.test.ts",
  "test/fleet/session/accelerated-tokens.test.ts",
  "test/northbound/opcua/log-on-crowd.test.ts",
  "test/commands/model.test.ts",
  "test/domain/ticket-model/planted-defects.test.ts",
  "test/daemon/decidability.test.ts",
  "test/daemon/lost-stores.test.ts",
  "test/daemon/full-disk.test.ts",
  "test/cli/demo.test.ts",
  "test/foreign/node-red.test.ts",
  "test/daemon/backup.test.ts",
  "test/daemon/slot-crash.test.ts",
  "test/pages/command-lines.test.ts",
  "test/e2e/misbehaving-service.test.ts",
  "test/cli/surroundings.test.ts",
  "test/daemon/reload.test.ts",
  "test/e2e/conveyor-alone.test.ts",
  "test/e2e/load-station-block.test.ts",
  "test/cli/root-links.test.ts",
  "test/daemon/crash-rounds.test.ts",
  "test/e2e/quality.test.ts",
  "test/cli/run.test.ts",
  "test/daemon/crash.test.ts",
  "test/cli/call.test.ts",
  "test/daemon/opcua-drops.test.ts",
  "test/daemon/crash-report.test.ts",
  "test/daemon/console.test.ts",
  "test/cli/export/nodeset.test.ts",
  "test/e2e/two-gateways.test.ts",
  "test/cli/unread-output.test.ts",
  "test/cli/init/started.test.ts",
  "test/e2e/console-users.test.ts",
  "test/e2e/examples.test.ts",
];

/**
 * What leaves nothing behind in the test's own process: a worker loads the modules once, and keeps what it has
 * compiled for the next file. To load and compile node-opcua takes seconds a file.
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
    "models",
    "northbound",
    "platform",
  ].map(all),
  ...["simulator", "state"].map(all),
  // What shows a newcomer that the whole works: a few end-to-end tests.
  ...["bad-input", "holds", "missions", "record", "stations"].map((name) => `test/e2e/${name}.test.ts`),
];
/**
 * With a worker of their own, for what another file has left in the process would show: models, memory and
 * timers that are counted, time that passes while the process is idle, the longest turn of the event loop (a
 * collection of memory takes as long as the heap is large).
 */
const deep = [
  "test/bench/soak/census.test.ts",
  "test/cluster/chaos/*.test.ts",
  "test/cluster/fence/*.test.ts",
  "test/cluster/handover/*.test.ts",
  "test/cluster/unled/*.test.ts",
  "test/cluster/warm/*.test.ts",
  "test/daemon/decidability*.test.ts",
  "test/daemon/soak.test.ts",
  "test/delivery/outbox/killed/killed.test.ts",
  "test/faults/*.test.ts",
  "test/fleet/channels/failed-connection.test.ts",
  "test/fleet/large-answers.test.ts",
  "test/fleet/streams/large-message.test.ts",
  "test/northbound/opcua/hung-up-clients.test.ts",
  "test/northbound/opcua/large-requests.test.ts",
  "test/northbound/opcua/scale.test.ts",
  "test/northbound/opcua/tickets-kept.test.ts",
];
/**
 * Last: a Debian that boots, and other versions of Node.js. Beside them only what a busy machine does not
 * harm: simulated time, and commands that are looked at for what they print.
 */
const machines = [
  "test/package/*.test.ts",
  "test/cluster/model/*.test.ts",
  "test/domain/ticket-model/ticket-model.test.ts",
  "test/pages/command-lines.test.ts",
  "test/cli/export/*.test.ts",
  "test/cli/root-links.test.ts",
  "test/cli/surroundings.test.ts",
];

/** For tests that start the program. */
const globalSetup = "scripts/built.mjs";

/** The console's modules have no texts before a language is chosen. */
const setupFiles = ["test/console/english.ts"];

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
      return (place < 0 ? long.length : place) + (project.config.isolate ? 0 : long.length + 1);
    };
    const sorted = await super.sort(files);
    return sorted.sort((one, other) => placeOf(one) - placeOf(other));
  }
}

/**
 * Tests load `src` as the build has compiled it. Vite would compile its thousand files again for each run, and
 * hand them to each worker one by one: a quarter of what a short run takes. The console is compiled for the
 * browser, so vite compiles what a test loads of it.
 */
const compiledSource: Plugin = {
  name: "compiled-source",
  enforce: "pre",
  resolveId(id, importer) {
    if (importer === undefined || !/^\..*\.[jt]s$/.test(id)) return;
    const path = relative(source, resolve(dirname(importer), id));
    if (path.startsWith("..") || path.startsWith("console/")) return;
    return join(import.meta.dirname, ".build", path.replace(/\.ts$/, ".js"));
  },
};

export default defineConfig({
  // Who watches files wants what he has just written: vite compiles it.
  plugins: process.argv.includes("run") ? [compiledSource] : [],
  test: {
    globalSetup: "scripts/compile.mjs",
    server: { deps: { external: [/\/\.build\//] } },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    // One more than a small machine has cores. With five, tests of real time failed there.
    maxWorkers: 3,
    expect: { poll: { timeout: 20_000 } },
    sequence: { sequencer: LongFirst },
    projects: [
      {
        extends: true,
        test: { name: "kept", include: kept, exclude: [...deep, ...machines], isolate: false, setupFiles },
      },
      { extends: true, test: { name: "deep", include: deep, globalSetup } },
      {
        extends: true,
        test: {
          name: "apart",
          include: ["test/**/*.test.ts"],
          exclude: [...kept, ...deep, ...machines],
          isolate: false,
          setupFiles,
          globalSetup,
        },
      },
      {
        extends: true,
        test: {
          name: "machines",
          include: machines,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          globalSetup,
        },
      },
    ],
  },
});
