import { closeSync, openSync } from "node:fs";
import { isCode } from "../socket-probe.ts";

/** A file system takes no writes; in words for a person. */
export class DiskReadOnly extends Error {
  override readonly name = "DiskReadOnly";

  constructor(options?: ErrorOptions) {
    super("the disk is read-only; dmesg may say why", options);
  }
}

/** The number of EROFS on Linux: lmdb gives its errors numbers. */
const EROFS = 30;

/** Whether this is the disk's answer to a write on a read-only file system. */
export function isReadOnlyError(error: unknown): boolean {
  const isNumbered = error instanceof Error && "code" in error && error.code === EROFS;
  return isNumbered || isCode(error, "EROFS");
}

/** Whether the file system of a file takes no writes. */
export type IsReadOnly = (path: string) => boolean;

/**
 * Opens the file for writing: the kernel refuses that after an error of the disk, and answers from memory,
 * also while the disk hangs. Since Linux 6.14 neither `access` nor the list of mounts tells as much. Never
 * throws; a file that is missing tells nothing.
 */
export function isReadOnly(path: string): boolean {
  try {
    closeSync(openSync(path, "r+"));
    return false;
  } catch (error) {
    return isCode(error, "EROFS");
  }
}
