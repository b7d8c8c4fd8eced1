// Builds the program if it is older than its sources: one of before a change would pass tests of the change.
// Vitest calls it before tests that start the program, and `npm test` runs it.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isNewest } from "./compile.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** What the build writes last. */
const made = "dist/build.json";
const sources = ["src", "docs", "README.md", "config", "scripts", "package-lock.json", "tsconfig.json"];

export function setup() {
  if (isNewest(made, sources)) return;
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "build.mjs")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error("the program cannot be built, so no test can start it");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) setup();
