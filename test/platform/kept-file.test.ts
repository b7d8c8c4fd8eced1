import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createKeptFile, putInPlace, readNowIfThere, replaceFile } from "../../src/platform/kept-file.ts";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kept-file-"));
  path = join(folder, "data", "kept.json");
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("keeps what was written last, for its owner alone, and leaves no draft behind", async () => {
  const file = createKeptFile(path);
  expect(await file.read()).toBeUndefined();
  await file.write("one");
  await file.write("two");
  expect(await createKeptFile(path).read()).toBe("two");
  expect(readNowIfThere(path)).toBe("two");
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, "data"))).toEqual(["kept.json"]);
});

it("gives the file its mode, also over a draft that a crash has left", async () => {
  mkdirSync(join(folder, "data"));
  writeFileSync(`${path}.new`, "half of", { mode: 0o600 });
  chmodSync(`${path}.new`, 0o400);
  await replaceFile(path, "whole", { mode: 0o644, isSynced: false });
  expect(readNowIfThere(path)).toBe("whole");
  expect(statSync(path).mode & 0o777).toBe(0o644);
});

it("writes one text at a time, and of those that wait only the last", async () => {
  const file = createKeptFile(path);
  const order: string[] = [];
  const texts = ["a", "b", "c", "d"];
  const writes = texts.map((text) => file.write(text).then(() => order.push(text)));
  await Promise.all(writes);
  expect(readNowIfThere(path)).toBe("d");
  expect(order).toEqual(["a", "b", "c", "d"]);
});

it("rejects what cannot be written, leaves the old text, and writes the next", async () => {
  const file = createKeptFile(path);
  await file.write("old");
  mkdirSync(`${path}.new`);
  writeFileSync(join(`${path}.new`, "in-the-way"), "");
  const failed = file.write("lost");
  const next = file.write("next");
  await expect(failed).rejects.toThrow();
  await expect(next).rejects.toThrow();
  expect(await file.read()).toBe("old");
  rmSync(`${path}.new`, { recursive: true });
  await file.write("new");
  expect(await file.read()).toBe("new");
});

it("rejects where the file cannot be read, which is not the same as none", async () => {
  mkdirSync(path, { recursive: true });
  await expect(createKeptFile(path).read()).rejects.toThrow("EISDIR");
  expect(() => readNowIfThere(path)).toThrow("EISDIR");
});

it("puts a file that another has written in its place", async () => {
  const draft = join(folder, "draft");
  const place = join(folder, "place");
  writeFileSync(draft, "made elsewhere");
  await putInPlace(draft, place);
  expect([existsSync(draft), readNowIfThere(place)]).toEqual([false, "made elsewhere"]);
});
