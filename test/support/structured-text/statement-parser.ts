import { parseExpression, parsePath } from "./expression-parser.ts";
import { StructuredTextError } from "./structured-text-error.ts";
import type { Branch, Case, CaseLabel, Parameter, Path, Statement } from "./syntax.ts";
import type { Token } from "./token.ts";
import type { TokenCursor } from "./token-cursor.ts";

/** The statements up to the first token that no statement begins with. */
export function parseStatements(cursor: TokenCursor): readonly Statement[] {
  const statements: Statement[] = [];
  for (;;) {
    if (cursor.accept(";") !== null) continue;
    const statement = parseStatement(cursor);
    if (statement === null) return statements;
    statements.push(statement);
    cursor.expect(";", " after the statement");
  }
}

function parseStatement(cursor: TokenCursor): Statement | null {
  const at = cursor.peek();
  if (at.kind === "name") return parseAssignmentOrCall(cursor);
  if (cursor.accept("IF") !== null) return parseIf(cursor, at);
  if (cursor.accept("CASE") !== null) return parseCase(cursor, at);
  if (cursor.accept("FOR") !== null) return parseFor(cursor, at);
  if (cursor.accept("WHILE") !== null) return { kind: "while", at, loop: parseWhile(cursor, at) };
  if (cursor.accept("REPEAT") !== null) return { kind: "repeat", at, loop: parseRepeat(cursor, at) };
  if (cursor.accept("EXIT") !== null) return { kind: "exit", at };
  if (cursor.accept("RETURN") !== null) return { kind: "return", at };
  return null;
}

function parseAssignmentOrCall(cursor: TokenCursor): Statement {
  const path = parsePath(cursor);
  if (cursor.accept("(") !== null)
    return { kind: "call", at: path.at, block: path, parameters: parseParameters(cursor) };
  if (cursor.accept(":=") === null) throw cursor.unexpected(`":=" or "(" after "${path.name}"`);
  return { kind: "assign", at: path.at, target: path, value: parseExpression(cursor) };
}

function parseParameters(cursor: TokenCursor): readonly Parameter[] {
  const parameters: Parameter[] = [];
  if (cursor.accept(")") !== null) return parameters;
  do {
    const at = cursor.expectName("a parameter (name := value, or name => variable)");
    if (cursor.accept(":=") !== null)
      parameters.push({ kind: "in", at, name: at.text, value: parseExpression(cursor) });
    else if (cursor.accept("=>") !== null)
      parameters.push({ kind: "out", at, name: at.text, target: parsePath(cursor) });
    else throw cursor.unexpected(`":=" or "=>" after "${at.text}"`);
  } while (cursor.accept(",") !== null);
  cursor.expect(")");
  return parameters;
}

function parseIf(cursor: TokenCursor, at: Token): Statement {
  const branches: Branch[] = [];
  do {
    const condition = parseExpression(cursor);
    cursor.expect("THEN", " after the condition");
    branches.push({ condition, body: parseStatements(cursor) });
  } while (cursor.accept("ELSIF") !== null);
  const otherwise = cursor.accept("ELSE") === null ? [] : parseStatements(cursor);
  close(cursor, "END_IF", at);
  return { kind: "if", at, branches, otherwise };
}

function parseCase(cursor: TokenCursor, at: Token): Statement {
  const selector = parseExpression(cursor);
  cursor.expect("OF", " after the selector");
  const cases: Case[] = [];
  while (!cursor.sees("ELSE", "END_CASE")) {
    if (cases.length > 0 && cursor.peek().kind !== "literal" && !cursor.sees("-")) break;
    const labels = parseLabels(cursor);
    cursor.expect(":", " after the label");
    cases.push({ labels, body: parseStatements(cursor) });
  }
  const otherwise = cursor.accept("ELSE") === null ? [] : parseStatements(cursor);
  close(cursor, "END_CASE", at);
  return { kind: "case", at, selector, cases, otherwise };
}

function parseLabels(cursor: TokenCursor): readonly CaseLabel[] {
  const labels: CaseLabel[] = [];
  do {
    const at = cursor.peek();
    const first = cursor.expectInteger("an integer as label");
    const last = cursor.accept("..") === null ? first : cursor.expectInteger("the last integer of the range");
    if (last < first) throw new StructuredTextError(at, `the range ${first}..${last} is empty`);
    labels.push({ at, first, last });
  } while (cursor.accept(",") !== null);
  return labels;
}

function parseFor(cursor: TokenCursor, at: Token): Statement {
  const name = cursor.expectName("the variable of the FOR");
  const variable: Path = { at: name, name: name.text, steps: [] };
  cursor.expect(":=");
  const from = parseExpression(cursor);
  cursor.expect("TO");
  const to = parseExpression(cursor);
  const by = cursor.accept("BY") === null ? null : parseExpression(cursor);
  cursor.expect("DO");
  const body = parseStatements(cursor);
  close(cursor, "END_FOR", at);
  return { kind: "for", at, variable, from, to, by, body };
}

function parseWhile(cursor: TokenCursor, at: Token): Branch {
  const condition = parseExpression(cursor);
  cursor.expect("DO");
  const body = parseStatements(cursor);
  close(cursor, "END_WHILE", at);
  return { condition, body };
}

function parseRepeat(cursor: TokenCursor, at: Token): Branch {
  const body = parseStatements(cursor);
  close(cursor, "UNTIL", at);
  const condition = parseExpression(cursor);
  close(cursor, "END_REPEAT", at);
  return { condition, body };
}

function close(cursor: TokenCursor, end: string, opened: Token): void {
  cursor.expect(end, ` for the ${opened.text} of line ${opened.line}`);
}
