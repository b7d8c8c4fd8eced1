import { commonType, convertTo, convertToBoolean, type Expr, isNumeric } from "./conversion.ts";
import { anyString, typeName } from "./data-type.ts";
import { inRange } from "./literal.ts";
import { boundOf } from "./operator.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import { asNumber, asText } from "./value.ts";

interface StandardFunction {
  /** How many values it takes. */
  readonly least: number;
  readonly most: number;
  compile(at: Position, values: readonly Expr[]): Expr;
}

/** The standard functions that programs may call, by name in capitals. */
const standardFunctions: ReadonlyMap<string, StandardFunction> = new Map([
  ["ABS", { least: 1, most: 1, compile: numeric(Math.abs) }],
  ["MIN", { least: 2, most: Number.POSITIVE_INFINITY, compile: numeric(Math.min) }],
  ["MAX", { least: 2, most: Number.POSITIVE_INFINITY, compile: numeric(Math.max) }],
  ["SEL", { least: 3, most: 3, compile: compileSelection }],
  ["LEN", ofOne(compileLength)],
  ["CONCAT", { least: 2, most: Number.POSITIVE_INFINITY, compile: compileConcatenation }],
  ["INT_TO_STRING", ofOne(compileText("INT"))],
  ["DINT_TO_STRING", ofOne(compileText("DINT"))],
  ["DINT_TO_INT", ofOne(compileNarrowing)],
]);

/** @throws StructuredTextError for a function that is not known, and for values that do not fit it */
export function compileFunction(at: Position, name: string, values: readonly Expr[]): Expr {
  const known = standardFunctions.get(name.toUpperCase());
  if (known === undefined) {
    const names = [...standardFunctions.keys()].join(", ");
    throw new StructuredTextError(at, `unknown function "${name}"; one of ${names} expected`);
  }
  const { least, most } = known;
  if (values.length < least || values.length > most) {
    const count = most === 1 ? "1 value" : least === most ? `${least} values` : `${least} or more values`;
    throw new StructuredTextError(at, `${count} expected in ${name}( ), found ${values.length}`);
  }
  return known.compile(at, values);
}

function ofOne(compile: (at: Position, value: Expr) => Expr): StandardFunction {
  return { least: 1, most: 1, compile: (at, values) => values.map((value) => compile(at, value))[0] as Expr };
}

/** A function of numbers or times of one type, with a result of that type. */
function numeric(calculate: (...values: number[]) => number): StandardFunction["compile"] {
  return (at, values) => {
    const type = commonType(values);
    if (type === null || !(isNumeric(type) || type.kind === "TIME"))
      throw mismatch(at, "numbers of one type", values);
    const evaluators = values.map((value) => asNumber(convertTo(value, type)));
    const result = boundOf(type, at);
    return {
      at,
      type,
      evaluate: (slots) => result(calculate(...evaluators.map((evaluate) => evaluate(slots)))),
    };
  };
}

/** SEL(G, IN0, IN1): IN1 if G is TRUE, else IN0. */
function compileSelection(at: Position, values: readonly Expr[]): Expr {
  const [selector, whenFalse, whenTrue] = values as [Expr, Expr, Expr];
  const type = commonType([whenFalse, whenTrue]);
  if (type === null || type.kind === "block")
    throw mismatch(at, "two values of one type", [whenFalse, whenTrue]);
  const select = convertToBoolean(selector);
  const [in0, in1] = [convertTo(whenFalse, type), convertTo(whenTrue, type)];
  return {
    at,
    type,
    evaluate(slots) {
      const [first, second] = [in0(slots), in1(slots)];
      return select(slots) ? second : first;
    },
  };
}

/** The length in bytes, as PLCs count. */
function compileLength(at: Position, value: Expr): Expr {
  const text = asText(convertTo(value, anyString));
  return { at, type: { kind: "INT" }, evaluate: (slots) => Buffer.byteLength(text(slots)) };
}

function compileConcatenation(at: Position, values: readonly Expr[]): Expr {
  const parts = values.map((value) => convertTo(value, anyString));
  return { at, type: anyString, evaluate: (slots) => parts.map((part) => part(slots)).join("") };
}

function compileText(kind: "INT" | "DINT"): (at: Position, value: Expr) => Expr {
  return (at, value) => {
    const evaluate = convertTo(value, { kind });
    return { at, type: anyString, evaluate: (slots) => String(evaluate(slots)) };
  };
}

function compileNarrowing(at: Position, value: Expr): Expr {
  const evaluate = asNumber(convertTo(value, { kind: "DINT" }));
  return { at, type: { kind: "INT" }, evaluate: (slots) => inRange("INT", evaluate(slots), at) };
}

function mismatch(at: Position, expected: string, values: readonly Expr[]): StructuredTextError {
  const found = values.map(({ type }) => typeName(type)).join(", ");
  return new StructuredTextError(at, `${expected} expected, found ${found}`);
}
