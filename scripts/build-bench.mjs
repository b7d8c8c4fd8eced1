// Compiles the bench and what it reads of src to .bench, beside the built gateway in dist; or to the folder
// that is given, for a run that takes an hour is not to lose its programs to the next build.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
const folder = process.argv[2] ?? ".bench";
rmSync(join(root, folder), { recursive: true, force: true });
// The lint has checked the types.
const compiled = spawnSync(
  process.execPath,
  [tsc, "-p", "tsconfig.bench.json", "--outDir", folder, "--noCheck"],
  {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  },
);
if (compiled.status !== 0) process.exit(compiled.status ?? 1);
cpSync(join(root, "src", "wire"), join(root, folder, "src", "wire"), { recursive: true });
