import { spawnSync } from "node:child_process";

/** Runs a program and returns what it printed. Throws with what it said on standard error when it fails. */
export function run(program, args, options = {}) {
  const ended = spawnSync(program, args, { encoding: "utf8", maxBuffer: 2 ** 28, ...options });
  if (ended.error !== undefined) throw ended.error;
  if (ended.status !== 0)
    throw new Error(`${program} ${args.join(" ")} ended with ${ended.status}:\n${ended.stderr ?? ""}`);
  return ended.stdout;
}
