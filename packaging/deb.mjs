// The Debian package: the tree in /usr/lib/fleetgate, with unit, user, configuration and pages where Debian
// has them.
import { createHash } from "node:crypto";
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { font } from "../scripts/console-packages.mjs";
import { licenceOf } from "./licences.mjs";
import { run } from "./run.mjs";
import { folderOf } from "./slim-tree.mjs";

/** Makes the file `deb` of the tree. */
export function makeDeb({ root, tree, work, deb, version, arch, epoch, packages }) {
  const stage = join(work, "deb");
  const sources = join(root, "packaging", "debian");
  const put = (path, text, mode = 0o644) => {
    mkdirSync(dirname(join(stage, path)), { recursive: true });
    writeFileSync(join(stage, path), text);
    chmodSync(join(stage, path), mode);
  };
  const source = (name) => readFileSync(join(sources, name), "utf8");

  mkdirSync(join(stage, "usr", "lib"), { recursive: true });
  run("cp", ["-al", tree, join(stage, "usr/lib/fleetgate")]);
  mkdirSync(join(stage, "usr", "bin"), { recursive: true });
  // Only postinst makes this version the current one.
  symlinkSync("../lib/fleetgate-versions/current/bin/fleetgate", join(stage, "usr/bin/fleetgate"));
  for (const unit of ["fleetgate.service", "fleetgate@.service"])
    for (const folder of ["usr/lib/systemd/system", "usr/lib/fleetgate/systemd"])
      put(`${folder}/${unit}`, readFileSync(join(root, "systemd", unit)));
  put("usr/lib/sysusers.d/fleetgate.conf", source("sysusers.conf"));
  put("usr/share/fleetgate/fleetgate.yaml", source("fleetgate.yaml"));
  mkdirSync(join(stage, "etc/fleetgate/secrets"), { recursive: true });
  putDocumentation(root, stage, put, { version, epoch, packages, copyright: source("copyright") });
  put("usr/share/lintian/overrides/fleetgate", source("lintian-overrides"));
  setFolderModes(stage);

  const size = installedKiB(stage);
  const values = { version, arch, size: String(size) };
  const filled = (name) => source(name).replace(/\{(\w+)\}/g, (_whole, key) => values[key]);
  put("DEBIAN/control", filled("control"));
  put("DEBIAN/preinst", filled("preinst"), 0o755);
  for (const name of ["postinst", "prerm", "postrm"]) put(`DEBIAN/${name}`, source(name), 0o755);
  put("DEBIAN/md5sums", sumsOf(stage));
  chmodSync(join(stage, "DEBIAN"), 0o755);
  // One thread: with more, xz cuts the data into blocks, and another machine would make other bytes. Level 6
  // would take three times as long, for 4 MB less.
  run("dpkg-deb", ["--root-owner-group", "-Zxz", "-z2", "--threads-max=1", "--build", stage, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(epoch) },
  });
}

function putDocumentation(root, stage, put, { version, epoch, packages, copyright }) {
  const doc = "usr/share/doc/fleetgate";
  for (const entry of readdirSync(join(root, "docs"), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const name = relative(join(root, "docs"), path);
    if (entry.isFile() && !name.startsWith("internals/")) put(`${doc}/${name}`, readFileSync(path));
  }
  for (const name of ["CHANGELOG.md", "SECURITY.md"]) put(`${doc}/${name}`, readFileSync(join(root, name)));
  put(`${doc}/copyright`, `${copyright}${packages.map(copyrightOf).join("")}${fontCopyright}`);
  put(`${doc}/changelog.gz`, gzipSync(changelog(version, epoch), { level: 9 }));
  const examples = join(root, "config", "examples");
  cpSync(join(root, "config"), join(stage, doc, "examples"), {
    recursive: true,
    filter: (path) => path !== examples,
  });
  cpSync(examples, join(stage, doc, "examples"), { recursive: true });
  for (const name of readdirSync(join(stage, doc, "examples"), { recursive: true })) {
    const path = join(stage, doc, "examples", name);
    if (lstatSync(path).isFile()) chmodSync(path, 0o644);
  }
}

/** Debian's own changelog. What has changed stands in CHANGELOG.md. */
function changelog(version, epoch) {
  const at = new Date(epoch * 1_000).toUTCString().replace("GMT", "+0000");
  return `fleetgate (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${maintainer}  ${at}\n`;
}
const maintainer = "Fleetgate maintainers <maintainers@fleetgate.invalid>";

const fontCopyright = [
  "",
  `Files: usr/lib/fleetgate/${font.folder}/*`,
  "Copyright: The Inter Project Authors",
  `License: ${font.licence}`,
  " The font is a part of usr/lib/fleetgate/dist/console.",
  " The text is in this folder.",
  "",
].join("\n");

function copyrightOf(packed) {
  const { name: packageName, from, isBundled } = packed;
  const { author } = JSON.parse(readFileSync(join(from, "package.json"), "utf8"));
  const name = typeof author === "string" ? author : author?.name;
  return [
    "",
    `Files: usr/lib/fleetgate/${folderOf(packed)}/*`,
    `Copyright: ${(name ?? `the authors of ${packageName}`).replace(/\s+/g, " ").trim()}`,
    `License: ${licenceOf(packed)}`,
    ...(isBundled ? [" The code is a part of usr/lib/fleetgate/dist."] : []),
    " The text is in this folder.",
    "",
  ].join("\n");
}

/** Folders that the umask of this machine must not close. Only the package's user may read secrets. */
function setFolderModes(folder) {
  chmodSync(folder, folder.endsWith("/etc/fleetgate/secrets") ? 0o750 : 0o755);
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (lstatSync(path).isDirectory()) setFolderModes(path);
  }
}

/** By Debian's rule: each file rounded up to 1 KiB, and 1 KiB for everything else. */
function installedKiB(folder) {
  return readdirSync(folder, { recursive: true }).reduce((sum, name) => {
    const about = lstatSync(join(folder, name));
    return sum + (about.isFile() ? Math.ceil(about.size / 1024) : 1);
  }, 0);
}

function sumsOf(stage) {
  return readdirSync(stage, { recursive: true })
    .filter((name) => !/^(DEBIAN|etc)\b/.test(name) && lstatSync(join(stage, name)).isFile())
    .sort()
    .map(
      (name) =>
        `${createHash("md5")
          .update(readFileSync(join(stage, name)))
          .digest("hex")}  ${name}\n`,
    )
    .join("");
}
