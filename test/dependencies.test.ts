import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withoutComments } from "./support/imports.ts";

const declaration =
  /^(?:export )?(?:interface|type) (\w+)(?:<[^=>{]*>)?(?:\s+extends\s+([^{]*?)|\s*=\s*(?!\|)([^;{]*?))?\s*(?:\{(\}|\n[\s\S]*?^\})|;)/gm;
const bagName = /(?:Parts|Dependencies|Deps)$/;

/** Of an interface `…Parts`, `…Dependencies` or `…Deps` outside the composition root. */
const mostMembers = 8;
/** A spread takes values that the constructor does not name, and freezes those that a reload changes. */
const mostSpreads = 20;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path) && !path.startsWith("wire/"))
  .map((path) => ({ path, text: withoutComments(readFileSync(join("src", path), "utf8")) }));

describe("dependencies", () => {
  it("outside the composition root, a constructor takes at most eight", () => {
    const members = membersOf(sources.map(({ text }) => text).join("\n"));
    const bags = sources
      .filter(({ path }) => !path.startsWith("composition/"))
      .flatMap(({ path, text }) => bagsIn(text).map((name) => ({ path, name, members: members(name).size })));
    expect(bags.length).toBeGreaterThan(50);
    const larger = bags.filter((bag) => bag.members > mostMembers);
    expect(larger).toEqual([]);
  });

  it("are passed by name, and hardly ever spread", () => {
    const spreads = sources.flatMap(({ path, text }) => spreadBags(text).map((name) => `${path} ...${name}`));
    expect(spreads.length, spreads.join("\n")).toBeLessThanOrEqual(mostSpreads);
  });

  it("are counted with those that are inherited or picked, and their spreads are found", () => {
    const text = `
interface Shared extends Base {
  readonly clock: Clock;
  readonly log?: Log;
}
interface Base {
  readonly id: string;
}
export interface SomeParts extends Pick<Shared, "clock" | "id">, Base {
  readonly one: { readonly inner: string };
  two(): void;
}
interface OtherParts extends Omit<SomeParts, "two">, Shared {}
type ShortParts = Pick<Shared, "clock"> & {
  readonly three: string;
};
function a(parts: SomeParts, { id, ...rest }: OtherParts) {
  return b({ ...parts, ...rest, ...others, id });
}
`;
    expect(bagsIn(text)).toEqual(["SomeParts", "OtherParts", "ShortParts"]);
    const members = membersOf(text);
    expect([...members("SomeParts")].sort()).toEqual(["clock", "id", "one", "two"]);
    expect([...members("OtherParts")].sort()).toEqual(["clock", "id", "log", "one"]);
    expect([...members("ShortParts")].sort()).toEqual(["clock", "three"]);
    expect(spreadBags(text)).toEqual(["parts", "rest"]);
  });
});

/** The names of the interfaces of dependencies that a text declares. */
function bagsIn(text: string): readonly string[] {
  return Array.from(text.matchAll(declaration), ([, name = ""]) => name).filter((name) => bagName.test(name));
}

/** Returns the members of an interface by its name, with those that it inherits or picks. */
function membersOf(text: string): (name: string) => ReadonlySet<string> {
  const declared = new Map(
    Array.from(text.matchAll(declaration), ([, name = "", heirs = "", equal = "", body = ""]) => [
      name,
      { parents: `${heirs} ${equal}`, own: namesIn(body, /^ {2}(?:readonly )?(\w+)\??[:(<]/gm) },
    ]),
  );
  return function members(name): ReadonlySet<string> {
    const { parents = "", own = [] } = declared.get(name) ?? {};
    const all = new Set(own);
    const others = parents.replace(/\b(Pick|Omit)<\s*(\w+),([^>]*)>/g, (_all, how, base, keys) => {
      const listed = namesIn(keys, /"(\w+)"/g);
      const kept = how === "Pick" ? listed : [...members(base)].filter((each) => !listed.includes(each));
      for (const each of kept) all.add(each);
      return "";
    });
    for (const parent of namesIn(others, /(\w+)/g)) for (const each of members(parent)) all.add(each);
    return all;
  };
}

/** The values of such interfaces that are spread into an object, by name. */
function spreadBags(text: string): readonly string[] {
  const typed = namesIn(text, /(\w+)(?: \})?: (?:(?:Pick|Omit)<)?\w*(?:Parts|Dependencies|Deps|Shared)\b/g);
  const bags = new Set([...typed, "parts", "dependencies"]);
  // No rest of parameters or of a pattern, and nothing that is spread into a list or a call.
  const spread = namesIn(text, /(?<![[(]\s*)\.\.\.([\w.]+)(?!\w)(?!\s*[:\])]| \}(?::| =))/g);
  return spread.filter((name) => bags.has(name.split(".").at(-1) ?? ""));
}

function namesIn(text: string, pattern: RegExp): string[] {
  return Array.from(text.matchAll(pattern), ([, name = ""]) => name);
}
