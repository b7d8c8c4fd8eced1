import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";

const root = join(import.meta.dirname, "..");

/**
 * Writes files that a script makes. With --check it writes nothing, and the process fails when one is not up
 * to date.
 *
 * @param files pairs of path and text
 * @param extra paths of files that it no longer makes
 */
export function writeMade(files, extra = []) {
  if (!process.argv.includes("--check")) {
    for (const path of extra) rmSync(path);
    for (const [path, text] of files) writeFileSync(path, text);
    return;
  }
  const isOld = ([path, text]) => !existsSync(path) || readFileSync(path, "utf8") !== text;
  const wrong = [...extra, ...files.filter(isOld).map(([path]) => path)];
  if (wrong.length === 0) return;
  const names = wrong.map((path) => relative(root, path)).join(", ");
  console.error(`not up to date: ${names}. Run: node scripts/${basename(process.argv[1])}`);
  process.exit(1);
}
