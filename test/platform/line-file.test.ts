import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createLineFile } from "../../src/platform/line-file.ts";
import { silentLog } from "../../src/platform/log.ts";
import { createChronicle } from "../support/chronicle.ts";
import { createManualClock } from "../support/manual-clock.ts";

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
      const file = createLineFile({ path, maxBytes: 1_000, keep: 2 }, systemClock, silentLog);
      file.append(line);
      await file.close();
    }
    expect(readFileSync(path, "utf8")).toBe("one\ntwo\n");
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is put aside at its size, and only so many are kept", async () => {
    writeFileSync(path, "0123456\n");
    for (const line of ["aaaaaaa", "bbbbbbb", "ccccccc", "ddddddd"]) {
      const file = createLineFile({ path, maxBytes: 16, keep: 1 }, systemClock, silentLog);
      file.append(line);
      await file.close();
    }
    expect(readdirSync(directory).sort()).toEqual(["audit.log", "audit.log.1"]);
    expect(readFileSync(path, "utf8")).toBe("ddddddd\n");
    expect(readFileSync(`${path}.1`, "utf8")).toBe("bbbbbbb\nccccccc\n");
  });

  it("counts what cannot be written, and goes on when it can", async () => {
    mkdirSync(path);
    const file = createLineFile({ path, maxBytes: 16, keep: 1 }, systemClock, silentLog);
    file.append("lost");
    await file.close();
    expect(file.figures()).toEqual({ lines: 0, linesLost: 1 });
    rmSync(path, { recursive: true });
    file.append("kept");
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("kept\n");
  });

  it("does not say that lines can be written while none was", async () => {
    const clock = createManualClock();
    const lines: string[] = [];
    const log = { ...silentLog, info: (_: unknown, message: string) => void lines.push(message) };
    const file = createLineFile({ path, maxBytes: 8, keep: 1 }, clock, log);
    file.append("one");
    await expect.poll(() => existsSync(path) && statSync(path).size).toBe(4);
    // In the way of the file that is put aside.
    mkdirSync(`${path}.1`);
    file.append("longer than it may be");
    await expect.poll(() => file.problem()).not.toBeNull();
    await clock.settle(1_000);
    expect([file.problem() === null, lines]).toEqual([false, []]);
  });

  it("begins a new line where a crash has cut one off", async () => {
    writeFileSync(path, 'whole\n{"at":"2026-01-0');
    const file = createLineFile({ path, maxBytes: 1_000, keep: 2 }, systemClock, silentLog);
    file.append("next");
    await file.close();
    expect(readFileSync(path, "utf8")).toBe('whole\n{"at":"2026-01-0\nnext\n');
  });

  it("makes its folder, for its owner alone", async () => {
    const inner = join(directory, "audit", "audit.jsonl");
    const file = createLineFile({ path: inner, maxBytes: 1_000, keep: 2 }, systemClock, silentLog);
    file.append("one");
    await file.close();
    expect(readFileSync(inner, "utf8")).toBe("one\n");
    expect(statSync(join(directory, "audit")).mode & 0o777).toBe(0o700);
  });

  it("says a full disk once, as its problem, and takes it back when lines come through", async () => {
    const said: string[] = [];
    const log = { ...silentLog, error: (_fields: object, message: string) => void said.push(message) };
    mkdirSync(path);
    const file = createLineFile({ path, maxBytes: 100, keep: 1 }, systemClock, log);
    for (const line of ["a", "b", "c"]) {
      file.append(line);
      await file.close();
    }
    expect(file.figures()).toEqual({ lines: 0, linesLost: 3 });
    expect(file.problem()).toMatch(/EISDIR/);
    expect(said).toEqual(["lines could not be written"]);
    rmSync(path, { recursive: true });
    file.append("d");
    await file.close();
    expect(file.problem()).toBeNull();
  });

  it.skipIf(!existsSync("/dev/full"))("counts the lines that a full disk does not take", async () => {
    const file = createLineFile({ path: "/dev/full", maxBytes: 1_000, keep: 1 }, systemClock, silentLog);
    file.append("lost");
    await file.close();
    expect(file.figures()).toEqual({ lines: 0, linesLost: 1 });
    expect(file.problem()).toMatch(/ENOSPC/);
  });

  it("writes at once, and counts a line when it is on the disk for certain, within a second", async () => {
    const clock = createManualClock();
    // When lines are written, the clock is asked to tell when they are to be synced.
    const written = createChronicle<number>((delayMs) => `to be synced in ${delayMs} ms`);
    const after: typeof clock.after = (delayMs, task) => {
      const cancel = clock.after(delayMs, task);
      written.add(delayMs);
      return cancel;
    };
    const file = createLineFile({ path, maxBytes: 1_000, keep: 1 }, { ...clock, after }, silentLog);
    file.append("one");
    await written.first("the first line", () => true);
    expect(readFileSync(path, "utf8")).toBe("one\n");
    expect(file.figures()).toEqual({ lines: 0, linesLost: 0 });
    clock.advance(1_000);
    // Written when the sync that is due is done.
    file.append("two");
    await written.first("the second line", () => true, 1);
    expect(file.figures()).toEqual({ lines: 1, linesLost: 0 });
    await file.close();
  });

  it("has an end to what waits for a disk", async () => {
    const file = createLineFile({ path, maxBytes: 1_000_000_000, keep: 1 }, systemClock, silentLog);
    // The first is on its way to the disk; the others wait in memory.
    file.append("x");
    for (let number = 0; number < 20; number += 1) file.append("y".repeat(1_000_000));
    await file.close();
    expect(file.figures()).toEqual({ lines: 17, linesLost: 4 });
  });

  it("says once that lines come too fast, and is well again when none was lost for half a minute", async () => {
    const clock = createManualClock();
    const said: string[] = [];
    const log = {
      ...silentLog,
      error: (_fields: object, message: string) => void said.push(message),
      info: (fields: object, message: string) => void said.push(`${message}: ${JSON.stringify(fields)}`),
    };
    const file = createLineFile({ path, maxBytes: 1_000_000_000, keep: 1 }, clock, log);
    // All in one turn of the event loop, in which no disk can take any: two, or three, are too many.
    for (let number = 0; number < 10_003; number += 1) file.append("x");
    const { linesLost } = file.figures();
    expect(linesLost).toBeGreaterThan(0);
    expect(file.problem()).toBe("lines come faster than the disk takes them");
    expect(said).toEqual(["lines come faster than the disk takes them: some are lost"]);
    await file.close();
    expect(file.figures()).toEqual({ lines: 10_003 - linesLost, linesLost });
    expect(file.problem()).not.toBeNull();
    clock.advance(30_000);
    expect(file.problem()).toBeNull();
    const over = JSON.stringify({ path, linesLost });
    expect(said.slice(1)).toEqual([`no line was one too many for half a minute: ${over}`]);
  });

  it("is not well before something is written again, however long ago the last line was lost", async () => {
    const clock = createManualClock();
    const file = createLineFile({ path, maxBytes: 1_000_000_000, keep: 1 }, clock, silentLog);
    for (let number = 0; number < 10_003; number += 1) file.append("x");
    // Still in the same turn: nothing can have reached the disk.
    clock.advance(60_000);
    expect(file.problem()).toBe("lines come faster than the disk takes them");
    await file.close();
    expect(file.problem()).toBeNull();
  });
});
