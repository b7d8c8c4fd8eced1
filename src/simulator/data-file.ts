import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { makeFolder } from "../platform/make-folder.ts";

/** The text of a file, or undefined when there is none. Every other failure rejects. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Writes a file whole or not at all, readable by its owner only where `secret`.
 * The folder is made when it is missing.
 */
export async function writeWhole(path: string, text: string, access: "secret" | "public"): Promise<void> {
  const mode = access === "secret" ? 0o600 : 0o644;
  await makeFolder(dirname(path));
  const draft = `${path}.${process.pid}.new`;
  await writeFile(draft, text, { mode });
  // The mode of `writeFile` counts only for a file that did not exist.
  await chmod(draft, mode);
  await rename(draft, path);
}
