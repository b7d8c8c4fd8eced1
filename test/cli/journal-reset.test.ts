import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const strace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
if (!strace && process.env.CI) throw new Error("strace is not installed, or may not trace: CI needs it");
if (!strace) process.stderr.write("strace is not installed, or may not trace: its tests are skipped\n");

const DATA = "data.mdb";
const KILLED = 128 + 9;

let folder: string;
beforeEach(fill);
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function fill(): void {
  folder = mkdtempSync(join(tmpdir(), "journal-reset-"));
  for (const store of ["journal", "slots"]) {
    mkdirSync(join(folder, store));
    writeFileSync(join(folder, store, DATA), "of before");
  }
}

/** Discards journal and tickets. @param dies the program is killed at its rename of this number */
function reset(dies: number | null): number | null {
  const program = [process.execPath, "dist/main.js", "journal", "reset", "--discard", "--data", folder];
  const kill = ["-e", "trace=rename", "-e", `inject=rename:signal=SIGKILL:when=${dies}`];
  const [command = "", ...args] =
    dies === null ? program : ["strace", "-f", "-qq", "-o", "/dev/null", ...kill, ...program];
  const { status, signal } = spawnSync(command, args, { encoding: "utf8" });
  return signal === null ? status : KILLED;
}

const hasRecords = (store: string) => existsSync(join(folder, store, DATA));

test.skipIf(!strace)("a reset that dies at any moment leaves no ticket whose record it has discarded", () => {
  const moments: string[] = [];
  for (let dies = 1; reset(dies) !== 0; dies += 1) {
    const [slots, journal] = ["slots", "journal"].map(hasRecords);
    moments.push(`slots ${slots}, journal ${journal}`);
    // Such a ticket would say that its command was never sent.
    expect(slots && !journal).toBe(false);
    // The operator says it once more.
    expect(reset(null)).toBe(0);
    expect(["slots", "journal"].filter(hasRecords)).toEqual([]);
    rmSync(folder, { recursive: true });
    fill();
  }
  expect(moments).toContain("slots false, journal true");
  // The last one had fewer moments, and lived: what there was is kept.
  expect(readdirSync(folder).filter((name) => name.includes(".damaged-"))).toHaveLength(2);
});

test("a reset with --discard puts aside what a newer program has written", () => {
  const outbox = join(folder, "outbox");
  mkdirSync(outbox);
  const version = (of: number) =>
    writeFileSync(join(outbox, "format.json"), JSON.stringify({ store: "outbox", version: of }));
  version(1);
  expect(reset(null)).toBe(0);
  expect(readdirSync(outbox)).toEqual(["format.json"]);
  version(999);
  expect(reset(null)).toBe(0);
  expect(readdirSync(outbox)).not.toContain("format.json");
  expect(readdirSync(folder)).toContainEqual(expect.stringMatching(/^outbox\.damaged-/));
});
