/** A variable of a function block. */
export interface Declaration {
  readonly name: string;
  /** The source text: `BOOL`, `ARRAY[0..11] OF DINT`, or the name of another block. */
  readonly type: string;
  /** The source text; null: the default of the type. */
  readonly initial: string | null;
  /** For people; may be empty. */
  readonly comment: string;
}

export interface Section {
  readonly kind: "VAR_INPUT" | "VAR_OUTPUT" | "VAR";
  /** Whether its variables are kept over a loss of power. */
  readonly isRetained: boolean;
  readonly declarations: readonly Declaration[];
}

/** A function block in structured text, parsed as far as other formats need it. */
export interface FunctionBlock {
  readonly name: string;
  readonly comment: string;
  readonly sections: readonly Section[];
  /** The statements, in the block's own lines. */
  readonly body: string;
}

const frame =
  /^FUNCTION_BLOCK (\w+)\n(?:\(\* (.*) \*\)\n)?((?:VAR(?:_INPUT|_OUTPUT)?(?: RETAIN)?\n[\s\S]*?\nEND_VAR\n)+)\n([\s\S]*?)END_FUNCTION_BLOCK\n$/;
const sectionFrame = /^(VAR(?:_INPUT|_OUTPUT)?)( RETAIN)?\n([\s\S]*?)\nEND_VAR$/gm;
const line = /^ *([\w, ]+?) *: *(.+?)(?: := ([\w#]+))?; *(?:\(\* (.*) \*\))?$/;

/**
 * Parses one of our own blocks, which have one comment for each declaration, on its line. Throws for any
 * other form.
 */
export function readFunctionBlock(source: string): FunctionBlock {
  const [, name = "", comment = "", variables = "", body = ""] = frame.exec(source) ?? [];
  if (name === "") throw new Error("not a function block of the form that is exported");
  const sections = [...variables.matchAll(sectionFrame)].map(
    ([, kind, retain, text = ""]): Section => ({
      kind: kind as Section["kind"],
      isRetained: retain !== undefined,
      declarations: text.split("\n").flatMap(declarationsOf),
    }),
  );
  return { name, comment, sections, body };
}

function declarationsOf(text: string): readonly Declaration[] {
  const [, names, type = "", initial = null, comment = ""] = line.exec(text) ?? [];
  if (names === undefined) throw new Error(`not a declaration: ${text}`);
  return names.split(", ").map((name) => ({ name, type, initial, comment }));
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as an attribute or an element has it. */
export function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** TIA Portal's names of standard blocks and types. */
const types: Readonly<Record<string, string>> = {
  BOOL: "Bool",
  DINT: "DInt",
  TIME: "Time",
  TON: "{InstructionName := 'TON_TIME'; LibVersion := '1.0'} : TON_TIME",
  R_TRIG: "{InstructionName := 'R_TRIG'; LibVersion := '1.0'} : R_TRIG",
};

/** Some inputs of a block as one input with a type of its own (UDT), which a read of an S7 fills at once. */
export interface SclStructure {
  readonly typeName: string;
  /** The input of that type. */
  readonly name: string;
  readonly comment: string;
  readonly members: readonly Declaration[];
}

/** The block as an external source of TIA Portal, for S7-1200 and S7-1500. */
export function sclSource(
  { name, comment, sections, body }: FunctionBlock,
  structure: SclStructure | null = null,
): string {
  const paths = new Map(
    sections.flatMap(({ declarations }) => declarations.map((one) => [one.name, `#${one.name}`])),
  );
  for (const member of structure?.members ?? []) paths.set(member.name, `#${structure?.name}.${member.name}`);
  return [
    ...(structure === null ? [] : typeLines(structure)),
    `FUNCTION_BLOCK "${name}"`,
    "{ S7_Optimized_Access := 'TRUE' }",
    "VERSION : 1.0",
    ...(comment === "" ? [] : [`// ${comment}`]),
    ...sections.flatMap((section) => sectionLines(section, structure)),
    "",
    "BEGIN",
    ...withLocalMarks(body, paths)
      .trimEnd()
      .split("\n")
      .map((line) => (line === "" ? "" : `    ${line}`)),
    "END_FUNCTION_BLOCK",
    "",
  ].join("\r\n");
}

function typeLines({ typeName, members }: SclStructure): readonly string[] {
  return [
    `TYPE "${typeName}"`,
    "VERSION : 1.0",
    "    STRUCT",
    ...members.map(declarationLine),
    "    END_STRUCT;",
    "END_TYPE",
    "",
  ];
}

function sectionLines(
  { kind, isRetained, declarations }: Section,
  structure: SclStructure | null,
): readonly string[] {
  const own = declarations.filter((one) => structure?.members.includes(one) !== true);
  const lines = own.map(declarationLine);
  if (structure !== null && own.length < declarations.length)
    lines.unshift(
      declarationLine({
        name: structure.name,
        type: structure.typeName,
        initial: null,
        comment: structure.comment,
      }),
    );
  return [`    ${kind}${isRetained ? " RETAIN" : ""}`, ...lines, "    END_VAR"];
}

function declarationLine({ name, type, initial, comment }: Declaration): string {
  const value = initial === null ? "" : ` := ${initial}`;
  const note = comment === "" ? "" : `   // ${comment}`;
  return `        ${name} ${typeText(type)}${value};${note}`;
}

function typeText(type: string): string {
  const [, range, base] = /^ARRAY\[(\d+\.\.\d+)\] OF (\w+)$/.exec(type) ?? [];
  if (base !== undefined) return `: Array[${range}] of ${types[base] ?? base}`;
  const text = types[type] ?? `"${type}"`;
  return text.startsWith("{") ? text : `: ${text}`;
}

/**
 * In SCL a local variable is written `#name`. The formal parameter of a call (`IN := `, `Q` after a dot) is
 * not marked, even if a local variable has the same name. Comments stay as they are.
 */
function withLocalMarks(body: string, paths: ReadonlyMap<string, string>): string {
  const words = /\(\*[\s\S]*?\*\)|[(,]\s*[A-Za-z_]\w*\s*(?::=|=>)|(?<![.#\w])([A-Za-z_]\w*)/g;
  return body.replaceAll(words, (found, word: string | undefined) =>
    word === undefined ? found : (paths.get(word) ?? found),
  );
}
