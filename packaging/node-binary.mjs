// The Node.js binaries that packages ship, from npm's own packages.
import { readFileSync } from "node:fs";
import { npmPackage } from "./npm-package.mjs";

const { shipped, binaries } = JSON.parse(readFileSync(new URL("./node.json", import.meta.url), "utf8"));

/** The version that packages ship. */
export const shippedVersion = shipped;

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
  return npmPackage(name, version, integrity, cache);
}
