// Vitest calls it before tests that start the program: one of before a change would pass tests of the change.
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isNewest } from "./compile.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
/** What the build writes last. */
const made = "dist/build.json";

export function setup() {
  if (isNewest(made, ["src", "docs", "README.md", "config/openapi.json", "package-lock.json"])) return;
  const { status } = spawnSync(process.execPath, [join(root, "scripts", "build.mjs")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error("the program cannot be built, so no test can start it");
}
