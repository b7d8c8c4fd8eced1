import { type DataType, defaultStringBytes } from "./data-type.ts";
import { parseExpression } from "./expression-parser.ts";
import { parseStatements } from "./statement-parser.ts";
import { StructuredTextError } from "./structured-text-error.ts";
import type { Declaration, Initial, Program, RepeatedInitial, Section, Unit } from "./syntax.ts";
import { createTokenCursor, type TokenCursor } from "./token-cursor.ts";

/** The sections of a PROGRAM or FUNCTION_BLOCK. */
const unitSections = ["VAR", "VAR_INPUT", "VAR_OUTPUT", "VAR_IN_OUT"] as const;

/**
 * Reads structured text, a subset of IEC 61131-3. Several texts are one program.
 *
 * - Units: PROGRAM, FUNCTION_BLOCK, VAR_GLOBAL. Statements outside of a unit, with the VAR blocks before
 *   them, are a program without a name; they come last in their text.
 * - Types: BOOL, INT, DINT, REAL, LREAL, TIME, `STRING[n]` or `STRING(n)`, `ARRAY[a..b] OF`, function blocks,
 *   and the standard ones TON, TOF, R_TRIG, F_TRIG.
 * - Statements: assignment, call of a function block, IF, CASE, FOR, WHILE, REPEAT, EXIT, RETURN.
 * - Functions: see standard-function.ts.
 *
 * @throws StructuredTextError for the first mistake
 */
export function parseStructuredText(...texts: readonly string[]): Program {
  const globals: Declaration[] = [];
  const units: Unit[] = [];
  for (const text of texts) {
    const cursor = createTokenCursor(text);
    while (cursor.peek().kind !== "end") {
      if (cursor.sees("VAR_GLOBAL")) globals.push(...parseSection(cursor, "VAR_GLOBAL"));
      else if (cursor.sees("FUNCTION_BLOCK")) units.push(parseUnit(cursor, "block"));
      else if (cursor.sees("PROGRAM")) units.push(parseUnit(cursor, "program"));
      else units.push(parseStatementsWithoutUnit(cursor));
    }
  }
  return { globals, units };
}

/** Reads a type alone: `DINT`, `ARRAY[0..11] OF DINT`. */
export function parseType(text: string): DataType {
  const cursor = createTokenCursor(text);
  const type = parseDataType(cursor);
  if (cursor.peek().kind !== "end") throw cursor.unexpected("the end of the type");
  return type;
}

function parseUnit(cursor: TokenCursor, kind: Unit["kind"]): Unit {
  const keyword = kind === "block" ? "FUNCTION_BLOCK" : "PROGRAM";
  const at = cursor.expect(keyword);
  const name = cursor.expectName(`the name of the ${keyword}`).text;
  const declarations = parseDeclarations(cursor);
  const body = parseStatements(cursor);
  cursor.expect(`END_${keyword}`, ` for the ${keyword} of line ${at.line}`);
  return { kind, at, name, declarations, body };
}

function parseStatementsWithoutUnit(cursor: TokenCursor): Unit {
  const at = cursor.peek();
  const declarations = parseDeclarations(cursor);
  const body = parseStatements(cursor);
  if (cursor.peek().kind !== "end") throw cursor.unexpected("a statement or the end of the text");
  return { kind: "program", at, name: "", declarations, body };
}

function parseDeclarations(cursor: TokenCursor): readonly Declaration[] {
  const declarations: Declaration[] = [];
  for (;;) {
    const section = unitSections.find((keyword) => cursor.sees(keyword));
    if (section === undefined) return declarations;
    declarations.push(...parseSection(cursor, section));
  }
}

function parseSection(cursor: TokenCursor, section: Section): readonly Declaration[] {
  const opened = cursor.expect(section);
  const retained = cursor.accept("RETAIN");
  if (retained !== null && section === "VAR_IN_OUT")
    throw new StructuredTextError(retained, "a VAR_IN_OUT has no value of its own to retain");
  const declarations: Declaration[] = [];
  while (cursor.peek().kind === "name") {
    const names = [cursor.expectName("a variable")];
    while (cursor.accept(",") !== null) names.push(cursor.expectName("a variable"));
    cursor.expect(":", " and a type");
    const type = parseDataType(cursor);
    const assigned = cursor.accept(":=");
    const initial = assigned === null ? null : parseInitial(cursor);
    if (assigned !== null && section === "VAR_IN_OUT")
      throw new StructuredTextError(assigned, "a VAR_IN_OUT has no initial value");
    cursor.expect(";", " after the declaration");
    for (const at of names)
      declarations.push({ at, name: at.text, section, retain: retained !== null, type, initial });
  }
  cursor.expect("END_VAR", ` for the ${section} of line ${opened.line}`);
  return declarations;
}

function parseDataType(cursor: TokenCursor): DataType {
  for (const kind of ["BOOL", "INT", "DINT", "REAL", "LREAL", "TIME"] as const)
    if (cursor.accept(kind) !== null) return { kind };
  if (cursor.accept("STRING") !== null) return { kind: "STRING", maxBytes: parseStringLength(cursor) };
  if (cursor.accept("ARRAY") !== null) return parseArrayType(cursor);
  if (cursor.peek().kind !== "name") throw cursor.unexpected("a type");
  return { kind: "block", name: cursor.expectName("a type").text };
}

function parseStringLength(cursor: TokenCursor): number {
  const opened = cursor.accept("[") ?? cursor.accept("(");
  if (opened === null) return defaultStringBytes;
  const length = cursor.expectInteger("the length of the STRING");
  cursor.expect(opened.text === "[" ? "]" : ")");
  if (length < 1) throw new StructuredTextError(opened, `a STRING has at least 1 byte, found ${length}`);
  return length;
}

function parseArrayType(cursor: TokenCursor): DataType {
  cursor.expect("[");
  const at = cursor.peek();
  const low = cursor.expectInteger("the first index of the ARRAY");
  cursor.expect("..");
  const high = cursor.expectInteger("the last index of the ARRAY");
  if (high < low) throw new StructuredTextError(at, `ARRAY[${low}..${high}] has no element`);
  cursor.expect("]");
  cursor.expect("OF");
  return { kind: "ARRAY", low, high, of: parseDataType(cursor) };
}

function parseInitial(cursor: TokenCursor): Initial {
  const at = cursor.peek();
  if (cursor.accept("[") === null) return { kind: "value", expression: parseExpression(cursor) };
  const items: RepeatedInitial[] = [];
  do items.push(parseRepeatedInitial(cursor));
  while (cursor.accept(",") !== null);
  cursor.expect("]");
  return { kind: "array", at, items };
}

function parseRepeatedInitial(cursor: TokenCursor): RepeatedInitial {
  const following = cursor.peek(1);
  if (cursor.peek().kind !== "literal" || following.kind !== "symbol" || following.text !== "(")
    return { count: 1, initial: parseInitial(cursor) };
  const count = cursor.expectInteger("how often the value is repeated");
  cursor.expect("(");
  const initial = parseInitial(cursor);
  cursor.expect(")");
  return { count, initial };
}
