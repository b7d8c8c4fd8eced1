import { InvalidArgumentError } from "commander";

/** A TCP port with room for the ports after it. */
export function port(text: string): number {
  return whole(text, 1, 65_530);
}

/** A whole number from 1. */
export function count(text: string): number {
  return whole(text, 1, Number.MAX_SAFE_INTEGER);
}

/** A number above 0. */
export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError("Give a number above 0.");
  return value;
}

function whole(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > most) {
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  }
  return value;
}

/** A text that is not empty, such as `"$OUT"` in a script whose variable is not set. */
export function someText(text: string): string {
  if (text.trim() === "") throw new InvalidArgumentError("It is empty.");
  return text;
}

/** The values of an option or argument that may be repeated, none of them empty. */
export function someTexts(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, someText(text)];
}
