import { existsSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const manifest: { version: string } = createRequire(import.meta.url)("../package.json");

/** The version of package.json: one place to change it. */
export const version = manifest.version;

/**
 * When the program was built, as its build noted beside it; of sources that run as they are, the age of this
 * file.
 */
export function builtAt(): Date {
  try {
    const noted: unknown = JSON.parse(readFileSync(new URL("./build.json", import.meta.url), "utf8"));
    if (
      typeof noted === "object" &&
      noted !== null &&
      "builtAt" in noted &&
      typeof noted.builtAt === "string"
    )
      return new Date(noted.builtAt);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  return statSync(fileURLToPath(import.meta.url)).mtime;
}

/** The description of the HTTP API: beside the program, and in config/ for sources that run as they are. */
export function openApiFile(): string {
  const built = fileURLToPath(new URL("./openapi.json", import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL("../config/openapi.json", import.meta.url));
}

/** What the build made of the console; null: it was not built. */
export function consoleFolder(): string | null {
  const folder = fileURLToPath(new URL("../dist/console", import.meta.url));
  return existsSync(folder) ? folder : null;
}
