import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { runProgram } from "../../src/platform/program.ts";
import { createManualClock } from "../support/manual-clock.ts";

const LONG_MS = 20_000;
const shell = (script: string, timeoutMs = LONG_MS, clock = systemClock) =>
  runProgram({ command: ["/bin/sh", "-c", script], env: { OF: "box a" }, timeoutMs }, clock);

it("says how a program has ended", async () => {
  expect(await shell("echo done")).toEqual({ problem: null, said: "done" });
  expect(await shell("echo no >&2; exit 3")).toEqual({
    problem: "the program ended with exit code 3",
    said: "no",
  });
  expect(await shell("kill -9 $$")).toMatchObject({ problem: "SIGKILL has ended the program" });
  const missing = runProgram({ command: ["/none"], env: {}, timeoutMs: LONG_MS }, systemClock);
  expect(await missing).toEqual({ problem: "the program cannot be started (ENOENT)", said: "" });
});

it("reads what was said at its end, also if that comes a moment after it", async () => {
  // The clock stands still: however late the moment is on a busy machine, it is within the time.
  expect(await shell("(sleep 0.02; echo late) & exit 3", LONG_MS, createManualClock())).toEqual({
    problem: "the program ended with exit code 3",
    said: "late",
  });
});

it("gives it its arguments as they are, and of the environment nothing else", async () => {
  const command = ["/usr/bin/printf", "%s|", "$OF", "a b;c"];
  expect((await runProgram({ command, env: {}, timeoutMs: LONG_MS }, systemClock)).said).toBe("$OF|a b;c|");
  const { said } = await shell("env | cut -d= -f1 | sort | tr '\\n' ' '");
  expect(said.split(" ").filter((name) => !["_", "PWD", "SHLVL"].includes(name))).toEqual(["OF", "PATH"]);
});

it("keeps the end of what it says, without control characters", async () => {
  const { said } = await shell("head -c 1000000 /dev/zero | tr '\\0' x; printf '\\033[31mlast'");
  expect(said).toHaveLength("\\u001b".length + 499);
  expect(said).toMatch(/^x+\\u001b\[31mlast$/);
});

it("kills one that hangs, with all that it has started", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fleetgate-program-"));
  // In which it has started the other, on a busy machine too.
  const { problem } = await shell(`sleep 1000 & echo $! >${folder}/child; wait`, 3_000);
  expect(problem).toBe("the program has not ended within 3 s");
  const child = Number(readFileSync(join(folder, "child"), "utf8"));
  const state = () => {
    try {
      return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${child}/status`, "utf8"))?.[1] ?? "gone";
    } catch {
      return "gone";
    }
  };
  await expect.poll(state).toBeOneOf(["gone", "Z"]);
  rmSync(folder, { recursive: true });
});

it("does not wait for what a program that has ended leaves behind", async () => {
  expect(await shell("sleep 5 & echo done")).toEqual({ problem: null, said: "done" });
});
