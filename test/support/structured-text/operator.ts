import { commonType, convertTo, convertToBoolean, type Expr, isNumeric } from "./conversion.ts";
import { type ExpressionType, typeName } from "./data-type.ts";
import { inRange } from "./literal.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Arithmetic, BinaryOperator, Comparison, UnaryOperator } from "./syntax.ts";
import { asNumber, type Value } from "./value.ts";

const logic: Readonly<Record<"AND" | "OR" | "XOR", (a: boolean, b: boolean) => boolean>> = {
  AND: (a, b) => a && b,
  OR: (a, b) => a || b,
  XOR: (a, b) => a !== b,
};

const comparisons: Readonly<Record<Comparison, (a: Value, b: Value) => boolean>> = {
  "=": (a, b) => a === b,
  "<>": (a, b) => a !== b,
  "<": (a, b) => a < b,
  ">": (a, b) => a > b,
  "<=": (a, b) => a <= b,
  ">=": (a, b) => a >= b,
};

export function compileUnary(at: Position, operator: UnaryOperator, operand: Expr): Expr {
  if (operator === "NOT") {
    const evaluate = convertToBoolean(operand);
    return { at, type: { kind: "BOOL" }, evaluate: (slots) => !evaluate(slots) };
  }
  const { type } = operand;
  if (!isNumeric(type) && type.kind !== "TIME")
    throw new StructuredTextError(at, `a number or TIME expected after "-", found ${typeName(type)}`);
  const evaluate = asNumber(operand.evaluate);
  const result = boundOf(type, at);
  // The literal 2147483648 is no DINT, but its negative is.
  if (type.kind === "integer literal") return { at, type, evaluate: (slots) => 0 - evaluate(slots) };
  return { at, type, evaluate: (slots) => result(0 - evaluate(slots)) };
}

/** Both sides are evaluated always, as the standard has it: `i <= 9 AND a[i]` still reads `a[10]`. */
export function compileBinary(at: Position, operator: BinaryOperator, left: Expr, right: Expr): Expr {
  switch (operator) {
    case "AND":
    case "OR":
    case "XOR": {
      const [a, b] = [convertToBoolean(left), convertToBoolean(right)];
      const combine = logic[operator];
      return {
        at,
        type: { kind: "BOOL" },
        evaluate(slots) {
          const first = a(slots);
          return combine(first, b(slots));
        },
      };
    }
    case "=":
    case "<>":
    case "<":
    case ">":
    case "<=":
    case ">=":
      return compileComparison(at, operator, left, right);
    case "+":
    case "-":
    case "*":
    case "/":
    case "MOD":
      return compileArithmetic(at, operator, left, right);
  }
}

function compileComparison(at: Position, operator: Comparison, left: Expr, right: Expr): Expr {
  const type = commonType([left, right]);
  const isEquality = operator === "=" || operator === "<>";
  if (type === null || !isComparable(type) || (type.kind === "BOOL" && !isEquality))
    throw mismatch(at, operator, left, right, "two values of one type");
  const [a, b] = [convertTo(left, type), convertTo(right, type)];
  const compare = comparisons[operator];
  return { at, type: { kind: "BOOL" }, evaluate: (slots) => compare(a(slots), b(slots)) };
}

function isComparable(type: ExpressionType): boolean {
  return type.kind !== "ARRAY" && type.kind !== "block";
}

function compileArithmetic(at: Position, operator: Arithmetic, left: Expr, right: Expr): Expr {
  const type = commonType([left, right]);
  const isTime = type?.kind === "TIME" && (operator === "+" || operator === "-");
  if (type === null || !(isNumeric(type) || isTime)) throw mismatch(at, operator, left, right, "two numbers");
  const isWhole = type.kind === "INT" || type.kind === "DINT" || type.kind === "integer literal";
  if (operator === "MOD" && !isWhole) throw mismatch(at, operator, left, right, "two integers");
  const [a, b] = [asNumber(convertTo(left, type)), asNumber(convertTo(right, type))];
  const result = boundOf(type, at);
  const calculate = calculation(operator, isWhole, at);
  return { at, type, evaluate: (slots) => result(calculate(a(slots), b(slots))) };
}

function calculation(operator: Arithmetic, isWhole: boolean, at: Position): (a: number, b: number) => number {
  switch (operator) {
    case "+":
      return (a, b) => a + b;
    case "-":
      return (a, b) => a - b;
    case "*":
      return (a, b) => a * b;
    case "/":
      return isWhole ? (a, b) => Math.trunc(a / divisor(b, at)) + 0 : (a, b) => a / divisor(b, at);
    case "MOD":
      return (a, b) => (a % divisor(b, at)) + 0;
  }
}

function divisor(value: number, at: Position): number {
  if (value === 0) throw new StructuredTextError(at, "division by zero; another divisor expected");
  return value;
}

/** Makes a result one of its type. @throws StructuredTextError when the type cannot hold it */
export function boundOf(type: ExpressionType, at: Position): (value: number) => number {
  switch (type.kind) {
    case "INT":
      return (value) => inRange("INT", value + 0, at);
    case "DINT":
    case "integer literal":
      return (value) => inRange("DINT", value + 0, at);
    case "REAL":
      return (value) => finite(Math.fround(value), at);
    default:
      return (value) => finite(value, at);
  }
}

function finite(value: number, at: Position): number {
  if (!Number.isFinite(value))
    throw new StructuredTextError(at, "the result is too large for its type; a smaller one expected");
  return value;
}

function mismatch(at: Position, operator: string, left: Expr, right: Expr, expected: string) {
  const found = `${typeName(left.type)} and ${typeName(right.type)}`;
  return new StructuredTextError(at, `${expected} expected beside "${operator}", found ${found}`);
}
