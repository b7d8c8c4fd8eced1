import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** What a file was when it was read. */
export interface PlainFile {
  readonly text: string;
  readonly mode: number;
}

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
  encoding: "utf8" | "latin1" = "utf8",
): Promise<PlainFile> {
  // Without O_NONBLOCK, opening a pipe waits for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { mode, size } = await file.stat();
    if ((mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new NoPlainFile("is no file, but a folder, a pipe or a device");
    if (size > mostBytes) throw new NoPlainFile(`is larger than ${mostBytes} bytes`);
    return { text: await file.readFile(encoding), mode };
  } finally {
    await file.close();
  }
}
