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

it("reads what it has written", () => {
  expect(unpackTar(packTar(entries))).toEqual(entries);
});

it("is an archive that tar reads, and reads what tar writes in this format", () => {
  const path = join(folder, "a.tar");
  writeFileSync(path, packTar(entries));
  expect(spawnSync("tar", ["-xf", path, "-C", folder]).status).toBe(0);
  expect(readFileSync(join(folder, long), "utf8")).toBe("far below");
  spawnSync("tar", ["--format=ustar", "-cf", path, "-C", folder, "etc"]);
  const names = unpackTar(readFileSync(path)).map(({ name }) => name);
  expect(names).toContain("etc/one-block");
});

it("refuses what it has not written", () => {
  const archive = packTar(entries);
  const flipped = Buffer.from(archive);
  flipped[0] = 0x40;
  expect(() => unpackTar(flipped)).toThrow(ArchiveRefused);
  expect(() => unpackTar(archive.subarray(0, 1_600))).toThrow("it ends in the middle");
  expect(() => unpackTar(archive.subarray(0, archive.length - 1_024))).toThrow("it ends in the middle");
  expect(() => packTar([entry("n".repeat(101), "")])).toThrow("too long for an archive");
  writeFileSync(join(folder, "target"), "");
  spawnSync("ln", ["-s", "target", join(folder, "link")]);
  spawnSync("tar", ["--format=ustar", "-cf", join(folder, "l.tar"), "-C", folder, "link"]);
  expect(() => unpackTar(readFileSync(join(folder, "l.tar")))).toThrow("neither a file nor a folder");
});

it.each(["-0000001000", "-1", "7777777777a", "+10", " 10"])("refuses a size of %s", (size) => {
  const archive = packTar([entry("etc/file", "x")]);
  const header = archive.subarray(0, 512);
  header.fill(0, 124, 136);
  header.write(size, 124);
  header.write("        ", 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\u0000 `, 148);
  // A size of -512 led back to the same header for ever: the archive would not end.
  expect(() => unpackTar(archive)).toThrow("it is no archive that fleetgate has written");
});
