// The files that a running gateway needs: the built program, the packages that are not in it (without maps,
// typings and sources), one binary of lmdb, the one nodeset that the OPC UA server loads, and Node.js.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { consolePackages, font } from "../scripts/console-packages.mjs";
import { unbundled } from "../scripts/unbundled.mjs";
import { isLicence, missingLicence } from "./licences.mjs";
import { npmPackage } from "./npm-package.mjs";
import { run } from "./run.mjs";

/** What Node.js loads. A licence is kept too: its terms ask for that. */
const loaded = /\.(c?js|mjs|json|node)$/;
/** What browsers load, of the console and the manual. */
const shown = /\.(html|css|svg|woff2|png)$|\/console\/docs\/files\//;
/** What the program itself reads (src/platform/plain-file.ts). */
const read = /\/dist\/[^/]+\.(st|yaml)$/;
const left = /(\.d\.[cm]?ts|\.map|\.test\.c?js|tsconfig.*\.json|package-lock\.json|\.tsbuildinfo)$/;
/** Folders of a package that only its authors use. Deeper down, they may be code: `yaml/dist/doc`. */
const authorsOnly = /^node_modules\/(@[^/]+\/)?[^/]+\/(test|tests|__tests__|benchmarks?|examples?|docs?)\//;
/** The nodeset that `src/northbound/opcua/server.ts` names; of all others the package has only typings. */
const nodeset = /nodesets\/Opc\.Ua\.NodeSet2\.(xml|ndjson\.gz)$/;

/**
 * Lays the tree in `target`.
 *
 * @param arch `amd64` or `arm64`
 * @param node a folder with `bin/node` and `LICENSE`
 * @param packages of `packagesOf`
 */
export function laySlimTree(root, target, arch, node, packages) {
  mkdirSync(join(target, "bin"), { recursive: true });
  cpSync(join(node, "bin", "node"), join(target, "bin", "node"));
  cpSync(join(node, "LICENSE"), join(target, "bin", "LICENSE-node"));
  cpSync(join(root, "packaging", "fleetgate.sh"), join(target, "bin", "fleetgate"));
  cpSync(join(root, "packaging", "notify-socket.pl"), join(target, "bin", "notify-socket.pl"));
  copy(join(root, "dist"), join(target, "dist"), (path) => isBuilt(path) && !left.test(path));
  for (const packed of packages) {
    const { path, from, isBundled } = packed;
    const folder = folderOf(packed);
    const wanted = isBundled ? isLicence : (file) => isNeeded(`${path}/${relative(from, file)}`);
    copy(from, join(target, folder), wanted, "node_modules");
    const text = missingLicence(root, packed);
    if (text === null) continue;
    mkdirSync(join(target, folder), { recursive: true });
    writeFileSync(join(target, folder, "LICENSE"), text);
  }
  mkdirSync(join(target, font.folder), { recursive: true });
  cpSync(join(root, font.licenceText), join(target, font.folder, "LICENSE"));
  cpSync(join(root, "package.json"), join(target, "package.json"));
  cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
  strip(target, arch);
}

/** Where a package lies in the tree: whole, or its licence alone. */
export function folderOf({ name, path, isBundled }) {
  return isBundled ? `licences/${name}` : path;
}

function isBuilt(path) {
  return loaded.test(path) || shown.test(path) || read.test(path);
}

/** Takes the symbols out of the binaries. This machine's program for it knows its own processor alone. */
function strip(target, arch) {
  if (arch !== { x64: "amd64", arm64: "arm64" }[process.arch]) return;
  const natives = readdirSync(target, { recursive: true }).filter((path) => path.endsWith(".node"));
  for (const path of ["bin/node", ...natives.filter((path) => !path.endsWith("LICENSE-node"))])
    run("strip", ["--strip-unneeded", join(target, path)]);
}

/**
 * The packages of the lock file that a running gateway needs on Linux with glibc. Binaries for another
 * processor than this machine's are fetched into `cache`.
 *
 * @returns for each its path in node_modules, its entry in the lock file, the folder where it is, and whether
 *   its code is part of the built program or of the console
 */
export function packagesOf(root, arch, cache) {
  const cpu = arch === "amd64" ? "x64" : "arm64";
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const asFiles = withDependencies(packages, unbundled);
  return Object.entries(packages).flatMap(([path, entry]) => {
    const isInConsole = consolePackages.some((name) => path === `node_modules/${name}`);
    if (path === "" || ((entry.dev || entry.devOptional) && !isInConsole)) return [];
    if (entry.os !== undefined && !entry.os.includes("linux")) return [];
    if (entry.cpu !== undefined && !entry.cpu.includes(cpu)) return [];
    if (entry.libc !== undefined && !entry.libc.includes("glibc")) return [];
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    const packed = { name, path, entry, isBundled: !asFiles.has(path) };
    if (existsSync(join(root, path))) return [{ ...packed, from: join(root, path) }];
    if (entry.cpu !== undefined)
      return [{ ...packed, from: npmPackage(name, entry.version, entry.integrity, cache) }];
    if (entry.optional) return [];
    throw new Error(`${path} is not installed; run npm ci`);
  });
}

/** Where these packages and all that they ask for lie in node_modules, as Node.js finds them. */
function withDependencies(packages, names) {
  const found = new Set();
  const add = (path) => {
    if (found.has(path)) return;
    found.add(path);
    for (const asked of dependenciesOf(packages, path)) add(asked);
  };
  for (const name of names) add(`node_modules/${name}`);
  return found;
}

/**
 * What a package of the lock file asks for, as Node.js finds it from there. Optional ones may be for another
 * machine.
 *
 * @returns paths in node_modules
 */
export function dependenciesOf(packages, path) {
  const { dependencies, optionalDependencies } = packages[path];
  return Object.keys({ ...dependencies, ...optionalDependencies }).flatMap((name) => {
    const above = foldersAbove(path === "" ? "" : `${path}/`);
    const folder = above.find((each) => `${each}node_modules/${name}` in packages);
    return folder === undefined ? [] : [`${folder}node_modules/${name}`];
  });
}

/** The package's folder, those of the packages that it lies in, and the project's: "". */
function foldersAbove(folder) {
  const end = folder.lastIndexOf("node_modules/");
  return end < 0 ? [folder] : [folder, ...foldersAbove(folder.slice(0, end))];
}

function isNeeded(path) {
  const inPackage = path.slice(path.lastIndexOf("node_modules/"));
  if (nodeset.test(path)) return true;
  if (inPackage.includes("/.")) return false;
  if (isLicence(path)) return true;
  if (!loaded.test(path) || left.test(path) || authorsOnly.test(inPackage)) return false;
  // One binary that every Node.js loads: the others are for one version, or for musl.
  return !path.endsWith(".node") || path.endsWith(".napi.glibc.node");
}

/** Copies the files that `wanted` names. A folder called `without` is another package's, copied by itself. */
function copy(from, to, wanted, without = "") {
  for (const entry of readdirSync(from, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const [source, copied] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      if (entry.name !== without) copy(source, copied, wanted, without);
    } else if (entry.isFile() && wanted(source)) {
      mkdirSync(dirname(copied), { recursive: true });
      writeFileSync(copied, readFileSync(source));
    }
  }
}
