import type { z } from "zod";
import type { ConfigDocument } from "./document.ts";
import { knownKeys } from "./fields.ts";
import { type ConfigPath, type ConfigProblem, pathText } from "./finding.ts";

/** The schema's problems in words for the person who writes the file. */
export function problemsOf(
  issues: readonly z.core.$ZodIssue[],
  schema: z.core.$ZodType,
  document: ConfigDocument,
): ConfigProblem[] {
  return issues.flatMap((issue) => describe(issue, schema, document));
}

/** A problem at a place of the document. */
export function problemAt(document: ConfigDocument, path: ConfigPath, message: string): ConfigProblem {
  return { path: pathText(path), line: document.lineOf(path), message };
}

function describe(
  issue: z.core.$ZodIssue,
  schema: z.core.$ZodType,
  document: ConfigDocument,
): ConfigProblem[] {
  if (issue.code === "unrecognized_keys") {
    const known = knownKeys(schema, issue.path);
    return issue.keys.map((key) => problemAt(document, [...issue.path, key], unknownKey(key, known)));
  }
  const value = valueAt(document.value, issue.path);
  const unit = durationProblem(issue, value) ?? message(issue, value);
  return [problemAt(document, issue.path, unit)];
}

const MS_A_UNIT: Readonly<Record<string, number>> = {
  "": 1,
  ms: 1,
  s: 1_000,
  sec: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
};

/** For a number as text, and a duration with its unit, the right value is known. Null for anything else. */
function durationProblem(issue: z.core.$ZodIssue, value: unknown): string | null {
  if (issue.code !== "invalid_type" || typeof value !== "string") return null;
  if (issue.expected !== "number" && issue.expected !== "int") return null;
  const [, digits = "", unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(value) ?? [];
  const isDuration = String(issue.path.at(-1)).endsWith("Ms");
  const factor = unit === "" || isDuration ? MS_A_UNIT[unit.toLowerCase()] : undefined;
  if (digits === "" || factor === undefined) return null;
  const right = Math.round(Number(digits) * factor);
  return isDuration
    ? `must be a number of milliseconds: write ${right}, not ${shown(value)}`
    : `must be a number: write ${digits} without quotes, not ${shown(value)}`;
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  if (meant !== undefined) return `unknown key; the nearest known one is "${meant}"`;
  return known.length === 0 ? "unknown key" : `unknown key; known here are ${[...known].sort().join(", ")}`;
}

function message(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined && issue.code !== "custom") return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}, not ${shown(value)}`;
    case "invalid_value":
      return `must be one of ${issue.values.map((allowed) => String(allowed)).join(", ")}; not ${shown(value)}`;
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? "must not be empty"
        : `must be at least ${issue.minimum}, not ${shown(value)}`;
    case "too_big":
      return issue.origin === "string" || issue.origin === "array"
        ? `must not be longer than ${issue.maximum}`
        : `must be at most ${issue.maximum}, not ${shown(value)}`;
    case "invalid_key": {
      const [why] = issue.issues;
      return why === undefined ? issue.message : message(why, issue.path.at(-1));
    }
    case "custom":
      return issue.message;
    default:
      return issue.message;
  }
}

function typeName(expected: string): string {
  switch (expected) {
    case "object":
    case "record":
      return "a group of keys";
    case "array":
      return "a list";
    case "string":
      return "text";
    case "int":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    default:
      return expected;
  }
}

/** A value short enough for one line; groups and lists by kind only. */
function shown(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a group of keys";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…"` : text;
}

function valueAt(value: unknown, path: ConfigPath): unknown {
  let at = value;
  for (const key of path) {
    if (at === null || typeof at !== "object") return undefined;
    at = Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return at;
}

/**
 * How many letters must be added, removed, changed or swapped with their neighbour to turn one text into the
 * other.
 */
export function editDistance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const same = from[row - 1] === to[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (row > 1 && column > 1 && swapped) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

/** One letter may be wrong for each so many letters of a name. */
const LETTERS_AN_ERROR = 3;
/** Two names with so many first letters in common are near. */
const COMMON_LETTERS = 4;

/** The known name that `name` most likely means; undefined: none is near. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance && isNear(name.toLowerCase(), candidate.toLowerCase(), distance)) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

function isNear(name: string, known: string, distance: number): boolean {
  const longest = Math.max(name.length, known.length);
  if (distance <= Math.ceil(longest / LETTERS_AN_ERROR)) return true;
  const shortest = Math.min(name.length, known.length);
  return shortest >= COMMON_LETTERS && (name.startsWith(known) || known.startsWith(name));
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
