import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type ArchiveEntry, ArchiveRefused, packTar, unpackTar } from "../../../src/platform/archive/tar.ts";

const entry = (name: string, text: string): ArchiveEntry => ({
  name,
  kind: "file",
  mode: 0o640,
  owner: "root",
  group: "root",
  changedMs: 1_700_000_000_000,
  content: Buffer.from(text),
});
const long = `${"folder/".repeat(20)}${"n".repeat(90)}.pem`;
const entries = [
  { ...entry("etc/secrets", ""), kind: "folder" as const, mode: 0o750 },
  entry("etc/empty", ""),
  entry("etc/one-block", "x".repeat(512)),
  entry("etc/Größe", "grün"),
  entry(long, "far below"),
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tar-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("reads what it has written", async () => {
  expect(await unpackTar(await packTar(entries))).toEqual(entries);
});

it("is an archive that tar reads, and reads what tar writes in this format", async () => {
  const path = join(folder, "a.tar");
  const name = "n".repeat(200);
  writeFileSync(path, await packTar([...entries, entry(name, "a long name")]));
  expect(spawnSync("tar", ["-xf", path, "-C", folder]).status).toBe(0);
  expect(readFileSync(join(folder, long), "utf8")).toBe("far below");
  expect(readFileSync(join(folder, name), "utf8")).toBe("a long name");
  spawnSync("tar", ["--format=ustar", "-cf", path, "-C", folder, "etc"]);
  const names = (await unpackTar(readFileSync(path))).map((each) => each.name);
  expect(names).toContain("etc/one-block");
});

it("refuses what it has not written", async () => {
  const archive = await packTar(entries);
  const flipped = Buffer.from(archive);
  flipped[0] = 0x40;
  for (const damaged of [flipped, archive.subarray(0, 1_600), archive.subarray(0, archive.length - 1_024)]) {
    await expect(unpackTar(damaged)).rejects.toThrow(ArchiveRefused);
    await expect(unpackTar(damaged)).rejects.toThrow("it is damaged, or no archive");
  }
  writeFileSync(join(folder, "target"), "");
  spawnSync("ln", ["-s", "target", join(folder, "link")]);
  spawnSync("tar", ["--format=ustar", "-cf", join(folder, "l.tar"), "-C", folder, "link"]);
  await expect(unpackTar(readFileSync(join(folder, "l.tar")))).rejects.toThrow("neither a file nor a folder");
});

it.each(["-0000001000", "-1", "7777777777a", "+10", "77777777777"])("refuses a size of %s", async (size) => {
  const archive = await packTar([entry("etc/file", "x")]);
  const header = archive.subarray(0, 512);
  header.fill(0, 124, 136);
  header.write(size, 124);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  // A size of -512 that leads back would make the archive endless.
  await expect(unpackTar(archive)).rejects.toThrow("it is damaged, or no archive");
});
