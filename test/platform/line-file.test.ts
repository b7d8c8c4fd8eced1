import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLineFile } from "../../src/platform/line-file.ts";
import { silentLog } from "../../src/platform/log.ts";

let directory: string;
let path: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lines-"));
  path = join(directory, "audit.log");
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

describe("a file of lines", () => {
  it("adds to what is there, for its owner's eyes only", async () => {
    for (const line of ["one", "two"]) {
      const file = createLineFile({ path, maxBytes: 1_000, keep: 2 }, silentLog);
      file.append(line);
      await file.close();
    }
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is put aside at its size, and only so many are kept", async () => {
    writeFileSync(path, "0123456\n");
    for (const line of ["aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"]) {
      const file = createLineFile({ path, maxBytes: 16, keep: 1 }, silentLog);
      file.append(line);
      await file.close();
    }
    expect(readdirSync(directory).sort()).toEqual(["audit.log", "audit.log.1"]);
    expect(readFileSync(path, "utf8")).toBe("ddddddd\n");
    expect(readFileSync(`${path}.1`, "utf8")).toBe("bbbbbbb\nccccccc\n");
  });

  it("counts what cannot be written, and goes on when it can", async () => {
    mkdirSync(path);
    const file = createLineFile({ path, maxBytes: 16, keep: 1 }, silentLog);
    file.append("lost");
    await file.close();
    expect(file.figures()).toEqual({ lines: 0, linesLost: 1 });
    rmSync(path, { recursive: true });
    file.append("kept");
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("kept\n");
  });
});
