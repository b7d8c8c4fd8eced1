import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { mayMount } from "./small-disk.ts";

/** A file system on a disk of its own, which the kernel can make read-only as after an error of the disk. */
export interface FailingDisk {
  readonly path: string;
  /** From now on every write fails with EROFS, also to files that are open. */
  fail(): void;
  unmount(): Promise<void>;
}

/** The kernel's ext4, its tools and a loop device: a container may lack each of them. */
export function hasFailingDisk(): boolean {
  const hasLoop = existsSync("/dev/loop-control") && existsSync("/sys/fs/ext4");
  return hasLoop && mayMount() && spawnSync("mkfs.ext4", ["-V"]).status === 0;
}

/** Of 48 MB. Rejects without the right to mount one. */
export async function mountFailingDisk(): Promise<FailingDisk> {
  const folder = await mkdtemp(join(tmpdir(), "fleetgate-failing-"));
  const path = join(folder, "disk");
  const image = join(folder, "image");
  run("mkdir", path);
  run("truncate", "-s", "48M", image);
  run("mkfs.ext4", "-q", "-F", image);
  run("mount", "-o", "loop,errors=remount-ro", image, path);
  const device = basename(run("findmnt", "-no", "SOURCE", path).trim());
  return {
    path,
    fail: () => writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, "1"),
    async unmount() {
      spawnSync("umount", ["-l", path]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`${program}: ${stderr ?? ""}`, { cause: error });
  return stdout;
}
