// Compiles src to .build/. The build bundles the program from there, and the tests load it from there
// (vitest.config.ts).
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const compiled = join(root, ".build");
/** Where TypeScript records what it has compiled. */
const record = ".build/.tsbuildinfo";
const tsc = join(root, "node_modules", "typescript", "bin", "tsc");

/** Compiles what has changed. Returns whether the types are right: files are written in either case. */
export function compile() {
  const began = new Date();
  const { status } = spawnSync(process.execPath, [tsc, "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  cpSync(join(root, "src", "wire"), join(compiled, "wire"), { recursive: true });
  // What an earlier build left of a file that is gone would hide that something still asks for it.
  for (const path of readdirSync(compiled, { recursive: true })) {
    if (!path.endsWith(".js") || path.startsWith("wire")) continue;
    const source = join(root, "src", path.replace(/\.js$/, ".ts"));
    if (!existsSync(source)) rmSync(join(compiled, path));
  }
  // TypeScript leaves it as it was when a file was written and says the same.
  utimesSync(join(root, record), began, began);
  return status === 0;
}

/** Vitest calls it before the tests. Types that are wrong do not keep tests from running. */
export function setup() {
  if (!isNewest(record, ["src", "tsconfig.json", "tsconfig.build.json"])) compile();
}

/** Whether a file was written after all others: those of a folder are all in it. */
export function isNewest(made, sources) {
  const changedMs = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const madeMs = changedMs(made);
  const within = (path) =>
    statSync(join(root, path)).isDirectory()
      ? readdirSync(join(root, path), { recursive: true }).map((name) => join(path, name))
      : [];
  return sources.flatMap((path) => [path, ...within(path)]).every((path) => changedMs(path) < madeMs);
}
