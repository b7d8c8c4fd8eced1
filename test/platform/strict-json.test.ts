import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readJson } from "../../src/platform/strict-json.ts";

describe("JSON in which a key stands twice", () => {
  it.each<[string, (string | number)[], string]>([
    ['{"a":1,"a":1}', [], "a"],
    ['{"a":{"b":{"c":1,"d":2,"c":3}}}', ["a", "b"], "c"],
    ['{"a":[[],[{"x":1},{"x":1,"x":2}]]}', ["a", 1, 1], "x"],
    ['{"a":"}","b\\\\":"\\"","b\\\\":null}', [], "b\\"],
    ['{"a":1,"\\u0061":2}', [], "a"],
    ['{"__proto__":1,"__proto__":2}', [], "__proto__"],
    ['{"":1 , "" :2}', [], ""],
    ['[{"a":{"b":1},"a":{"b":1}}]', [0], "a"],
  ])("%s is refused with its place", (text, path, key) => {
    expect(readJson(text)).toMatchObject({ ok: false, kind: "repeated", path, key });
  });

  it("says which keys the outermost object repeats, wherever the first one was", () => {
    const read = readJson('{"r":{"x":1,"x":2},"id":1,"id":2}');
    expect(read).toMatchObject({ path: ["r"], key: "x", atTop: new Set(["id"]), value: { id: 2 } });
  });

  it("is found at any depth that is read, and in no more time than the text is long", () => {
    const deep = `${'{"c":1,"c":'.repeat(100)}1${"}".repeat(100)}`;
    expect(readJson(deep)).toMatchObject({ path: [], key: "c" });
    const many = `{${Array.from({ length: 40_000 }, (_, index) => `"k${index}":0`).join()},"k0":1}`;
    expect(readJson(many)).toMatchObject({ key: "k0" });
    expect(readJson(`"${"\\\\".repeat(100_000)}"`)).toMatchObject({ ok: true });
  });
});

test("the same key in different objects is no repetition", () => {
  const text = '{"a":{"a":{"a":[{"a":1},{"a":2}]}},"b":["a","a",{}],"c":{"b":"a\\\\"}}';
  expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
});

test("what is nested too deep is refused before it is parsed", () => {
  const lists = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  expect(readJson(lists(100))).toMatchObject({ ok: true });
  const refused = { ok: false, kind: "nested", deepest: 100 };
  for (const text of [lists(101), "[".repeat(100_000), `[1,"]",${'{"a":'.repeat(100)}0`])
    expect(readJson(text)).toEqual(refused);
  for (const text of [`["${"[".repeat(200)}"]`, `["\\"${"[".repeat(100)}\\\\"]`, `[${"[],".repeat(100)}0]`])
    expect(readJson(text)).toMatchObject({ ok: true });
});

test("what is no JSON is refused as such", () => {
  for (const text of ['"', '["', '["\\"', "]".repeat(100), '["['])
    expect(readJson(text)).toMatchObject({ kind: "syntax" });
  expect(readJson('{"a":1,"a":')).toMatchObject({ ok: false, kind: "syntax" });
});

test("whatever JSON can say is read as JSON.parse reads it, and one key more is refused", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, key) => {
      const text = JSON.stringify(value, null, 1);
      expect(readJson(text)).toEqual({ ok: true, value: JSON.parse(text) });
      const name = JSON.stringify(key);
      expect(readJson(`{${name}:${text},${name}:${text}}`)).toMatchObject({ path: [], key });
    }),
  );
});
