import { replaceFile } from "../platform/kept-file.ts";

/**
 * Writes a file whole or not at all, readable by its owner only where `secret`.
 * The folder is made when it is missing.
 */
export function writeWhole(path: string, text: string, access: "secret" | "public"): Promise<void> {
  const mode = access === "secret" ? 0o600 : 0o644;
  // Two simulators may have one data folder.
  return replaceFile(path, text, { mode, isSynced: false }, `${path}.${process.pid}.new`);
}
