// The Node.js binaries that packages ship and CI tests, from npm's own packages. They have no install script.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

const { shipped, binaries } = JSON.parse(readFileSync(new URL("./node.json", import.meta.url), "utf8"));

/** The version that packages ship. */
export const shippedVersion = shipped;
/** Every version that the project is tested on, oldest first. */
export const testedVersions = Object.keys(binaries);

/**
 * Fetches a Node.js package once and keeps it in `cache`.
 *
 * @param arch `amd64` or `arm64`
 * @returns its folder, with `bin/node` and `LICENSE`
 * @throws when the package is not the one whose hash stands in node.json
 */
export function nodeBinary(version, arch, cache) {
  const { package: name, integrity } = binaries[version]?.[arch] ?? {};
  if (name === undefined) throw new Error(`node.json has no Node.js ${version} for ${arch}`);
  const kept = join(cache, `${name}-${version}`);
  if (existsSync(kept)) return kept;
  mkdirSync(cache, { recursive: true });
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
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return kept;
}
