// The list of what a package contains, in CycloneDX 1.5: Fleetgate, Node.js and every package of npm.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Of packages whose package.json has none: what their licence file or their README says. */
const stated = { dequeue: "BSD-2-Clause", humanize: "MIT", precond: "MIT" };

/** The licence of one of `packagesOf`, as SPDX names it. Throws when it is not known. */
export function licenceOf({ name, entry, from }) {
  const { license } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const found = entry.license ?? license ?? stated[name];
  if (typeof found !== "string") throw new Error(`${name} names no licence: look, and add it to sbom.mjs`);
  return found;
}

/**
 * Made from the lock file, and not by `npm sbom`, whose list has a random number and the time of its making.
 *
 * @param packages of `packagesOf`
 * @param node version of Node.js
 * @param at ISO time of the build
 */
export function sbomOf(manifest, packages, node, at) {
  const components = packages.map((packed) => {
    const { name, entry } = packed;
    const purl = `pkg:npm/${name.replace("@", "%40")}@${entry.version}`;
    return {
      type: "library",
      "bom-ref": purl,
      name,
      version: entry.version,
      ...licences(licenceOf(packed)),
      purl,
      hashes: [{ alg: "SHA-512", content: hexOf(entry.integrity) }],
    };
  });
  const unique = new Map(components.map((component) => [component.purl, component]));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { timestamp: at, component: product(manifest) },
    components: [nodeComponent(node), ...unique.values()],
  };
}

function product({ name, version, description, license }) {
  return {
    type: "application",
    "bom-ref": `${name}@${version}`,
    name,
    version,
    description,
    ...licences(license),
  };
}

function nodeComponent(version) {
  const purl = `pkg:generic/node@${version}`;
  return { type: "platform", "bom-ref": purl, name: "Node.js", version, ...licences("MIT"), purl };
}

function licences(expression) {
  return { licenses: [/ (OR|AND) /.test(expression) ? { expression } : { license: { id: expression } }] };
}

function hexOf(integrity) {
  return Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
}
