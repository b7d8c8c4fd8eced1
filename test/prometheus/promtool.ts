import { spawnSync } from "node:child_process";

/** Whether Prometheus' own tool is on this machine; CI installs it and must not skip. */
export const havePromtool = spawnSync("promtool", ["--version"]).status === 0;
if (!havePromtool) {
  if (process.env.CI) throw new Error("promtool is not installed, and CI must run its tests");
  process.stderr.write("promtool is not installed: its tests are skipped\n");
}

/** Runs promtool. @returns its exit code, and all that it says */
export function promtool(
  args: readonly string[],
  input = "",
): { readonly code: number; readonly said: string } {
  const { status, stdout, stderr } = spawnSync("promtool", args, { input, encoding: "utf8" });
  return { code: status ?? -1, said: `${stdout}${stderr}` };
}
