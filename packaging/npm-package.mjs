// Packages of npm, fetched by its own client. None of them has an install script.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "./run.mjs";

/**
 * Fetches a package once and keeps it in `cache`.
 *
 * @returns its folder
 * @throws when it is not the one with this hash
 */
export function npmPackage(name, version, integrity, cache) {
  const kept = join(cache, `${name}-${version}`);
  if (existsSync(kept)) return kept;
  mkdirSync(dirname(kept), { recursive: true });
  const folder = mkdtempSync(join(cache, "fetch-"));
  try {
    const [{ filename }] = JSON.parse(
      run("npm", ["pack", "--json", "--pack-destination", folder, `${name}@${version}`]),
    );
    const archive = join(folder, filename);
    const hash = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
    if (hash !== integrity)
      throw new Error(`${name}@${version} has the hash ${hash}, and should have ${integrity}`);
    run("tar", ["-xzf", archive, "-C", folder]);
    renameSync(join(folder, "package"), kept);
  } catch (error) {
    // Another build has fetched it meanwhile.
    if (!existsSync(kept)) throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return kept;
}
