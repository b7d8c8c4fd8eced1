import { closeSync, openSync } from "node:fs";
import { isCode } from "../socket-probe.ts";

/** A file system is read-only; the message is for people. */
export class DiskReadOnly extends Error {
  override readonly name = "DiskReadOnly";

  constructor(options?: ErrorOptions) {
    super("the disk is read-only; dmesg may say why", options);
  }
}

/** The number of EROFS on Linux: lmdb reports numbers. */
const EROFS = 30;

/** Whether the error is the answer to a write on a read-only file system. */
export function isReadOnlyError(error: unknown): boolean {
  const isNumbered = error instanceof Error && "code" in error && error.code === EROFS;
  return isNumbered || isCode(error, "EROFS");
}

/** Whether the file system of a file is read-only. */
export type IsReadOnly = (path: string) => boolean;

/**
 * Opens the file for writing: after an error of the disk the kernel refuses that, from memory, also while the
 * disk hangs. Since Linux 6.14, neither `access` nor the list of mounts shows it. Never throws; false for a
 * missing file.
 */
export function isReadOnly(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return false;
  } catch (error) {
    return isCode(error, "EROFS");
  }
}
