import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** What a file was when it was read. */
export interface PlainFile {
  readonly text: string;
  readonly mode: number;
}

/** `latin1`: the file is no text, and each of its bytes stays a character. */
export type FileEncoding = "utf8" | "latin1";

/** Reads a file as `readPlainFile` does; what is read may lie elsewhere, as in an archive. */
export type ReadFile = typeof readPlainFile;

/** Why a path cannot be read as a file; the message is the end of a sentence that begins with the path. */
export class NoPlainFile extends Error {
  override readonly name = "NoPlainFile";
}

/**
 * Reads a regular file as text. A pipe, a device or a folder is refused at once: a read of a pipe would wait
 * for a writer for ever, and that of a device may never end. Rejects with NoPlainFile or the system's error.
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
 * The text of a file's bytes. A byte order mark, as editors of Windows write it, is no part of the text.
 * @throws NoPlainFile for what is not UTF-8
 */
export function plainText(bytes: Uint8Array, encoding: FileEncoding = "utf8"): string {
  if (encoding === "latin1") return Buffer.from(bytes).toString("latin1");
  try {
    // UTF-16 has zero bytes, which UTF-8 allows.
    if (!bytes.includes(0)) return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // The decoder's own words help nobody.
  }
  throw new NoPlainFile(
    "is no UTF-8 text, but UTF-16 or binary: save it as UTF-8, and a certificate or key as PEM",
  );
}
