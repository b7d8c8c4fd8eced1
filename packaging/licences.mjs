// The licences of packages, and their texts where the authors have put none into the package.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** Of packages whose package.json has none: what their licence file or their README says. */
const stated = { dequeue: "BSD-2-Clause", humanize: "MIT", precond: "MIT" };

const own = (name) => join("packaging", "licences", `${name}.txt`);
const lmdb = join("node_modules", "lmdb");
const lmdbBinary = [
  join(lmdb, "LICENSE"),
  join(lmdb, "dependencies/lmdb/libraries/liblmdb/LICENSE"),
  join(lmdb, "dependencies/lz4/lib/LICENSE"),
];
const msgpackrBinary = [join("node_modules", "msgpackr-extract", "LICENSE")];
/** The texts for packages without one: from their README or sources, or from the package that they are of. */
const texts = {
  "@bufbuild/protobuf": ["LICENSE", own("google-protobuf")],
  "@lmdb/lmdb-linux-arm64": lmdbBinary,
  "@lmdb/lmdb-linux-x64": lmdbBinary,
  "@msgpackr-extract/msgpackr-extract-linux-arm64": msgpackrBinary,
  "@msgpackr-extract/msgpackr-extract-linux-x64": msgpackrBinary,
  "abstract-logging": [own("abstract-logging")],
  "assert-plus": [own("assert-plus")],
  precond: [own("precond")],
  "weak-lru-cache": [own("weak-lru-cache")],
};

/** The licence of one of `packagesOf`, as SPDX names it. Throws when it is not known. */
export function licenceOf({ name, entry, from }) {
  const { license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const found = entry.license ?? license ?? stated[name];
  if (typeof found !== "string")
    throw new Error(`${name} names no licence: look, and add it to licences.mjs`);
  return found;
}

export function isLicence(path) {
  return /^(licen[cs]e|notice|copying)/i.test(basename(path)) && !/\.c?js$/.test(path);
}

/**
 * The text for a package that brings none; null if it brings one.
 *
 * @throws when no text is known
 */
export function missingLicence(root, { name, from }) {
  if (readdirSync(from).some(isLicence)) return null;
  const files = texts[name];
  if (files === undefined)
    throw new Error(`${name} has no licence text: find it, and add it to licences.mjs`);
  return files.map((file) => readFileSync(join(root, file), "utf8")).join(`\n${"-".repeat(78)}\n\n`);
}
