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
 * Changes that are not committed add `.changed`. So do files that git does not know: the package may have
 * them.
 */
export function versionOf(root) {
  const git = (...args) => run("git", ["-C", root, ...args]).trim();
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const commit = git("rev-parse", "HEAD");
  const tag = `refs/tags/v${version}`;
  const isTagged = git("for-each-ref", "--format=x", tag) !== "";
  const isIn = isTagged && git("for-each-ref", "--merged", "HEAD", "--format=x", tag) !== "";
  const count = Number(git("rev-list", "--count", isIn ? `${tag}..HEAD` : "HEAD"));
  const changed = changesIn(root) === "" ? "" : ".changed";
  const place = isIn && count === 0 ? "" : `${isIn ? "+" : "~"}${count}.g${commit.slice(0, 12)}`;
  return {
    version: `${version}${place}${place === "" && changed !== "" ? `+0${changed}` : changed}`,
    commit,
  };
}

/** @throws if the checkout has changes: two packages of it could have the same version */
export function assertCommitted(root) {
  const changes = changesIn(root);
  if (changes !== "")
    throw new Error(`only a commit is signed, and no commit has these changes:\n${changes}`);
}

function changesIn(root) {
  return run("git", ["-C", root, "status", "--porcelain"]);
}
