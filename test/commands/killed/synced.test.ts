import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";

/** Whether system calls can be looked at here; CI must not skip. */
const haveStrace = spawnSync("strace", ["-qq", "-o", "/dev/null", "true"]).status === 0;
if (!haveStrace) {
  if (process.env.CI) throw new Error("strace is not installed, or may not trace, and CI must run its tests");
  process.stderr.write("strace is not installed, or may not trace: its tests are skipped\n");
}

const COMMANDS = 40;
const child = join(import.meta.dirname, "child.mjs");

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "synced-"));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** The system calls of a life that write, in the order in which they ended. */
async function trace(defect: string): Promise<readonly string[]> {
  const path = join(directory, "trace");
  const calls = "trace=openat,write,writev,pwrite64,pwritev,fdatasync,fsync,msync";
  const life = [process.execPath, child, directory, String(COMMANDS), "life0", "1", defect];
  const traced = spawn("strace", [
    "-f",
    "--seccomp-bpf",
    "-qq",
    "-s",
    "100000",
    "-e",
    calls,
    "-o",
    path,
    ...life,
  ]);
  const [code] = await once(traced, "exit");
  expect(code).toBe(0);
  return ended(readFileSync(path, "utf8").split("\n"));
}

/** Joins what strace splits when threads cut in: a call counts from when it has ended. */
function ended(lines: readonly string[]): readonly string[] {
  const open = new Map<string, string>();
  return lines.flatMap((line) => {
    const [thread = ""] = line.split(" ");
    if (line.endsWith("<unfinished ...>")) {
      open.set(thread, line.slice(0, -"<unfinished ...>".length));
      return [];
    }
    const resumed = /<\.\.\. \w+ resumed>(.*)$/.exec(line);
    return resumed === null ? [line] : [`${open.get(thread) ?? ""}${resumed[1]}`];
  });
}

/** Commands that left before a page with their record, and the page that makes it count, were synced. */
function unsynced(calls: readonly string[]): readonly string[] {
  const fileOf = (pattern: RegExp) =>
    calls.flatMap((line) => (pattern.test(line) ? [/ = (\d+)$/.exec(line)?.[1] ?? ""] : []));
  const data = new Set(fileOf(/journal\/data\.mdb", O_RDWR\|O_CREAT/));
  const meta = new Set(fileOf(/journal\/data\.mdb", .*O_DSYNC/));
  const [service = ""] = fileOf(/\/service"/);
  expect([data.size, meta.size, service !== ""], "the journal and the service are there").toEqual([
    2,
    1,
    true,
  ]);

  /** Where a command's record is: written, on the disk, and counted by the page that begins the file. */
  const state = new Map<string, "written" | "on disk" | "counts">();
  const found: string[] = [];
  for (const line of calls) {
    const [, name = "", file = ""] = /^\d+ +(\w+)\((\d+)/.exec(line) ?? [];
    if (name.includes("write") && data.has(file)) {
      for (const [, id = ""] of line.matchAll(/cli:me\/(c\d+)/g))
        if (!state.has(id)) state.set(id, "written");
    } else if (name === "fdatasync" && data.has(file)) {
      for (const [id, at] of state) if (at === "written") state.set(id, "on disk");
    } else if (name === "pwrite64" && meta.has(file)) {
      for (const [id, at] of state) if (at === "on disk") state.set(id, "counts");
    } else if (name === "write" && file === service) {
      const id = /"(c\d+)\\n"/.exec(line)?.[1] ?? "";
      if (state.get(id) !== "counts")
        found.push(`${id} left while its record was ${state.get(id) ?? "nowhere"}`);
    }
  }
  return found;
}

const sent = () => readFileSync(join(directory, "service"), "utf8").trim().split("\n");

it.skipIf(!haveStrace)(
  "the system has synced each command's record before the command leaves",
  async () => {
    expect(unsynced(await trace(""))).toEqual([]);
    expect(sent()).toHaveLength(COMMANDS);
  },
  60_000,
);

it.skipIf(!haveStrace)(
  "a planted defect is found: commands that do not wait for the sync",
  async () => {
    // Some are on the disk by luck before they leave, if the process is held up in between.
    expect(unsynced(await trace("sync")).length).toBeGreaterThan(COMMANDS / 4);
    expect(sent()).toHaveLength(COMMANDS);
  },
  60_000,
);
