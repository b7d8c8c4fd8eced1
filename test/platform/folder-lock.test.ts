import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FolderLocked, lockFolder } from "../../src/platform/folder-lock.ts";

const haveUnshare = spawnSync("unshare", ["--pid", "--fork", "true"]).status === 0;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lock-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const lock = (path = folder) => lockFolder(path, "use another");
const holders = () => readdirSync(join(folder, "lock"));

const holderScript = `
  import { lockFolder } from ${JSON.stringify(join(process.cwd(), ".build/platform/folder-lock.js"))};
  await lockFolder(process.argv[1], "");
  process.stdout.write("held");
  setInterval(() => {}, 1_000);
`;

/** A process that holds the folder. */
async function holder(...before: readonly string[]) {
  const [program = "", ...rest] = [
    ...before,
    process.execPath,
    "--input-type=module",
    "-e",
    holderScript,
    folder,
  ];
  const child = spawn(program, rest, { stdio: ["ignore", "pipe", "inherit"] });
  const [said] = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  expect(String(said)).toBe("held");
  return child;
}

describe("the lock of a folder", () => {
  it("keeps a second one out, names the process, and leaves nothing behind", async () => {
    const held = await lock();
    await expect(lock()).rejects.toThrow(
      new FolderLocked(`${folder} is in use by process ${process.pid}: use another`),
    );
    expect(holders()).toHaveLength(1);
    await held[Symbol.asyncDispose]();
    expect(holders()).toEqual([]);
    await (await lock())[Symbol.asyncDispose]();
  });

  it("is for one alone, of many who ask at once", async () => {
    for (let round = 0; round < 20; round += 1) {
      const asked = await Promise.allSettled(Array.from({ length: 5 }, () => lock()));
      const held = asked.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
      expect(held.length).toBeLessThanOrEqual(1);
      for (const each of held) await each[Symbol.asyncDispose]();
    }
  });

  it("reaches a folder that is deeper than the address of a socket", async () => {
    const deep = join(folder, "d".repeat(120), "e".repeat(120));
    const held = await lock(deep);
    await expect(lock(deep)).rejects.toThrow(/is in use by process/);
    await held[Symbol.asyncDispose]();
  });

  it("says why a folder cannot be locked", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(lock(join(folder, "file"))).rejects.toThrow("file is a file, no folder");
  });

  it("leaves alone what is no lock", async () => {
    mkdirSync(join(folder, "lock"));
    writeFileSync(join(folder, "lock", "note"), "");
    await (await lock())[Symbol.asyncDispose]();
    expect(holders()).toEqual(["note"]);
  });
});

describe("another process", () => {
  it("keeps the folder until it is killed, and not longer", async () => {
    const child = await holder();
    await expect(lock()).rejects.toThrow(`${folder} is in use by process ${child.pid}: use another`);
    // One that hangs is alive all the same.
    child.kill("SIGSTOP");
    await expect(lock()).rejects.toThrow(/is in use/);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(holders(), "a kill leaves its socket behind").toHaveLength(1);
    const held = await lock();
    expect(holders(), "and the next one removes it").toHaveLength(1);
    await held[Symbol.asyncDispose]();
    expect(holders()).toEqual([]);
  });

  it.skipIf(!haveUnshare)("is noticed from another container, where process numbers are others", async () => {
    const child = await holder("unshare", "--pid", "--net", "--fork", "--kill-child");
    await expect(lock()).rejects.toThrow(/is in use by process 1: use another/);
    child.kill("SIGKILL");
    await once(child, "exit");
  });
});
