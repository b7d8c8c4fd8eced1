import { constants, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "./error-text.ts";

/** The end of the message about a file that may not be read. */
export const UNREADABLE = "cannot be read by the user that the gateway runs as";

/** The content and state of a file when it was read. */
export interface PlainFile {
  readonly text: string;
  readonly mode: number;
}

/** `latin1`: the file is no text, and each of its bytes becomes a character. */
export type FileEncoding = "utf8" | "latin1";

/** Reads a file like `readPlainFile`, perhaps from another place such as an archive. */
export type ReadFile = typeof readPlainFile;

/** Why a path cannot be read as a file; the message is the end of a sentence that begins with the path. */
class NoPlainFile extends Error {
  override readonly name = "NoPlainFile";
}

/**
 * Reads a regular file as text. Refuses a pipe, a device or a folder at once: reading a pipe would wait for a
 * writer for ever, and reading a device may never end. Rejects with NoPlainFile or the system's error.
 */
export async function readPlainFile(
  path: string,
  mostBytes: number,
  encoding: FileEncoding = "utf8",
): Promise<PlainFile> {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, size } = await file.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new NoPlainFile("is no file, but a folder, a pipe or a device");
    if (size > mostBytes) throw new NoPlainFile(`is larger than ${mostBytes} bytes`);
    return { text: plainText(await file.readFile(), encoding), mode };
  } finally {
    await file.close();
  }
}

/**
 * The text of a file's bytes, without a byte order mark, which editors of Windows write.
 *
 * @throws NoPlainFile if they are not UTF-8
 */
export function plainText(bytes: Uint8Array, encoding: FileEncoding = "utf8"): string {
  if (encoding === "latin1") return Buffer.from(bytes).toString("latin1");
  try {
    // UTF-16 has zero bytes, which UTF-8 allows.
    if (!bytes.includes(0)) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The decoder's message helps nobody.
  }
  throw new NoPlainFile(
    "is no UTF-8 text, but UTF-16 or binary: save it as UTF-8, and a certificate or key as PEM",
  );
}

/** Names of files that are numbered, so that their order does not depend on the wall clock: `…-12.json`. */
const NUMBER = /-(\d+)\.[a-z]+$/;

/** The oldest first. Names of earlier versions have no number, and come before all others. */
export function inOrder(names: readonly string[]): string[] {
  return names.toSorted((a, b) => numberOf(a) - numberOf(b) || (a < b ? -1 : 1));
}

/** The number for the next one. */
export function nextNumber(names: readonly string[]): number {
  return Math.max(0, ...names.map(numberOf)) + 1;
}

function numberOf(name: string): number {
  return Number(NUMBER.exec(name)?.[1] ?? 0);
}

/** Why a file cannot be read, as the end of a sentence. */
export function fileProblem(error: unknown): string {
  if (error instanceof NoPlainFile) return error.message;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES") return UNREADABLE;
  return `cannot be read: ${messageOf(error)}`;
}

/**
 * A file that is no code, and that the program reads: beside the program, where the build puts it, or at its
 * path in the repository for sources that run as they are.
 */
export function shippedFile(path: string): string {
  const built = fileURLToPath(new URL(basename(path), import.meta.url));
  return existsSync(built) ? built : fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
