import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { absent } from "../../scripts/unbundled.mjs";

/** Runs a program to its end. Rejects with what it said when it fails. */
export const run = promisify(execFile);

const LARGEST_OUTPUT_BYTES = 64_000_000;
/** Far beyond what the script needs, so that a boot that hangs fails too. */
const BOOT_TIMEOUT_MS = 16 * 60_000;

/** What the machine that boots must have. */
export const bootPrograms = [
  "mmdebstrap",
  "systemd-nspawn",
  "lintian",
  "dpkg-deb",
  "buildah",
  "qemu-aarch64-static",
];

const units = {
  "boot-test.service": [
    "[Unit]",
    "After=multi-user.target",
    "SuccessAction=poweroff-force",
    "FailureAction=poweroff-force",
    "[Service]",
    "Type=oneshot",
    "ExecStart=/boot-test/in-container.sh",
    "StandardOutput=append:/boot-test/log",
    "StandardError=append:/boot-test/log",
    "TimeoutStartSec=900",
  ],
  // The plant's own machine, and no part of the package.
  "simulator.service": [
    "[Service]",
    "ExecStart=/boot-test/simulator-program/bin/fleetgate simulate --json --data /boot-test/simulator",
  ],
};

/** The release of this machine. */
export function ownRelease(): string {
  const [, release = ""] = /^VERSION_CODENAME=(\S+)$/m.exec(readFileSync("/etc/os-release", "utf8")) ?? [];
  return release;
}

/** Of the machine of the first installation. */
export const ansible = ["ansible-core", "python3-apt"];

/** Lays a Debian of a release with systemd in `root`, from the sources of this machine. */
export async function layDebian(
  root: string,
  release: string,
  furtherPackages: readonly string[] = [],
): Promise<void> {
  const packages = ["systemd-sysv", "libstdc++6", "procps", "curl", "ca-certificates", ...furtherPackages];
  const quiet = ["--quiet", "--mode=root", "--variant=minbase", `--include=${packages.join(",")}`];
  await run("mmdebstrap", [...quiet, release, root]);
  const wanted = join(root, "etc/systemd/system/default.target.wants");
  mkdirSync(wanted, { recursive: true });
  for (const [name, lines] of Object.entries(units))
    writeFileSync(join(root, "etc/systemd/system", name), `${lines.join("\n")}\n`);
  symlinkSync("../boot-test.service", join(wanted, "boot-test.service"));
  mkdirSync(join(root, "boot-test"));
  for (const name of ["in-container.sh", "steps.sh", "plant.yaml", "ansible.yml"])
    cpSync(join("test/package", name), join(root, "boot-test", name));
  cpSync("packaging/ansible", join(root, "boot-test/ansible"), { recursive: true });
  await bundlePlant(join(root, "boot-test/plant.mjs"));
}

/**
 * Makes a laid Debian run the script of upgrades.
 *
 * @param packages the first version, and those that follow
 * @param only the steps that it takes; null: all
 */
export function layForUpgrades(
  root: string,
  packages: readonly string[],
  only: readonly string[] | null,
): void {
  const folder = join(root, "boot-test");
  for (const path of packages) cpSync(path, join(folder, basename(path)));
  if (only !== null) writeFileSync(join(folder, "only"), `${only.join("\n")}\n`);
  cpSync("test/package/outage.mjs", join(folder, "outage.mjs"));
  cpSync("test/package/upgrades.sh", join(folder, "in-container.sh"));
}

/** Makes a laid Debian run the script that kills the scripts of the package. */
export function layForKills(root: string, deb: string): void {
  const folder = join(root, "boot-test");
  cpSync(deb, join(folder, basename(deb)));
  cpSync("test/package/small-node.sh", join(folder, "small-node.sh"));
  cpSync("test/package/killed-upgrades.sh", join(folder, "in-container.sh"));
  mkdirSync(join(folder, "kill"));
  for (const name of ["cp", "ln", "mkdir", "mv", "rm", "sync", "systemctl"])
    cpSync("test/package/kill-at.sh", join(folder, "kill", name));
}

/** Versions that follow: by name, what they change in the files of the package. */
const nextVersions: Readonly<Record<string, (read: Change) => void>> = {
  next: (change) => change("usr/share/fleetgate/fleetgate.yaml", (text) => `${text}# As of now.\n`),
  broken: (change) => change(MAIN, (text) => inRun(text, 'throw new Error("broken on purpose")')),
  partless: (change) =>
    change(MAIN, (text) => inRun(text, 'process.argv[4] = "/etc/fleetgate/no-mqtt.yaml"')),
};
const MAIN = "usr/lib/fleetgate/dist/main.js";
type Change = (path: string, edit: (text: string) => string) => void;

/** Behind the line that names the interpreter. */
function inRun(text: string, statement: string): string {
  return text.replace(/^#!.*\n|^/, (line) => `${line}if (process.argv[2] === "run") ${statement};\n`);
}

/** Makes packages with higher versions of `deb` in a folder: `next.deb` and others. @returns their paths */
export async function makeNextVersions(
  deb: string,
  unpacked: string,
  folder: string,
): Promise<readonly string[]> {
  await run("dpkg-deb", ["--raw-extract", deb, unpacked]);
  for (const [name, edit] of Object.entries(nextVersions)) {
    const before = new Map<string, string>();
    const change: Change = (path, editText) => {
      const file = join(unpacked, path);
      before.set(file, readFileSync(file, "utf8"));
      writeFileSync(file, editText(readFileSync(file, "utf8")));
    };
    change("DEBIAN/control", (text) => text.replace(/^Version: .*$/m, `$&+${name}`));
    change("usr/lib/fleetgate/package.json", (text) => text.replace(/"version": "[^"]*/, `$&+${name}`));
    edit(change);
    const made = join(folder, `${name}.deb`);
    await run("dpkg-deb", ["--root-owner-group", "-Znone", "--build", unpacked, made]);
    for (const [file, text] of before) writeFileSync(file, text);
  }
  return Object.keys(nextVersions).map((name) => join(folder, `${name}.deb`));
}

/** The root has no packages of npm. */
async function bundlePlant(file: string): Promise<void> {
  const bundle = await rolldown({
    input: "test/package/plant.mjs",
    platform: "node",
    external: absent,
    transform: { define: { __dirname: "import.meta.dirname", __filename: "import.meta.filename" } },
  });
  await bundle.write({ file, codeSplitting: false });
  await bundle.close();
  // node-opcua looks for one above itself.
  writeFileSync(join(dirname(file), "package.json"), "{}");
}

/** What the script in a container found. */
export interface Booted {
  readonly results: string;
  readonly log: string;
  /** What it measured, a line each. */
  readonly figures: string;
}

/** Boots it without a network, until its script has ended. */
export async function boot(root: string): Promise<Booted> {
  const own = ["--register=no", "--keep-unit", "--private-network", "--quiet"];
  const container = run("systemd-nspawn", [...own, "-b", "-D", root], {
    timeout: BOOT_TIMEOUT_MS,
    killSignal: "SIGKILL",
    maxBuffer: LARGEST_OUTPUT_BYTES,
  });
  container.child.stdin?.end();
  const said = await container.then(
    ({ stdout }) => stdout,
    (error: unknown) => String(error),
  );
  const read = (name: string) => {
    try {
      return readFileSync(join(root, "boot-test", name), "utf8");
    } catch {
      return "";
    }
  };
  return { results: read("results"), log: `${said}\n${read("log")}`, figures: read("figures") };
}
