import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Holds up, or fails, the system calls of a process that runs. */
export const hasStrace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
if (!hasStrace) {
  if (process.env.CI) throw new Error("strace is not installed, or may not trace, and CI must run its tests");
  process.stderr.write("strace is not installed, or may not trace: tests of a failing disk are skipped\n");
}

/**
 * The system calls do what `rule` says (`strace`, `inject`) from when this resolves until its result is
 * called.
 */
export async function faultSystemCalls(
  pid: number,
  calls: string,
  rule: string,
): Promise<() => Promise<void>> {
  const fault = ["-e", `trace=${calls}`, "-e", `inject=${calls}:${rule}`];
  const tracer = spawn("strace", ["-f", "-p", String(pid), ...fault, "-o", "/dev/null"], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  tracer.stderr.on("data", (chunk: Buffer) => said.push(chunk.toString()));
  while ((await areTraced(pid)) === false) {
    if (tracer.exitCode !== null) throw new Error(`strace: ${said.join("")}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const ended = once(tracer, "exit");
  return async () => {
    tracer.kill("SIGINT");
    await ended;
  };
}

/** Whether every thread of the process has a tracer. */
async function areTraced(pid: number): Promise<boolean> {
  const threads = readdirSync(`/proc/${pid}/task`);
  const texts = await Promise.all(
    threads.map((each) => readFile(`/proc/${pid}/task/${each}/status`, "utf8")),
  );
  return texts.every((text) => !/^TracerPid:\s+0$/m.test(text));
}
