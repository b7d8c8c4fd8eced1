import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { isCode, isListenedOn } from "../../platform/socket-probe.ts";

/** The socket cannot be used; the message gives the reason and what to do. */
class SocketRefused extends Error {
  override readonly name = "SocketRefused";
}

/**
 * Removes the socket that a killed gateway left behind. Rejects with SocketRefused if another gateway answers
 * on it, or if the file is no socket.
 */
export async function clearSocket(path: string): Promise<void> {
  const kind = await kindOf(path);
  if (kind === "none") return;
  if (kind === "other")
    throw new SocketRefused(`${path} is no socket: move it away, or give control.socket another path`);
  if (await isListenedOn(path))
    throw new SocketRefused(
      `another gateway answers on ${path}: end it, or give this one a gateway.dataDir of its own`,
    );
  await unlink(path);
}

async function kindOf(path: string): Promise<"none" | "socket" | "other"> {
  try {
    return (await lstat(path)).isSocket() ? "socket" : "other";
  } catch (error) {
    if (isCode(error, "ENOENT")) return "none";
    throw new SocketRefused(`${path} cannot be used: ${String(error)}`, { cause: error });
  }
}

/** Listens on a socket that only this process's user and root may open, from its first moment on. */
export function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) =>
      reject(new SocketRefused(`no socket at ${path}: ${error.message}`, { cause: error })),
    );
    // `listen` binds the name before it returns, so nothing else runs under this mask.
    const before = process.umask(0o177);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
}
