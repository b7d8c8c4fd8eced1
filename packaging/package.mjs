// Makes what a release ships: a Debian package and a tarball of the same tree, each with its own Node.js.
// Usage: npm run package -- [--arch amd64|arm64] [--out FOLDER] [--key ID]
// With a key of GnuPG, SHA256SUMS is signed, and an apt repository has all packages of this version.
// The same sources give the same bytes: times are those of SOURCE_DATE_EPOCH, or else of the last commit.
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeAptRepository, writeSums } from "./apt-repository.mjs";
import { contentsOfNode } from "./contents.mjs";
import { makeDeb } from "./deb.mjs";
import { nodeBinary, shippedVersion } from "./node-binary.mjs";
import { run } from "./run.mjs";
import { sbomOf } from "./sbom.mjs";
import { laySlimTree, packagesOf } from "./slim-tree.mjs";
import { assertCommitted, versionOf } from "./version.mjs";
import { vexOf } from "./vex.mjs";

/** What a user runs. */
const programs = /\/fleetgate-package-\w+\/[^/]+\/bin\/(node|fleetgate)$/;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values: options } = parseArgs({
  options: {
    arch: { type: "string", default: "amd64" },
    out: { type: "string", default: "dist-packages" },
    key: { type: "string" },
  },
});
const { arch } = options;
const thisMachine = process.arch === "x64" ? "amd64" : process.arch;
if (options.key !== undefined) assertCommitted(root);
if (arch !== "amd64" && arch !== "arm64") throw new Error(`--arch ${arch}: amd64 or arm64`);
const out = resolve(options.out);
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run("git", ["-C", root, "log", "-1", "--format=%ct"]));
const at = new Date(epoch * 1_000).toISOString();
const cache = join(root, "node_modules", ".cache", "packages");
const { version, commit } = versionOf(root);
const manifest = { ...JSON.parse(readFileSync(join(root, "package.json"), "utf8")), version };

const work = mkdtempSync(join(tmpdir(), "fleetgate-package-"));
try {
  const tree = join(work, "tree");
  const packages = packagesOf(root, arch, cache);
  laySlimTree(root, tree, arch, nodeBinary(shippedVersion, arch, cache), packages);
  writeFileSync(join(tree, "package.json"), textOf(manifest));
  writeFileSync(join(tree, "dist", "build.json"), `${JSON.stringify({ builtAt: at, commit })}\n`);
  const program = join(nodeBinary(shippedVersion, thisMachine, cache), "bin", "node");
  const node = { version: shippedVersion, contents: contentsOfNode(program) };
  const sbom = sbomOf({ root, tree, manifest, packages, node, at });
  const evidence = { "sbom.cdx.json": textOf(sbom), "vex.openvex.json": textOf(vexOf({ root, sbom, at })) };
  for (const [file, text] of Object.entries(evidence)) writeFileSync(join(tree, file), text);
  setModes(tree);

  mkdirSync(out, { recursive: true });
  const deb = join(out, `fleetgate_${version}_${arch}.deb`);
  makeDeb({ root, tree, work, deb, version, arch, epoch, packages });
  const name = `fleetgate-${version}-linux-${arch}`;
  const tarball = join(out, `${name}.tar.gz`);
  makeTarball(tree, tarball);
  for (const [file, text] of Object.entries(evidence)) {
    const beside = join(out, `${name}.${file.replace(/^sbom\.|^vex\./, "")}`);
    writeFileSync(beside, text);
  }
  for (const file of [deb, tarball])
    process.stdout.write(`${basename(file)}  ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
  writeSums(out, { version, key: options.key });
  if (options.key !== undefined) makeAptRepository(out, { version, key: options.key });
} finally {
  rmSync(work, { recursive: true, force: true });
}

function textOf(document) {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The tree with what the Debian package has elsewhere: the pages, the examples and the unit. */
function makeTarball(tree, tarball) {
  const name = `fleetgate-${version}`;
  const folder = join(work, name);
  run("cp", ["-al", tree, folder]);
  const internals = join(root, "docs", "internals");
  for (const part of ["docs", "config"])
    cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => path !== internals });
  for (const part of ["README.md", "CHANGELOG.md", "SECURITY.md"])
    cpSync(join(root, part), join(folder, part));
  mkdirSync(join(folder, "systemd"));
  for (const [from, to] of [
    ["systemd/fleetgate.service", "systemd/fleetgate.service"],
    ["systemd/fleetgate@.service", "systemd/fleetgate@.service"],
    ["packaging/debian/sysusers.conf", "systemd/sysusers.conf"],
    ["packaging/debian/fleetgate.yaml", "config/fleetgate.yaml"],
  ])
    cpSync(join(root, from), join(folder, to));
  // Perl, which every Debian has, may be missing here: a helper process then tells systemd how the gateway
  // is.
  for (const name of ["fleetgate.service", "fleetgate@.service"]) {
    const unit = join(folder, "systemd", name);
    writeFileSync(unit, readFileSync(unit, "utf8").replace("NotifyAccess=main", "NotifyAccess=all"));
  }
  setModes(folder);
  const fixed = [
    "--sort=name",
    "--owner=0",
    "--group=0",
    "--numeric-owner",
    "--format=gnu",
    `--mtime=@${epoch}`,
  ];
  run("tar", ["-C", work, ...fixed, "-I", "gzip -n", "-cf", tarball, name]);
}

/** What the umask of this machine must not decide. */
function setModes(folder) {
  chmodSync(folder, 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) setModes(path);
    else chmodSync(path, programs.test(path) ? 0o755 : 0o644);
  }
}
