import { integerRanges } from "./data-type.ts";
import { type Position, StructuredTextError } from "./structured-text-error.ts";
import type { Literal } from "./token.ts";

const integer = /^(?:(2|8|16)#)?([\dA-F][\dA-F_]*)$/i;
const decimal = /^\d[\d_]*(\.\d[\d_]*(E[+-]?\d+)?)?$/i;
const durationPart = /(\d[\d_]*(?:\.\d+)?)(ms|d|h|m|s)/giy;

/** In the order in which a duration names its units. */
const unitMs = new Map([
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
]);

/** The literal that a number without type is: `12`, `16#FF`, `1.5E3`. */
export function readNumber(text: string, at: Position): Literal {
  return text.includes(".")
    ? { type: "decimal literal", value: decimalValue(text, at) }
    : { type: "integer literal", value: integerValue(text, at) };
}

/** The literal of `prefix#body`, as in `T#1m30s` and `INT#16#FF`. The body may begin with a minus. */
export function readTyped(prefix: string, body: string, at: Position): Literal {
  const negative = body.startsWith("-");
  const rest = negative ? body.slice(1) : body;
  const signed = (value: number) => (negative ? 0 - value : value);
  const type = prefix.toUpperCase();
  switch (type) {
    case "T":
    case "TIME":
      return { type: "TIME", value: signed(durationMs(rest, at)) };
    case "INT":
    case "DINT":
      return { type, value: inRange(type, signed(integerValue(rest, at)), at) };
    case "REAL":
      return { type, value: Math.fround(signed(decimalValue(rest, at))) };
    case "LREAL":
      return { type, value: signed(decimalValue(rest, at)) };
    case "BOOL":
      if (!/^(TRUE|FALSE|0|1)$/i.test(body))
        throw new StructuredTextError(at, `BOOL#TRUE or BOOL#FALSE expected, found "${prefix}#${body}"`);
      return { type, value: /^(TRUE|1)$/i.test(body) };
    default:
      throw new StructuredTextError(
        at,
        `unknown type "${prefix}" of a literal; T, TIME, INT, DINT, REAL, LREAL or BOOL expected`,
      );
  }
}

/** The value, if the type can hold it. */
export function inRange(type: "INT" | "DINT", value: number, at: Position): number {
  const { least, most } = integerRanges[type];
  if (value >= least && value <= most) return value;
  throw new StructuredTextError(at, `${value} is outside ${type} (${least} to ${most})`);
}

function integerValue(text: string, at: Position): number {
  const [, base = "10", digits = ""] = integer.exec(text) ?? [];
  const plain = digits.replaceAll("_", "");
  const allowed = "0123456789abcdef".slice(0, Number(base));
  const fits = plain !== "" && [...plain.toLowerCase()].every((digit) => allowed.includes(digit));
  if (!fits) throw new StructuredTextError(at, `"${text}" is no integer of base ${base}`);
  return Number.parseInt(plain, Number(base));
}

function decimalValue(text: string, at: Position): number {
  if (!decimal.test(text)) throw new StructuredTextError(at, `"${text}" is no number, such as 1.5 or 2.0E-3`);
  return Number(text.replaceAll("_", ""));
}

function durationMs(text: string, at: Position): number {
  const units = [...unitMs.keys()];
  let totalMs = 0;
  let read = 0;
  let last = -1;
  for (const [part, count = "", unit = ""] of text.matchAll(durationPart)) {
    const order = units.indexOf(unit.toLowerCase());
    if (order <= last) break;
    last = order;
    read += part.length;
    totalMs += Number(count.replaceAll("_", "")) * (unitMs.get(unit.toLowerCase()) ?? 0);
  }
  if (read === 0 || read < text.length)
    throw new StructuredTextError(at, `"${text}" is no duration, such as T#1m30s or T#500ms`);
  return totalMs;
}
