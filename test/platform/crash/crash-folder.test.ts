import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createCrashFolder } from "../../../src/platform/crash/crash-folder.ts";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "crash-"));
});
afterEach(() => {
  rmSync(path, { recursive: true, force: true });
});

const report = (at: string) => ({
  version: "1",
  node: "24",
  pid: 1,
  bootId: "",
  startedAt: at,
  at,
  cause: "a test",
  stack: null,
});

it("keeps the last reports, also where a clock was ahead when the earlier ones were made", async () => {
  const folder = createCrashFolder(path);
  const ahead = Array.from({ length: 10 }, (_, minute) => `2069-01-01T00:0${minute}:00.000Z`);
  for (const at of ahead) folder.keep(report(at));
  folder.keep(report("2026-01-01T00:00:00.000Z"));
  const names = await folder.names();
  expect(names).toHaveLength(10);
  expect(names.at(-1)).toBe("crash-2026-01-01T00-00-00.000Z-11.json");
  expect(names[0]).toBe("crash-2069-01-01T00-01-00.000Z-2.json");
});

it("takes reports without a number as older", async () => {
  writeFileSync(join(path, "crash-2069-01-01T00-00-00.000Z.json"), "{}");
  const folder = createCrashFolder(path);
  folder.keep(report("2026-01-01T00:00:00.000Z"));
  expect((await folder.names()).at(-1)).toBe("crash-2026-01-01T00-00-00.000Z-1.json");
});
