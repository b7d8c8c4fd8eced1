import { replaceFile } from "../platform/kept-file.ts";

/**
 * Writes a file whole or not at all, readable only by its owner if it is `secret`. Makes the folder if it is
 * missing.
 */
export function writeWhole(path: string, text: string, access: "secret" | "public"): Promise<void> {
  const mode = access === "secret" ? 0o600 : 0o644;
  // Two simulators may share one data folder.
  return replaceFile(path, text, { mode, isSynced: false }, `${path}.${process.pid}.new`);
}
