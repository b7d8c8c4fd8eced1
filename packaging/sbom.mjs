// The list of what a package contains, in CycloneDX 1.6, as BSI TR-03183-2 (version 2.1.0) asks for it. Files
// are physical components (3.2.1), with name, hash and properties. Packages of npm and the libraries inside
// compiled programs are logical ones (3.2.2): what is left of them lies inside those files.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { consolePackages, font } from "../scripts/console-packages.mjs";
import { makerOf, organisation } from "./contact.mjs";
import { contentsOfLmdb } from "./contents.mjs";
import { licenceOf } from "./licences.mjs";
import { dependenciesOf, folderOf } from "./slim-tree.mjs";

const executables = /\.([cm]?js|node|pl)$|^bin\/(node|fleetgate)$/;
/** Where the bundler has noted what a part of a chunk comes from. */
const origins = /^\/\/(?:#region)? (node_modules\/.*)$/gm;

/**
 * Made from the lock file and the tree, and not by `npm sbom`, whose list has a random number and the time of
 * its making.
 *
 * @param manifest package.json, with the version of this build
 * @param packages of `packagesOf`
 * @param node its version, and its contents by `contentsOfNode`
 * @param at ISO time of the build
 */
export function sbomOf({ root, tree, manifest, packages, node, at }) {
  const maker = { name: manifest.author.name, contact: manifest.author.email };
  const product = logical({
    type: "application",
    ref: `pkg:generic/fleetgate@${manifest.version}`,
    name: manifest.name,
    version: manifest.version,
    licence: manifest.license,
    maker,
  });
  product.description = manifest.description;

  const inNode = node.contents.map(library);
  const inLmdb = contentsOfLmdb(root).map(library);
  const nodeJs = nodeComponent(node.version);
  const ofNpm = new Map(packages.map((packed) => [packed.path, npmComponent(packed)]));
  const inter = library(font);
  const owners = ownersOf(packages, ofNpm, nodeJs, inter);
  const files = filesOf(tree).map((path) => {
    const owner = owners(path) ?? product;
    const contents = insideOf({ tree, path, ofNpm, inNode, inLmdb });
    return { owner, contents, component: fileComponent(tree, path, owner, contents) };
  });

  const graph = new Map();
  const link = (from, to) => graph.set(refOf(from), [...(graph.get(refOf(from)) ?? []), ...to.map(refOf)]);
  for (const { owner, component, contents } of files) {
    link(owner, [component]);
    link(component, contents);
  }
  const { packages: locked } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const asked = (path) => dependenciesOf(locked, path).flatMap((each) => ofNpm.get(each) ?? []);
  for (const [path, component] of ofNpm) link(component, asked(path));
  const inConsole = consolePackages.flatMap((name) => ofNpm.get(`node_modules/${name}`) ?? []);
  link(product, [nodeJs, inter, ...asked(""), ...inConsole]);
  link(nodeJs, inNode);

  const components = unique([
    nodeJs,
    ...inNode,
    ...inLmdb,
    ...ofNpm.values(),
    inter,
    ...files.map(({ component }) => component),
  ]);
  return withSerialNumber({
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: at,
      lifecycles: [{ phase: "build" }],
      component: product,
      manufacturer: organisation(maker),
      supplier: organisation(maker),
    },
    components,
    dependencies: [product, ...components].map((component) => ({
      ref: refOf(component),
      dependsOn: [...new Set(graph.get(refOf(component)) ?? [])].sort(),
    })),
    // Node.js names its larger libraries, not those inside them.
    compositions: [
      { aggregate: "incomplete", dependencies: [nodeJs, ...inNode, ...inLmdb].map(refOf) },
      { aggregate: "complete", dependencies: [product, inter, ...ofNpm.values()].map(refOf).filter(isFirst) },
      { aggregate: "complete", dependencies: files.map(({ component }) => refOf(component)) },
    ],
  });
}

/** The same content has the same number, and other content has another one. */
export function withSerialNumber({ serialNumber: _, ...content }) {
  const hash = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 32).split("");
  // A UUID of version 8: its bits are the maker's (RFC 9562, 5.8).
  hash[12] = "8";
  hash[16] = "89ab"[Number.parseInt(hash[16], 16) % 4];
  const uuid = hash.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  const { bomFormat, specVersion, ...others } = content;
  return { bomFormat, specVersion, serialNumber: `urn:uuid:${uuid}`, ...others };
}

/** The files of the tree that a list of it must have: all but the list itself and what lies beside it. */
export function filesOf(tree) {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(tree.length + 1))
    .filter((path) => !/^[\w.]+\.(cdx|openvex)\.json$/.test(path))
    .sort();
}

