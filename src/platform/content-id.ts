import { hash } from "node:crypto";

/** Enough to be unique, and short beside an event. */
const CHARACTERS = 22;

/** A name that is made of what it names: the same in every run. */
export function contentId(...parts: ReadonlyArray<string | number | null>): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, CHARACTERS);
}
