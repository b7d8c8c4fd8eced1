import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readLinesBack } from "../../src/platform/line-file.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lines-back-"));
  path = join(directory, "audit.log");
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

/** What is read of the files, newest first, until a line says "enough". */
async function read(mostBytes = 10_000_000, keep = 2): Promise<{ lines: string[]; isAll: boolean }> {
  const lines: string[] = [];
  const isAll = await readLinesBack({ path, keep }, mostBytes, (line) => {
    lines.push(line);
    return line !== "enough";
  });
  return { lines, isAll };
}

describe("lines from the end of a file on", () => {
  it("go on in the files that were put aside, as many as are kept", async () => {
    writeFileSync(path, "");
    writeFileSync(`${path}.1`, "c\nd\n");
    writeFileSync(`${path}.2`, "a\nb\n");
    writeFileSync(`${path}.3`, "of another time\n");
    expect(await read()).toEqual({ lines: ["d", "c", "b", "a"], isAll: true });
    rmSync(path);
    expect(await read()).toEqual({ lines: ["d", "c", "b", "a"], isAll: true });
  });

  it("are none where there is no file", async () => {
    expect(await read()).toEqual({ lines: [], isAll: true });
  });

  it("end where enough was read, or no more may be: then a line is given whole or not at all", async () => {
    writeFileSync(path, "three\nenough\none\n");
    writeFileSync(`${path}.1`, "four\n");
    expect(await read()).toEqual({ lines: ["one", "enough"], isAll: true });
    expect(await read(9)).toEqual({ lines: ["one"], isAll: false });
    writeFileSync(path, "two\none\n");
    expect(await read(8)).toEqual({ lines: ["one", "two"], isAll: false });
    expect(await read(13)).toEqual({ lines: ["one", "two", "four"], isAll: true });
  });

  it("are whole when they are longer than what is read at once, and what a crash cut off is given as it stands", async () => {
    const long = `${"é".repeat(400_000)}!`;
    writeFileSync(path, `first\n${long}\n{"at":"20`);
    const { lines, isAll } = await read();
    expect([lines[0], lines[1] === long, lines[2], lines.length, isAll]).toEqual([
      '{"at":"20',
      true,
      "first",
      3,
      true,
    ]);
  });

  it("are refused where something else is in the place of the file", async () => {
    mkdirSync(path);
    await expect(read()).rejects.toThrow("EISDIR");
  });
});
