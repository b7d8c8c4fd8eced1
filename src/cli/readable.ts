import { isJsonObject, type JsonObject } from "../platform/json.ts";
import { plain, plainLines } from "../platform/plain-text.ts";

/** Prints text in which others may have chosen words: of control characters only line ends pass. */
export function say(text: string): void {
  process.stdout.write(`${plainLines(text)}\n`);
}

/** The same on standard error, as a problem of this program. */
export function complain(problem: string): void {
  process.stderr.write(`fleetgate: ${plainLines(problem)}\n`);
}

/** A moment in the time zone of the terminal, as `2026-01-31 12:00:00`; empty: there is none. */
export function localTime(time: string | number): string {
  const at = new Date(time);
  if (time === "" || Number.isNaN(at.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

const units = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
  ["s", 1],
] as const;

/** A duration by its two largest units, as `3 d 4 h`. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.length === 0 ? "0 s" : parts.join(" ");
}

/** Bytes in MB or GB. */
export function size(bytes: number): string {
  return bytes < 1e9 ? `${Math.round(bytes / 1e6)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Rows of aligned cells; the last cell of a row is not padded. */
export function columns(rows: ReadonlyArray<readonly string[]>): readonly string[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [at, cell] of row.slice(0, -1).entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

/** The first rows, and the number of further ones. */
export function first(rows: readonly string[], most: number, count = rows.length): readonly string[] {
  const shown = rows.slice(0, most);
  return count > shown.length ? [...shown, `… and ${count - shown.length} more`] : shown;
}

const MOST_NAMES = 8;

/** The first names, and the number of further ones. */
export function some(names: readonly string[]): string {
  const rest = names.length - MOST_NAMES;
  const shown = names.slice(0, MOST_NAMES).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}

const WIDTH = 100;

/** Names in lines for a terminal. */
export function wrapped(names: readonly string[]): readonly string[] {
  if (names.length === 0) return ["nothing"];
  const lines: string[] = [""];
  for (const [index, name] of names.entries()) {
    const text = index === names.length - 1 ? name : `${name}, `;
    const last = lines.length - 1;
    if ((lines[last] ?? "").length + text.length > WIDTH) lines.push(text);
    else lines[last] += text;
  }
  return lines.map((line) => line.trimEnd());
}

/**
 * Fields of the gateway's answer, which may be of another version: a missing field, or one of another type,
 * is empty.
 */
export function textOf(object: JsonObject, name: string): string {
  const value = object[name];
  return typeof value === "string" ? plain(value) : "";
}

/** 0 if it is missing. */
export function numberOf(object: JsonObject, name: string): number {
  const value = object[name];
  return typeof value === "number" ? value : 0;
}

export function objectOf(object: JsonObject, name: string): JsonObject {
  const value = object[name];
  return isJsonObject(value) ? value : {};
}

export function listOf(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function textsOf(object: JsonObject, name: string): readonly string[] {
  const value = object[name];
  return Array.isArray(value) ? value.filter((each) => typeof each === "string").map(plain) : [];
}
