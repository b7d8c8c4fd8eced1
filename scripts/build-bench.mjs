// Compiles the bench and what it reads of src to .bench, beside the built gateway in dist.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
rmSync(join(root, ".bench"), { recursive: true, force: true });
const compiled = spawnSync(process.execPath, [tsc, "-p", "tsconfig.bench.json"], {
  cwd: root,
  stdio: ["ignore", "inherit", "inherit"],
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
cpSync(join(root, "src", "wire"), join(root, ".bench", "src", "wire"), { recursive: true });
