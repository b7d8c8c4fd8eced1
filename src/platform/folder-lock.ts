import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, unlink } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { isCode, PlainError } from "./error-text.ts";
import { folderFault, makeFolder } from "./folder.ts";
import { isListenedOn } from "./listener.ts";

/** Another process has the folder, or it cannot be locked; the message says why and what to do. */
export class FolderLocked extends PlainError {
  override readonly name = "FolderLocked";
}

/** The lock of a folder. Disposing of it frees the folder for the next process. */
export type FolderLock = AsyncDisposable;

const FOLDER = "lock";
const SUFFIX = ".sock";

/**
 * Locks `folder` (made if it is missing) for this process. Rejects with FolderLocked, which ends with
 * `advice`, if a living process has it; with FolderNotMade if it cannot be made. Each process first listens
 * on a socket with a name of its own under `lock/`, and then checks whether another one there is listened on.
 * If two start at once, at least one sees the other: both may be refused, but never do both succeed. The
 * kernel closes a socket with its process, however the process ends. So nothing has to be cleaned up by hand,
 * and a process number that is used again misleads nobody.
 */
export async function lockFolder(folder: string, advice: string): Promise<FolderLock> {
  const path = join(folder, FOLDER);
  const own = `${process.pid}.${randomBytes(6).toString("hex")}${SUFFIX}`;
  await makeFolder(path);
  const hold = await take(path, own).catch((error: unknown) => {
    throw new FolderLocked(`${folder} cannot be locked: ${folderFault(path, error)}`, { cause: error });
  });
  const other = await holderBeside(path, hold.reach, own).catch(async (error: unknown) => {
    await hold.release();
    throw new FolderLocked(`${folder} cannot be locked: ${folderFault(path, error)}`, { cause: error });
  });
  if (other === null) return { [Symbol.asyncDispose]: hold.release };
  await hold.release();
  throw new FolderLocked(`${folder} is in use by process ${other}: ${advice}`);
}

/**
 * The number of the process that holds `folder`; null: none does. Changes nothing. Rejects if the folder
 * cannot be read.
 */
export async function folderHolder(folder: string): Promise<string | null> {
  const path = join(folder, FOLDER);
  const handle = await open(path, "r").catch((error: unknown) => {
    ignoreMissing(error);
    return null;
  });
  if (handle === null) return null;
  try {
    for (const name of await readdir(path)) {
      if (name.endsWith(SUFFIX) && (await isListenedOn(shortPath(path, handle, name))))
        return name.split(".")[0] ?? name;
    }
    return null;
  } finally {
    await handle.close();
  }
}

interface Hold {
  /** A short path to a socket of the folder, however deep the folder lies. */
  readonly reach: (name: string) => string;
  readonly release: () => Promise<void>;
}

async function take(path: string, own: string): Promise<Hold> {
  const handle = await open(path, "r");
  const reach = (name: string) => shortPath(path, handle, name);
  const server = createServer((socket) => socket.destroy());
  const release = async () => {
    await new Promise((resolve) => server.close(resolve));
    // Node.js has removed it with the server. On a read-only disk it stays, and the next start finds that
    // nobody listens on it.
    await unlink(join(path, own)).catch(ignoreUnremovable);
    await handle.close();
  };
  try {
    await listen(server, reach(own));
    return { reach, release };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * The address of a socket has 107 bytes. On Linux a folder can also be named by the number of its open file.
 */
function shortPath(path: string, handle: FileHandle, name: string): string {
  return process.platform === "linux" ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name);
}

/**
 * The number of another process that has the folder; null: none has. Removes the sockets of dead processes.
 */
async function holderBeside(
  path: string,
  reach: (name: string) => string,
  own: string,
): Promise<string | null> {
  for (const name of await readdir(path)) {
    if (name === own || !name.endsWith(SUFFIX)) continue;
    if (await isListenedOn(reach(name))) return name.split(".")[0] ?? name;
    await unlink(join(path, name)).catch(ignoreMissing);
  }
  return null;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", reject);
    server.listen({ path });
    // The lock must not keep a process alive that has nothing else to do.
    server.unref();
  });
}

function ignoreUnremovable(error: unknown): void {
  if (!isCode(error, "EROFS")) ignoreMissing(error);
}

function ignoreMissing(error: unknown): void {
  if (!isCode(error, "ENOENT")) throw error;
}
