import { existsSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A file that is no code, and that the program reads: beside the program, where the build puts it, or at its
 * path in the repository for sources that run as they are.
 */
export function shippedFile(path: string): string {
  const built = fileURLToPath(new URL(basename(path), import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
