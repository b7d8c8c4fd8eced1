import type { BinaryOperator, Expression, Path, PathStep } from "./syntax.ts";
import type { TokenCursor } from "./token-cursor.ts";

/** The binary operators, from the one that binds least (IEC 61131-3, operators of ST). `&` is AND. */
const precedence: readonly (readonly (BinaryOperator | "&")[])[] = [
  ["OR"],
  ["XOR"],
  ["AND", "&"],
  ["=", "<>"],
  ["<", ">", "<=", ">="],
  ["+", "-"],
  ["*", "/", "MOD"],
];

export function parseExpression(cursor: TokenCursor, level = 0): Expression {
  const operators = precedence[level];
  if (operators === undefined) return parseUnary(cursor);
  let left = parseExpression(cursor, level + 1);
  for (;;) {
    const at = cursor.peek();
    const found = operators.find((operator) => cursor.accept(operator) !== null);
    if (found === undefined) return left;
    const operator = found === "&" ? "AND" : found;
    left = { kind: "binary", at, operator, left, right: parseExpression(cursor, level + 1) };
  }
}

/** A variable with its indices and members: `a`, `a[i]`, `fb.Q`. */
export function parsePath(cursor: TokenCursor): Path {
  const first = cursor.expectName("a variable");
  const steps: PathStep[] = [];
  for (;;) {
    const at = cursor.peek();
    if (cursor.accept("[") !== null) {
      const index = parseExpression(cursor);
      cursor.expect("]");
      steps.push({ kind: "index", at, index });
    } else if (cursor.accept(".") !== null) {
      const member = cursor.expectName("a variable of the function block");
      steps.push({ kind: "member", at: member, name: member.text });
    } else return { at: first, name: first.text, steps };
  }
}

function parseUnary(cursor: TokenCursor): Expression {
  const at = cursor.peek();
  if (cursor.accept("NOT") !== null)
    return { kind: "unary", at, operator: "NOT", operand: parseUnary(cursor) };
  if (cursor.accept("-") !== null) return { kind: "unary", at, operator: "-", operand: parseUnary(cursor) };
  return parsePrimary(cursor);
}

function parsePrimary(cursor: TokenCursor): Expression {
  const at = cursor.peek();
  if (cursor.accept("(") !== null) {
    const inner = parseExpression(cursor);
    cursor.expect(")");
    return inner;
  }
  const literal = cursor.acceptLiteral();
  if (literal !== null) return { kind: "literal", at, literal: literal.literal };
  if (at.kind !== "name") throw cursor.unexpected("an expression");
  const following = cursor.peek(1);
  if (following.kind === "symbol" && following.text === "(") return parseFunctionCall(cursor);
  return { kind: "variable", at, path: parsePath(cursor) };
}

function parseFunctionCall(cursor: TokenCursor): Expression {
  const at = cursor.expectName("a function");
  cursor.expect("(");
  const values = [parseExpression(cursor)];
  while (cursor.accept(",") !== null) values.push(parseExpression(cursor));
  cursor.expect(")");
  return { kind: "call", at, name: at.text, values };
}
