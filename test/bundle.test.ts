import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const dist = join(process.cwd(), "dist");
const parts = readdirSync(dist).filter((name) => name.endsWith(".js"));
const textOf = (name: string) => readFileSync(join(dist, name), "utf8");

/** The part and what it imports before its first line runs, with what that imports. */
function loadedWith(name: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, imported] of textOf(name).matchAll(/^(?:im|ex)port\b[^;]*?"\.\/([^"]+\.js)";$/gm)) {
    if (imported !== undefined) loadedWith(imported, seen);
  }
  return seen;
}

function partWith(module: string): string {
  const found = parts.filter((name) => textOf(name).includes(`\n// ${module}\n`));
  expect(found, module).toHaveLength(1);
  return found[0] ?? "";
}

describe("the bundle", () => {
  it.each(["composition/gateway", "northbound/web/server", "simulator/simulator", "cli/program"])(
    "%s loads nothing of node-opcua, which a gateway without OPC UA does not need",
    (module) => {
      const loaded = [...loadedWith(partWith(`.build/${module}.js`))];
      expect(loaded.length).toBeGreaterThan(1);
      expect(loaded.filter((name) => /^\/\/ node_modules\/node-opcua/m.test(textOf(name)))).toEqual([]);
    },
  );

  it("has node-opcua where OPC UA is loaded", () => {
    const loaded = [...loadedWith(partWith(".build/northbound/opcua/server.js"))];
    expect(loaded.some((name) => /^\/\/ node_modules\/node-opcua/m.test(textOf(name)))).toBe(true);
  });

  // V8 keeps the text of every part, and takes two bytes for each character if one is beyond Latin-1.
  it("has no character that doubles the memory of its text", () => {
    const isLatin1 = (text: string) => Buffer.from(text, "latin1").toString("latin1") === text;
    expect(parts.filter((name) => !isLatin1(textOf(name)))).toEqual([]);
  });
});
