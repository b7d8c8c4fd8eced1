import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { layArm64 } from "./arm64.ts";
import {
  ansible,
  layDebian,
  layForKills,
  layForUpgrades,
  makeNextVersions,
  ownRelease,
  run,
} from "./debian-root.ts";

/** The packages that boot.test.ts looks at, and installs in the Debians of `placesIn`. */
export interface Materials {
  readonly made: readonly string[];
  /** The same commit, built in another folder. */
  readonly again: readonly string[];
  readonly forArm: readonly string[];
  /** The package, and those with higher versions. */
  readonly versions: readonly string[];
}

/** What lies where in the folder of the materials. */
export function placesIn(folder: string) {
  return {
    root: join(folder, "root"),
    upgradesRoot: join(folder, "upgrades"),
    killsRoot: join(folder, "kills"),
    trixie: join(folder, "trixie"),
    arm64: join(folder, "arm64"),
    unpacked: join(folder, "next"),
  };
}

export const debOf = (paths: readonly string[]) => paths.find((path) => path.endsWith(".deb")) ?? "";
export const tarballOf = (paths: readonly string[]) => paths.find((path) => path.endsWith(".tar.gz")) ?? "";

/** Makes the packages, and the Debians: `trixie` is not laid for its script yet. */
export async function makeMaterials(folder: string): Promise<Materials> {
  const { root, upgradesRoot, killsRoot, trixie, arm64, unpacked } = placesIn(folder);
  const [made, again, forArm] = await Promise.all([
    pack(".", join(folder, "made")),
    packElsewhere(join(folder, "again")),
    pack(".", join(folder, "made-for-arm"), "", "arm64"),
    layDebian(root, ownRelease(), ansible),
    layDebian(trixie, "trixie"),
    layArm64(arm64),
  ]);
  const deb = debOf(made);
  for (const copy of [upgradesRoot, killsRoot]) await run("cp", ["-a", root, copy]);
  for (const path of made) copyFileSync(path, join(root, "boot-test", basename(path)));
  const versions = [deb, ...(await makeNextVersions(deb, unpacked, folder))];
  layForUpgrades(upgradesRoot, versions, null);
  layForKills(killsRoot, deb);
  return { made, again, forArm, versions };
}

const LOOK_MS = 1_000;

/** Waits for what make-materials.mjs makes in a folder. */
export async function materialsOf(folder: string): Promise<Materials> {
  while (!existsSync(join(folder, "ended"))) await setTimeout(LOOK_MS);
  const found = join(folder, "materials.json");
  if (!existsSync(found)) throw new Error(readFileSync(join(folder, "log"), "utf8"));
  return JSON.parse(readFileSync(found, "utf8"));
}

/** Makes the packages of the checkout in `folder`, in the folder `out`. @returns their paths */
async function pack(folder: string, out: string, before = "", arch = "amd64"): Promise<readonly string[]> {
  const program = `cd ${folder} && ${before} exec ${process.execPath} packaging/package.mjs --arch ${arch} --out ${out}`;
  await run("sh", ["-c", program], { env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" } });
  return readdirSync(out)
    .sort()
    .map((file) => join(out, file));
}

/** Builds and packs the same commit in another folder, and under another umask. */
async function packElsewhere(out: string): Promise<readonly string[]> {
  // Beside this one, since hard links stay on one file system.
  const folder = mkdtempSync(join(process.cwd(), "../fleetgate-again-"));
  try {
    await run("git", ["clone", "--quiet", "--shared", ".", folder]);
    await linkTo(folder, "node_modules", (name) => name !== ".cache");
    await linkTo(folder, "node_modules/.cache/packages", (name) => !name.startsWith("fetch-"));
    return await pack(folder, out, `umask 077 && ${process.execPath} scripts/build.mjs &&`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Hard links of what a folder has. What another build is downloading may vanish meanwhile. */
async function linkTo(target: string, folder: string, isWanted: (name: string) => boolean): Promise<void> {
  mkdirSync(join(target, folder), { recursive: true });
  const names = existsSync(folder) ? readdirSync(folder).filter(isWanted) : [];
  const paths = names.map((name) => join(folder, name));
  if (paths.length > 0) await run("cp", ["-al", ...paths, join(target, folder)]);
}
