import {
  anyString,
  type DataType,
  type ExpressionType,
  holdsBlocks,
  integerRanges,
  isSameType,
  type LiteralType,
  type NumberType,
  typeName,
} from "./data-type.ts";
import { inRange } from "./literal.ts";
import type { Typed } from "./scope.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import { asBoolean, asNumber, asText, type Evaluator, type Value } from "./value.ts";

export type Expr = Typed<ExpressionType>;
type NumberKind = NumberType["kind"];

/** What a type is converted to without being asked (IEC 61131-3, implicit conversions). */
const widenings: Readonly<Record<NumberKind, readonly NumberKind[]>> = {
  INT: ["INT", "DINT", "REAL", "LREAL"],
  DINT: ["DINT", "LREAL"],
  REAL: ["REAL", "LREAL"],
  LREAL: ["LREAL"],
};

/**
 * Yields the value as the target's type.
 * @throws StructuredTextError when the types do not fit; at run time, for a text that is too long
 */
export function convert(source: Expr, target: DataType): Evaluator {
  const { type, at, evaluate } = source;
  switch (type.kind) {
    case "integer literal":
    case "decimal literal": {
      if (!takesLiteral(type.kind, target)) break;
      const value = literalAs(target.kind, asNumber(evaluate)([]), at);
      return () => value;
    }
    case "INT":
    case "DINT":
    case "REAL":
    case "LREAL":
      if (!widenings[type.kind].some((wider) => wider === target.kind)) break;
      return evaluate;
    case "STRING":
      if (target.kind !== "STRING") break;
      return fitting(asText(evaluate), target.maxBytes, at);
    case "ARRAY":
      if (target.kind !== "ARRAY" || !isSameType(type, target) || holdsBlocks(type)) break;
      return (slots) => copyOf(evaluate(slots));
    case "BOOL":
    case "TIME":
      if (target.kind !== type.kind) break;
      return evaluate;
    case "block":
      break;
  }
  throw new StructuredTextError(at, `${typeName(target)} expected, found ${typeName(type)}`);
}

/** A BOOL. */
export function convertToBoolean(source: Expr): (slots: Value[]) => boolean {
  return asBoolean(convert(source, { kind: "BOOL" }));
}

/** An INT or DINT; nothing is rounded. */
export function convertToInteger(source: Expr): (slots: Value[]) => number {
  return asNumber(convert(source, { kind: "DINT" }));
}

/** Yields the value as a common type, which may be that of literals; a text may have any length. */
export function convertTo(source: Expr, type: ExpressionType): Evaluator {
  if (isLiteral(type)) return source.evaluate;
  return convert(source, type.kind === "STRING" ? anyString : type);
}

/** A value of its own: changing one does not change the other. */
export function copyOf(value: Value): Value {
  return Array.isArray(value) ? value.map(copyOf) : value;
}

/** The type to which all of these convert, or null. Literals alone stay literals. */
export function commonType(all: readonly Expr[]): ExpressionType | null {
  return all
    .slice(1)
    .reduce<ExpressionType | null>((type, other) => type && wider(type, other, all), all[0]?.type ?? null);
}

function wider(a: ExpressionType, { type: b }: Expr, all: readonly Expr[]): ExpressionType | null {
  if (isLiteral(a)) {
    if (isLiteral(b)) return a.kind === "decimal literal" ? a : b;
    return withLiteral(b, a, all);
  }
  if (isLiteral(b)) return withLiteral(a, b, all);
  if (isNumber(a) && isNumber(b)) {
    const kind = widenings[a.kind].find((wide) => widenings[b.kind].includes(wide)) ?? "LREAL";
    return { kind };
  }
  if (a.kind === "STRING" && b.kind === "STRING")
    return { kind: "STRING", maxBytes: Math.max(a.maxBytes, b.maxBytes) };
  return isSameType(a, b) ? a : null;
}

/** A literal takes the type of what it stands beside; one that an INT cannot hold makes it a DINT. */
function withLiteral(type: DataType, literal: LiteralType, all: readonly Expr[]): DataType | null {
  if (!takesLiteral(literal.kind, type)) return null;
  const isLarge = all
    .filter((expr) => expr.type.kind === "integer literal")
    .map((expr) => asNumber(expr.evaluate)([]))
    .some((value) => value < integerRanges.INT.least || value > integerRanges.INT.most);
  return type.kind === "INT" && isLarge ? { kind: "DINT" } : type;
}

/** Whether one can calculate with it; TIME is not counted. */
export function isNumeric(type: ExpressionType): boolean {
  return isNumber(type) || isLiteral(type);
}

function isLiteral(type: ExpressionType): type is LiteralType {
  return type.kind === "integer literal" || type.kind === "decimal literal";
}

function isNumber(type: ExpressionType): type is NumberType {
  return type.kind in widenings;
}

function takesLiteral(literal: LiteralType["kind"], type: DataType): type is NumberType {
  return isNumber(type) && (literal === "integer literal" || type.kind === "REAL" || type.kind === "LREAL");
}

function literalAs(kind: NumberKind, value: number, at: Position): number {
  switch (kind) {
    case "INT":
    case "DINT":
      return inRange(kind, value, at);
    case "REAL":
      return Math.fround(value);
    case "LREAL":
      return value;
  }
}

function fitting(evaluate: (slots: Value[]) => string, maxBytes: number, at: Position): Evaluator {
  return (slots) => {
    const text = evaluate(slots);
    const bytes = Buffer.byteLength(text);
    if (bytes <= maxBytes) return text;
    throw new StructuredTextError(at, `the text has ${bytes} bytes, its variable takes ${maxBytes}`);
  };
}
