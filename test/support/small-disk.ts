import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own, which a test can fill to the last byte. */
export interface SmallDisk {
  readonly path: string;
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives it back. */
  free(): Promise<void>;
  unmount(): Promise<void>;
}

/** CAP_SYS_ADMIN among the bits that Linux shows. */
const MAY_MOUNT = 1n << 21n;

/** Whether this process has the right to mount one; nothing that could be installed would give it. */
export function mayMount(): boolean {
  if (!existsSync("/proc/self/status")) return false;
  const bits = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
  return bits !== undefined && (BigInt(`0x${bits}`) & MAY_MOUNT) !== 0n;
}

/** On 24 MB lmdb's first files and a margin fit. Rejects without the right to mount. */
export async function mountSmallDisk(megabytes = 24): Promise<SmallDisk> {
  const path = await mkdtemp(join(tmpdir(), "fleetgate-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  if (mounted.status !== 0) {
    await rm(path, { recursive: true });
    throw new Error(`mount: ${mounted.stderr}`);
  }
  const filling = join(path, "filling");
  return {
    path,
    fill() {
      const file = openSync(filling, "a");
      try {
        for (;;) writeSync(file, Buffer.alloc(4_096, 1));
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rm(filling, { force: true }),
    async unmount() {
      spawnSync("umount", ["-l", path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
