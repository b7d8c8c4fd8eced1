// An apt repository in a folder, with its packages beside it: to be served, or copied to a stick.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { run } from "./run.mjs";

/** Writes SHA256SUMS of all files in the folder, for `sha256sum --check`. */
export function writeSums(folder) {
  const lines = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== "SHA256SUMS")
    .map(({ name }) => `${hash("sha256", join(folder, name))}  ${name}\n`);
  writeFileSync(
    join(folder, "SHA256SUMS"),
    lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join(""),
  );
}

/**
 * Makes `apt/` in the folder, of every .deb that lies there.
 *
 * @param key what `gpg --local-user` takes; its public half becomes `apt/fleetgate.asc`
 * @param epoch the time of the build, in seconds
 */
export function makeAptRepository(folder, { key, epoch }) {
  const apt = join(folder, "apt");
  rmSync(apt, { recursive: true, force: true });
  const pool = join(apt, "pool", "main", "f", "fleetgate");
  mkdirSync(pool, { recursive: true });
  for (const name of readdirSync(folder).filter((each) => each.endsWith(".deb")))
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
  writeFileSync(join(suite, "Release"), releaseOf(suite, indexes, epoch));
  const gpg = (...args) => run("gpg", ["--batch", "--yes", "--local-user", key, ...args]);
  gpg("--clearsign", "--output", join(suite, "InRelease"), join(suite, "Release"));
  gpg("--detach-sign", "--armor", "--output", join(suite, "Release.gpg"), join(suite, "Release"));
  gpg("--export", "--armor", "--output", join(apt, "fleetgate.asc"), key);
}

function releaseOf(suite, indexes, epoch) {
  const sums = indexes.map((index) => {
    const file = join(suite, index);
    return ` ${hash("sha256", file)} ${statSync(file).size} ${index}\n`;
  });
  return [
    "Origin: Fleetgate\n",
    "Label: Fleetgate\n",
    "Suite: stable\n",
    "Codename: stable\n",
    `Date: ${new Date(epoch * 1_000).toUTCString().replace("GMT", "UTC")}\n`,
    "Architectures: amd64 arm64\n",
    "Components: main\n",
    "SHA256:\n",
    ...sums,
  ].join("");
}

function hash(algorithm, file) {
  return createHash(algorithm).update(readFileSync(file)).digest("hex");
}
