// What a release has beside its packages: their sums, and an apt repository in a folder. It is served, or
// copied to a stick.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { run } from "./run.mjs";

/**
 * Writes SHA256SUMS of the files of one version in the folder, for `sha256sum --check`.
 *
 * @param key what `gpg --local-user` takes; its signature becomes SHA256SUMS.asc
 */
export function writeSums(folder, { version, key }) {
  const sums = join(folder, "SHA256SUMS");
  const names = readdirSync(folder)
    .filter((name) => isOf(version, name))
    .sort();
  writeFileSync(sums, names.map((name) => `${hash("sha256", join(folder, name))}  ${name}\n`).join(""));
  if (key === undefined) rmSync(`${sums}.asc`, { force: true });
  else gpg(key, "--detach-sign", "--armor", "--output", `${sums}.asc`, sums);
}

function isOf(version, name) {
  return [`fleetgate_${version}_`, `fleetgate-${version}-`].some((start) => name.startsWith(start));
}

/**
 * Makes `apt/` in the folder, of each .deb of one version that lies there.
 *
 * @param key what `gpg --local-user` takes; its public half becomes `apt/fleetgate.asc`
 */
export function makeAptRepository(folder, { version, key }) {
  const apt = join(folder, "apt");
  rmSync(apt, { recursive: true, force: true });
  const pool = join(apt, "pool", "main", "f", "fleetgate");
  mkdirSync(pool, { recursive: true });
  for (const name of readdirSync(folder).filter((each) => isOf(version, each) && each.endsWith(".deb")))
    copyFileSync(join(folder, name), join(pool, name));
  const suite = join(apt, "dists", "stable");
  const indexes = ["amd64", "arm64"].flatMap((arch) => {
    const index = join("main", `binary-${arch}`, "Packages");
    const text = run("dpkg-scanpackages", ["--multiversion", "--arch", arch, "pool"], { cwd: apt });
    mkdirSync(join(suite, "main", `binary-${arch}`), { recursive: true });
    writeFileSync(join(suite, index), text);
    writeFileSync(join(suite, `${index}.gz`), gzipSync(text, { level: 9 }));
    return [index, `${index}.gz`];
  });
  writeFileSync(join(suite, "Release"), releaseOf(suite, indexes));
  gpg(key, "--clearsign", "--output", join(suite, "InRelease"), join(suite, "Release"));
  gpg(key, "--detach-sign", "--armor", "--output", join(suite, "Release.gpg"), join(suite, "Release"));
  gpg(key, "--export", "--armor", "--output", join(apt, "fleetgate.asc"), key);
}

function gpg(key, ...args) {
  run("gpg", ["--batch", "--yes", "--local-user", key, ...args]);
}

function releaseOf(suite, indexes) {
  const sums = indexes.map((index) => {
    const file = join(suite, index);
    return ` ${hash("sha256", file)} ${statSync(file).size} ${index}\n`;
  });
  return [
    "Origin: Fleetgate\n",
    "Label: Fleetgate\n",
    "Suite: stable\n",
    "Codename: stable\n",
    // Of the publication: apt silently keeps what it has if the date is older than the one that it has seen.
    `Date: ${new Date().toUTCString().replace("GMT", "UTC")}\n`,
    "Architectures: amd64 arm64\n",
    "Components: main\n",
    "SHA256:\n",
    ...sums,
  ].join("");
}

function hash(algorithm, file) {
  return createHash(algorithm).update(readFileSync(file)).digest("hex");
}
