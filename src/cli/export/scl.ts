import type { Declaration, FunctionBlock, Section } from "./function-block.ts";

/** What TIA Portal calls the blocks and types of the standard. */
const types: Readonly<Record<string, string>> = {
  BOOL: "Bool",
  DINT: "DInt",
  TON: "{InstructionName := 'TON_TIME'; LibVersion := '1.0'} : TON_TIME",
  R_TRIG: "{InstructionName := 'R_TRIG'; LibVersion := '1.0'} : R_TRIG",
};

/** The block as an external source of TIA Portal, for S7-1200 and S7-1500. */
export function sclSource({ name, comment, sections, body }: FunctionBlock): string {
  const names = new Set(sections.flatMap(({ declarations }) => declarations.map((one) => one.name)));
  return [
    `FUNCTION_BLOCK "${name}"`,
    "{ S7_Optimized_Access := 'TRUE' }",
    "VERSION : 1.0",
    ...(comment === "" ? [] : [`// ${comment}`]),
    ...sections.flatMap(sectionLines),
    "",
    "BEGIN",
    ...withLocalMarks(body, names)
      .trimEnd()
      .split("\n")
      .map((line) => (line === "" ? "" : `    ${line}`)),
    "END_FUNCTION_BLOCK",
    "",
  ].join("\r\n");
}

function sectionLines({ kind, isRetained, declarations }: Section): readonly string[] {
  return [`    ${kind}${isRetained ? " RETAIN" : ""}`, ...declarations.map(declarationLine), "    END_VAR"];
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
 * In SCL a local variable is written `#name`. The formal parameter of a call (`IN := `, `Q` behind a dot) is
 * not one. Comments stay as they are.
 */
function withLocalMarks(body: string, names: ReadonlySet<string>): string {
  return body.replaceAll(/\(\*[\s\S]*?\*\)|(?<![.#\w])([A-Za-z_]\w*)/g, (found, word: string | undefined) =>
    word !== undefined && names.has(word) ? `#${word}` : found,
  );
}
