// The version of a package: two commits never have the same one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./run.mjs";

/**
 * Of package.json, with what git adds. In the order in which Debian sorts them:
 *
 *     0.2.0~147.g1a2b3c4d5e6f   before the tag v0.2.0: the number of commits, and the last one
 *     0.2.0                     at the tag
 *     0.2.0+3.g1a2b3c4d5e6f     three commits after it
 *
 * Changes that are not committed add `.changed`.
 */
export function versionOf(root) {
  const git = (...args) => run("git", ["-C", root, ...args]).trim();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commit = git("rev-parse", "HEAD");
  const tag = `refs/tags/v${version}`;
  const isTagged = git("for-each-ref", "--format=x", tag) !== "";
  const isIn = isTagged && git("for-each-ref", "--merged", "HEAD", "--format=x", tag) !== "";
  const count = Number(git("rev-list", "--count", isIn ? `${tag}..HEAD` : "HEAD"));
  const changed = git("status", "--porcelain", "--untracked-files=no") === "" ? "" : ".changed";
  const place = isIn && count === 0 ? "" : `${isIn ? "+" : "~"}${count}.g${commit.slice(0, 12)}`;
  return {
    version: `${version}${place}${place === "" && changed !== "" ? `+0${changed}` : changed}`,
    commit,
  };
}
