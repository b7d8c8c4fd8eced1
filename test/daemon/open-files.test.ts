import { spawnSync } from "node:child_process";
import { afterEach, expect, test } from "vitest";
import { belt, type DegradedHarness, openDegradedHarness } from "./degraded-harness.ts";

/** Sets a limit on the open files of a process that runs. */
const hasPrlimit = spawnSync("prlimit", ["--version"]).status === 0;
if (!hasPrlimit) {
  if (process.env.CI) throw new Error("prlimit is not installed, and CI must run its tests");
  process.stderr.write("prlimit is not installed: the test of open files is skipped\n");
}

let harness: DegradedHarness | null = null;
afterEach(() => harness?.close());

function limitOpenFiles(pid: number, count: number): void {
  const done = spawnSync("prlimit", ["--pid", String(pid), `--nofile=${count}:`]);
  if (done.status !== 0) throw new Error(`prlimit: ${done.stderr}`);
}

test.skipIf(!hasPrlimit)(
  "without a file descriptor the gateway lives, its connections go on, health says so, and it recovers",
  async () => {
    harness = await openDegradedHarness();
    const daemon = await harness.start();
    // Fewer than are open already: nothing more can be opened.
    limitOpenFiles(daemon.pid, 10);
    const { detail } = await harness.part("process", ({ state }) => state === "degraded");
    expect(detail).toMatch(/^no file descriptor is left of \d+: no new connection is accepted or made, /);
    expect(await harness.ear.send("ControlConveyor", "stop", belt("STOP"))).toMatchObject({
      outcome: "succeeded",
    });
    await harness.valuesGoOn(33);
    limitOpenFiles(daemon.pid, 1_024);
    await harness.part("process", ({ state, figures }) => {
      return state === "up" && figures?.open_files_limit === 1_024;
    });
    expect(await daemon.stop()).toBe(0);
  },
  120_000,
);
