// Makes what a release ships: a Debian package and a tarball of the same tree, each with its own Node.js.
// Usage: npm run package -- [--arch amd64|arm64] [--out FOLDER]
// The same sources give the same bytes: times are those of SOURCE_DATE_EPOCH, or else of the last commit.
import { createHash } from "node:crypto";
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
import { makeDeb } from "./deb.mjs";
import { nodeBinary, shippedVersion } from "./node-binary.mjs";
import { run } from "./run.mjs";
import { sbomOf } from "./sbom.mjs";
import { laySlimTree, packagesOf } from "./slim-tree.mjs";

/** What a user runs. */
const programs = /\/fleetgate-package-\w+\/[^/]+\/bin\/(node|fleetgate)$/;
const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const { values: options } = parseArgs({
  options: { arch: { type: "string", default: "amd64" }, out: { type: "string", default: "dist-packages" } },
});
const { arch } = options;
if (arch !== "amd64" && arch !== "arm64") throw new Error(`--arch ${arch}: amd64 or arm64`);
const out = resolve(options.out);
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run("git", ["-C", root, "log", "-1", "--format=%ct"]));
const at = new Date(epoch * 1_000).toISOString();
const cache = join(root, "node_modules", ".cache", "packages");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const work = mkdtempSync(join(tmpdir(), "fleetgate-package-"));
try {
  const tree = join(work, "tree");
  const packages = packagesOf(root, arch, cache);
  laySlimTree(root, tree, arch, nodeBinary(shippedVersion, arch, cache), packages);
  writeFileSync(join(tree, "dist", "build.json"), `${JSON.stringify({ builtAt: at })}\n`);
  const sbom = sbomOf(manifest, packages, shippedVersion, at);
  writeFileSync(join(tree, "sbom.cdx.json"), `${JSON.stringify(sbom, null, 2)}\n`);
  setModes(tree);

  mkdirSync(out, { recursive: true });
  const deb = join(out, `fleetgate_${manifest.version}_${arch}.deb`);
  makeDeb({ root, tree, work, deb, version: manifest.version, arch, epoch, packages });
  const tarball = join(out, `fleetgate-${manifest.version}-linux-${arch}.tar.gz`);
  makeTarball(tree, tarball);
  for (const file of [deb, tarball]) {
    const hash = createHash("sha256").update(readFileSync(file)).digest("hex");
    process.stdout.write(`${hash}  ${basename(file)}  ${(statSync(file).size / 1e6).toFixed(1)} MB\n`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** The tree with what the Debian package has elsewhere: the pages, the examples and the unit. */
function makeTarball(tree, tarball) {
  const name = `fleetgate-${manifest.version}`;
  const folder = join(work, name);
  run("cp", ["-al", tree, folder]);
  for (const part of ["docs", "config"]) cpSync(join(root, part), join(folder, part), { recursive: true });
  for (const part of ["README.md", "CHANGELOG.md"]) cpSync(join(root, part), join(folder, part));
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
