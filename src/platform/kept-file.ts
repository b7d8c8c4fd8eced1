import { readFileSync } from "node:fs";
import { open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isCode } from "./error-text.ts";
import { makeFolder } from "./folder.ts";

const OWNER_ONLY = 0o600;

export interface KeptFileOptions {
  /** Who may read it; by default its owner alone. */
  readonly mode?: number;
  /**
   * Whether a write resolves only when it is on the disk, as it does by default. Without that, a power cut
   * may lose the last writes. It is left out for what would wear out a flash disk for little use.
   */
  readonly isSynced?: boolean;
}

/**
 * A small file that is written as a whole: a crash at any moment leaves the old text or the new one. One
 * write at a time; of several that wait, the last one wins.
 */
export interface KeptFile {
  /** The text; undefined: there is no file. Rejects for every other failure. */
  read(): Promise<string | undefined>;
  /** Resolves when this text, or a later one, is kept. Makes the folder if it is missing. */
  write(text: string): Promise<void>;
}

export function createKeptFile(path: string, options: KeptFileOptions = {}): KeptFile {
  let writing: Promise<void> | null = null;
  let next: { readonly text: string; readonly written: Promise<void> } | null = null;

  function begin(text: string): Promise<void> {
    const written = replaceFile(path, text, options).finally(() => {
      if (writing === written) writing = null;
    });
    writing = written;
    return written;
  }

  return {
    read: () => readIfThere(path),
    write(text) {
      if (writing === null) return begin(text);
      // After the last write, also if it failed: its caller knows that.
      const begun = () => {
        const last = next?.text ?? text;
        next = null;
        return begin(last);
      };
      next = { text, written: next?.written ?? writing.then(begun, begun) };
      return next.written;
    },
  };
}

/** The text of a file; undefined: there is none. Rejects for every other failure. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** The same synchronously, for files that are read before anything else runs. */
export function readNowIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/**
 * Writes a file whole or not at all. Two writes of one path must not overlap, unless each has a draft of its
 * own.
 *
 * @param draft where the text is written first, in the same folder
 */
export async function replaceFile(
  path: string,
  text: string | Uint8Array | Iterable<string>,
  { mode = OWNER_ONLY, isSynced = true }: KeptFileOptions = {},
  draft = `${path}.new`,
): Promise<void> {
  await makeFolder(dirname(path));
  // A file that a crash has left there may have another mode.
  await rm(draft, { force: true });
  try {
    const file = await open(draft, "wx", mode);
    try {
      await writeFile(file, text);
      // Independent of the umask.
      await file.chmod(mode);
    } finally {
      await file.close();
    }
    await putInPlace(draft, path, isSynced);
  } catch (error) {
    // A full disk must not be filled with halves of files.
    await rm(draft, { force: true });
    throw error;
  }
}

/** Renames a written and closed file to `path`. */
export async function putInPlace(draft: string, path: string, isSynced = true): Promise<void> {
  if (isSynced) await sync(draft);
  await rename(draft, path);
  if (isSynced) await sync(dirname(path));
}

/** Some file systems cannot sync a folder: then the rename is as safe as they make it. */
async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } catch (error) {
    if (!isCode(error, "EINVAL") && !isCode(error, "ENOTSUP")) throw error;
  } finally {
    await handle.close();
  }
}