export function sha512Of(path) {
  return createHash("sha512").update(readFileSync(path)).digest("hex");
}

function logical({ type, ref, name, version, licence, maker, purl = ref, cpe }) {
  return {
    type,
    "bom-ref": ref,
    ...organisations(maker),
    name,
    version,
    // CycloneDX 1.6 takes one expression: the original licences (5.2.4) cannot stand beside it.
    licenses: [{ expression: licence, acknowledgement: "concluded" }],
    ...(cpe === undefined ? {} : { cpe }),
    ...(purl === null ? {} : { purl }),
  };
}

function organisations(maker) {
  return { supplier: organisation(maker), manufacturer: organisation(maker) };
}

function npmComponent(packed) {
  const { name, entry, from } = packed;
  return logical({
    type: "library",
    ref: `pkg:npm/${name.replace("@", "%40")}@${entry.version}`,
    name,
    version: entry.version,
    licence: licenceOf(packed).replace(/^\((.*)\)$/, "$1"),
    maker: makerOf(from),
  });
}

function library({ name, version, licence, url, cpe }) {
  const maker = { name: `the authors of ${name}`, contact: url };
  return logical({
    type: "library",
    ref: `pkg:generic/${name}@${version}`,
    name,
    version,
    licence,
    maker,
    cpe,
  });
}

function nodeComponent(version) {
  return logical({
    type: "platform",
    ref: `pkg:generic/node@${version}`,
    name: "Node.js",
    version,
    licence: "MIT",
    maker: { name: "the Node.js contributors", contact: "https://nodejs.org/" },
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:-:*:*:*`,
  });
}

/** A function that names the component that a file of the tree is of; undefined for Fleetgate's own. */
function ownersOf(packages, ofNpm, nodeJs, inter) {
  const folders = packages.map((packed) => [`${folderOf(packed)}/`, ofNpm.get(packed.path)]);
  // The longest first: a package may lie in another one's folder.
  folders.sort(([one], [other]) => other.length - one.length);
  return (path) => {
    if (/^bin\/(node|LICENSE-node)$/.test(path)) return nodeJs;
    if (path.startsWith(`${font.folder}/`) || path.endsWith(".woff2")) return inter;
    return folders.find(([folder]) => path.startsWith(folder))?.[1];
  };
}

/** What else lies inside a file, and cannot be taken out of it again. */
function insideOf({ tree, path, ofNpm, inNode, inLmdb }) {
  if (path === "bin/node") return inNode;
  if (/lmdb-linux-.*\.node$/.test(path)) return inLmdb;
  if (!/^dist\/[^/]*\.js$/.test(path)) return [];
  const noted = readFileSync(join(tree, path), "utf8").matchAll(origins);
  const folders = [...noted].map(([, origin]) => /.*node_modules\/(@[^/]+\/)?[^/]+/.exec(origin)?.[0]);
  return [...new Set(folders)].map((folder) => {
    if (!ofNpm.has(folder))
      throw new Error(`${path} contains ${folder}, which is no package that is shipped`);
    return ofNpm.get(folder);
  });
}

function fileComponent(tree, path, owner, contents) {
  const found = [owner, ...contents].map(({ licenses }) => licenses[0].expression);
  const isArchive = contents.length > 0;
  const properties = {
    filename: basename(path),
    executable: executables.test(path) ? "executable" : "non-executable",
    // Several components in one file (8.1.5), whose bounds are lost (8.1.6). Compression alone makes none.
    archive: isArchive ? "archive" : "no archive",
    structured: "unstructured",
  };
  const { supplier, manufacturer, version } = owner;
  return {
    type: "file",
    "bom-ref": `file:${path}`,
    supplier,
    manufacturer,
    name: basename(path),
    version,
    licenses: [{ expression: together(found), acknowledgement: "concluded" }],
    externalReferences: [
      {
        type: "distribution",
        url: encodeURI(path),
        hashes: [{ alg: "SHA-512", content: sha512Of(join(tree, path)) }],
      },
    ],
    properties: Object.entries(properties).map(([name, value]) => ({ name: `bsi:component:${name}`, value })),
  };
}

/** All of these licences at once. */
function together(expressions) {
  const parts = [...new Set(expressions)].map((each) => (each.includes(" OR ") ? `(${each})` : each));
  return parts.join(" AND ");
}

function refOf(component) {
  return component["bom-ref"];
}

function isFirst(value, at, all) {
  return all.indexOf(value) === at;
}

/** The same version of a package may lie in several folders. */
function unique(components) {
  return [...new Map(components.map((component) => [refOf(component), component])).values()];
}
