import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FG_COMMAND, FG_LOAD_STATION } from "../../../src/cli/export/block-files.ts";
import { readFunctionBlock } from "../../../src/cli/export/function-block.ts";
import { parseStructuredText } from "../../support/structured-text/parser.ts";
import { endPrograms, fleetgate, newFolder } from "../program.ts";

const blocks = { FG_Command: FG_COMMAND, FG_LoadStation: FG_LOAD_STATION } as const;
type BlockName = keyof typeof blocks;
const blockNames = Object.keys(blocks) as BlockName[];
const names = blockNames.flatMap((name) =>
  (["st", "xml", "scl"] as const).map((end) => `${name}.${end}` as const),
);
let files: Readonly<Record<(typeof names)[number], string>>;
beforeAll(async () => {
  const folder = newFolder();
  const program = fleetgate(folder, "export", "opcua", "--out", "plc/blocks");
  expect(await program.ended).toMatchObject({ code: 0 });
  const texts = names.map((name) => [name, readFileSync(join(folder, "plc/blocks", name), "utf8")]);
  files = Object.fromEntries(texts);
});
afterAll(endPrograms);

test("the block beside the pages, which test/e2e/plc-page runs, is what is exported", () => {
  expect(readFileSync("docs/examples/FG_Command.st", "utf8")).toBe(files["FG_Command.st"]);
});

/** The text of an XML element's content. */
const unescaped = (text: string) =>
  text.replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&amp;", "&");

test.each(blockNames)(
  "PLCopen XML has the same block %s: its variables, and its statements word for word",
  (name) => {
    const xml = files[`${name}.xml`];
    const block = readFunctionBlock(blocks[name]);
    const [, body = ""] = /<body><ST><xhtml [^>]*>([\s\S]*?)<\/xhtml><\/ST><\/body>/.exec(xml) ?? [];
    expect(unescaped(body)).toBe(block.body);
    const variables = [...xml.matchAll(/<variable name="(\w+)"><type>(.*?)<\/type>/g)];
    expect(variables.map(([, variable]) => variable)).toEqual(
      block.sections.flatMap(({ declarations }) => declarations.map((one) => one.name)),
    );
    expect(variables.map(([, , type]) => type)).toEqual(
      expect.arrayContaining([
        "<BOOL/>",
        '<array><dimension lower="0" upper="19"/><baseType><DINT/></baseType></array>',
        '<derived name="TON"/>',
      ]),
    );
    expect(xml.match(/<localVars retain="true">/g)).toHaveLength(1);
  },
);

test.each(blockNames)("%s has each kind of section once, as compilers expect", (name) => {
  const kinds = readFunctionBlock(blocks[name]).sections.map(
    ({ kind, isRetained }) => `${kind} ${isRetained}`,
  );
  expect(kinds).toEqual([...new Set(kinds)]);
  expect(files[`${name}.scl`].match(/^ {4}VAR_INPUT\r$/gm)).toHaveLength(1);
});

test("PLCopen XML has first values, of a flag and of a time", () => {
  expect(files["FG_LoadStation.xml"]).toContain(
    '<variable name="MoveTime"><type><TIME/></type><initialValue><simpleValue value="T#30s"/>',
  );
  expect(files["FG_LoadStation.xml"]).toContain('<variable name="slot"><type><derived name="FG_Command"/>');
  expect(files["FG_Command.xml"]).toContain(
    '<variable name="closing"><type><BOOL/></type><initialValue><simpleValue value="TRUE"/>',
  );
});

test("SCL has the same statements, with its marks of local variables and its own names of types", () => {
  const scl = files["FG_Command.scl"].replaceAll("\r\n", "\n");
  const block = readFunctionBlock(FG_COMMAND);
  const [, statements = ""] = /\nBEGIN\n([\s\S]*)END_FUNCTION_BLOCK\n$/.exec(scl) ?? [];
  const plain = statements.replaceAll(/^ {4}/gm, "").replaceAll(/(?<!T)#/g, "");
  expect(plain.trim()).toBe(block.body.trim());
  expect(statements).toContain("#silence(IN := #active AND NOT #accepted AND NOT #closing, PT := T#5s);");
  expect(statements).toContain("#next[0] := #my;");
  expect(scl).toContain("        Answer : Array[0..19] of DInt;");
  expect(scl).toContain("silence {InstructionName := 'TON_TIME'; LibVersion := '1.0'} : TON_TIME;");
  expect(scl).toMatch(/\n {4}VAR RETAIN\n {8}my : DInt; {3}\/\/ the number in use\n/);
});

test("what stands in the file is a program that the interpreter accepts", () => {
  expect(() => parseStructuredText(files["FG_Command.st"], files["FG_LoadStation.st"])).not.toThrow();
});

test("SCL of the load station reads its tags from a type of their own, and marks no formal parameter", () => {
  const scl = files["FG_LoadStation.scl"].replaceAll("\r\n", "\n");
  expect(scl).toMatch(/^TYPE "UDT_FG_Station"\nVERSION : 1.0\n {4}STRUCT\n/);
  expect(scl).toContain(
    "a station without a permit leaves it as it is\n    END_STRUCT;\nEND_TYPE\n\nFUNCTION_BLOCK ",
  );
  expect(scl).toContain('        Tags : "UDT_FG_Station";   // what was read of the station\n');
  expect(scl).toContain("#rolls := #here AND #Tags.Rolling[#place];");
  expect(scl).toContain("IF #Connected THEN #told := #Tags.Answer; END_IF;");
  expect(scl).toContain("        MoveTime : Time := T#30s;\n");
  expect(scl).toContain('        slot : "FG_Command";\n');
  const { body } = readFunctionBlock(FG_LOAD_STATION);
  const [, statements = ""] = /\nBEGIN\n([\s\S]*)END_FUNCTION_BLOCK\n$/.exec(scl) ?? [];
  const plain = statements
    .replaceAll(/^ {4}/gm, "")
    .replaceAll("#Tags.", "")
    .replaceAll(/(?<!T)#/g, "");
  expect(plain.trim()).toBe(body.trim());
});

test.each([
  ["FUNCTION_BLOCK A\nVAR\n    a : BOOL\nEND_VAR\n\nEND_FUNCTION_BLOCK\n", "not a declaration:     a : BOOL"],
  ["PROGRAM A\nEND_PROGRAM\n", "not a function block"],
])("a block of another form is refused: %j", (source, problem) => {
  expect(() => readFunctionBlock(source)).toThrow(problem);
});
