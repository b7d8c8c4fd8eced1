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
