import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { run } from "../../packaging/run.mjs";
import { assertCommitted, versionOf } from "../../packaging/version.mjs";

const root = mkdtempSync(join(tmpdir(), "fleetgate-version-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const git = (...args: readonly string[]) =>
  run("git", ["-C", root, "-c", "user.name=Test", "-c", "user.email=test@fleetgate.invalid", ...args]);
const release = (version: string) => {
  writeFileSync(join(root, "package.json"), JSON.stringify({ version }));
  git("add", "package.json");
  git("commit", "--quiet", "--allow-empty", "--message", "next");
  return versionOf(root).version;
};

test("no two commits have the same version, and Debian sorts them in their order", () => {
  git("init", "--quiet");
  const versions = [release("0.1.0"), release("0.1.0")];
  git("tag", "v0.1.0");
  versions.push(versionOf(root).version);
  writeFileSync(join(root, "package.json"), '{ "version": "0.1.0" }');
  versions.push(versionOf(root).version);
  versions.push(release("0.1.0"), release("0.2.0"));
  git("tag", "v0.2.0");
  versions.push(versionOf(root).version);
  expect(versions).toEqual([
    expect.stringMatching(/^0\.1\.0~1\.g[0-9a-f]{12}$/),
    expect.stringMatching(/^0\.1\.0~2\.g[0-9a-f]{12}$/),
    "0.1.0",
    "0.1.0+0.changed",
    expect.stringMatching(/^0\.1\.0\+1\.g[0-9a-f]{12}$/),
    expect.stringMatching(/^0\.2\.0~4\.g[0-9a-f]{12}$/),
    "0.2.0",
  ]);
  expect(new Set(versions).size).toBe(versions.length);
  for (const [at, version] of versions.slice(1).entries())
    expect(spawnSync("dpkg", ["--compare-versions", versions[at] ?? "", "lt", version]).status).toBe(0);
});

test("only a commit is signed, and a file that it lacks is a change too", () => {
  assertCommitted(root);
  writeFileSync(join(root, "page.md"), "new");
  expect(versionOf(root).version).toBe("0.2.0+0.changed");
  expect(() => assertCommitted(root)).toThrow("page.md");
});
