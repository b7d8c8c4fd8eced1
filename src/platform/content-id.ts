import { hash } from "node:crypto";

/** Enough to be unique, and short in an event. */
const CHARACTERS = 22;

/** A hash of the parts as a name: the same in every run. */
export function contentId(...parts: ReadonlyArray<string | number | null>): string {
  return hash("sha256", JSON.stringify(parts), "base64url").slice(0, CHARACTERS);
}
