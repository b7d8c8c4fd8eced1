// Writes src/wire anew from proto/. With --check it writes nothing, and fails
// when what is committed is not what the generator makes of proto/ today.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const check = process.argv.includes("--check");

function buf(...args) {
  const bin = join(root, "node_modules", ".bin");
  const run = spawnSync(join(bin, "buf"), args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
  });
  if (run.status !== 0) process.exit(run.status ?? 1);
}

function files(dir) {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)))
    .sort();
}

function differences(made, kept) {
  const names = new Set([...files(made), ...files(kept)]);
  return [...names].filter((name) => read(made, name) !== read(kept, name));
}

function read(dir, name) {
  try {
    return readFileSync(join(dir, name), "utf8");
  } catch {
    return null;
  }
}

buf("lint");
if (!check) {
  buf("generate");
} else {
  const scratch = mkdtempSync(join(tmpdir(), "fleetgate-generate-"));
  buf("generate", "--output", scratch);
  const stale = differences(join(scratch, "src", "wire"), join(root, "src", "wire"));
  rmSync(scratch, { recursive: true });
  if (stale.length > 0) {
    console.error(`src/wire is not what proto/ says: ${stale.join(", ")}. Run: npm run generate`);
    process.exit(1);
  }
}
