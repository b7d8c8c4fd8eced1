import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { nodeBinary } from "../../packaging/node-binary.mjs";
import { run } from "./debian-root.ts";

/**
 * What depends on Node.js itself: sockets, streams and TLS of every protocol, files, native modules and the
 * heap. The whole suite runs on one version only, because it takes too long for four.
 */
const files = [
  "test/e2e/missions.test.ts",
  "test/fleet/calls/leaving-late.test.ts",
  "test/fleet/session/session.test.ts",
  "test/northbound/mqtt/broker/broker.test.ts",
  "test/northbound/mqtt/external.test.ts",
  "test/northbound/opcua/fence.test.ts",
  "test/northbound/opcua/security.test.ts",
  "test/northbound/web/server.test.ts",
  "test/platform/bound-resources.test.ts",
  "test/platform/heap-return.test.ts",
  "test/platform/kept-store.test.ts",
  "test/platform/make-folder.test.ts",
  "test/platform/server-tls.test.ts",
];

vi.setConfig({ testTimeout: 15 * 60_000 });

interface Binaries {
  readonly shipped: string;
  readonly binaries: Readonly<Record<string, unknown>>;
}
const { shipped, binaries }: Binaries = JSON.parse(
  readFileSync(new URL("../../packaging/node.json", import.meta.url), "utf8"),
);
const majorOf = (version: string) => version.split(".", 1)[0];
/** The version that runs this runs the other tests too. */
const testedMajor = majorOf(process.version.slice(1));
// boot.test.ts runs the shipped one, as the package has it.
const others = Object.keys(binaries).filter(
  (version) => version !== shipped && majorOf(version) !== testedMajor,
);

const cache = join(import.meta.dirname, "../../node_modules/.cache/packages");
const isHere = process.platform === "linux" && process.arch === "x64";
if (!isHere && process.env.CI) throw new Error("CI must try every version of Node.js: it needs Linux on x64");
// Minutes, and a download for each version.
const isWanted = isHere && process.env.CI !== undefined;
if (!isWanted) process.stderr.write("other versions of Node.js are not tried here: CI=true does it\n");

test("every supported version is known", () => {
  expect(Object.keys(binaries).map(majorOf)).toEqual(["20", "22", "24", "26"]);
});

test.runIf(isWanted).each(others)("what depends on Node.js works on %s", async (version) => {
  const node = join(nodeBinary(version, "amd64", cache), "bin/node");
  // What npm's Node.js says of itself, and that the machine has the libraries which it needs.
  expect(spawnSync(node, ["--version"], { encoding: "utf8" })).toMatchObject({
    stdout: `v${version}\n`,
    stderr: "",
  });
  const vitest = join(import.meta.dirname, "../../node_modules/vitest/vitest.mjs");
  // One file at a time: the other tests of this run have their own workers.
  const options = ["--no-file-parallelism", "--reporter=json"];
  const { stdout } = await run(node, [vitest, "run", ...options, ...files], {
    maxBuffer: 64_000_000,
  }).catch((error: { stdout: string }) => error);
  const report = JSON.parse(stdout.slice(stdout.indexOf('{"numTotalTestSuites"'))) as {
    readonly numPassedTests: number;
    readonly testResults: readonly {
      readonly message: string;
      readonly assertionResults: readonly { readonly fullName: string; readonly failureMessages: string[] }[];
    }[];
  };
  const failed = report.testResults.flatMap(({ message, assertionResults }) => [
    ...(message === "" ? [] : [message]),
    ...assertionResults.filter(({ failureMessages }) => failureMessages.length > 0),
  ]);
  expect(failed).toEqual([]);
  // Else the list above would find nothing.
  expect(report.numPassedTests).toBeGreaterThan(200);
});
