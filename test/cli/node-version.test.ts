import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { oldNodeProblem } from "../../src/cli/node-version.ts";
import { endPrograms, newFolder } from "./program.ts";

afterAll(endPrograms);

const { engines }: { engines: { node: string } } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

test("it is the version that package.json asks for", () => {
  const oldest = engines.node.replace(">=", "");
  expect(oldNodeProblem(`${oldest}.0`)).toBeNull();
  expect(oldNodeProblem("18.20.4")).toContain(`needs Node.js ${oldest} or newer, and this is 18.20.4`);
});

test.each([
  ["20.18.3", false],
  ["20.19.0", true],
  ["22.0.0", true],
  ["26.10.0", true],
])("Node.js %s is new enough: %s", (version, isNew) => {
  expect(oldNodeProblem(version) === null).toBe(isNew);
});

test("on an older Node.js the program says in one line what to do, and ends with 78", () => {
  const older = join(newFolder(), "older.cjs");
  writeFileSync(older, 'Object.defineProperty(process.versions, "node", { value: "18.20.4" });');
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ["--require", older, "dist/main.js", "--version"],
    { encoding: "utf8" },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 78,
    stdout: "",
    stderr: `fleetgate: ${oldNodeProblem("18.20.4")}\n`,
  });
});
