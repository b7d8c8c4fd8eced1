import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** The ports on this machine of a process's connections over IPv4. */
export function portsOf(pid: number): ReadonlySet<number> {
  const inodes = new Set(readdirSync(`/proc/${pid}/fd`).flatMap((fd) => inodeOf(`/proc/${pid}/fd/${fd}`)));
  const [, ...lines] = readFileSync(`/proc/${pid}/net/tcp`, "utf8").trim().split("\n");
  const ports = lines.flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [address = "", inode = ""] = [fields[1], fields[9]];
    return inodes.has(inode) ? [Number.parseInt(address.split(":")[1] ?? "", 16)] : [];
  });
  return new Set(ports);
}

function inodeOf(path: string): readonly string[] {
  try {
    const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1];
    return inode === undefined ? [] : [inode];
  } catch {
    // It was closed meanwhile.
    return [];
  }
}
