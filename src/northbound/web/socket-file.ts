import { lstat, unlink } from "node:fs/promises";
import type { Server } from "node:net";
import { isCode, isListenedOn } from "../../platform/socket-probe.ts";

/** The socket cannot be had; the message says why and what to do. */
class SocketRefused extends Error {
  override readonly name = "SocketRefused";
}

/**
 * Makes way for a socket: removes one that a gateway left behind when it was killed.
 * Rejects with SocketRefused when another gateway answers on it, or something else has the name.
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
    throw new SocketRefused(`${path} cannot be had: ${String(error)}`, { cause: error });
  }
}

/** Listens on a socket that nobody but this process's user may open, from its first moment on. */
export function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("listening", resolve);
    server.once("error", (error) =>
      reject(new SocketRefused(`no socket at ${path}: ${error.message}`, { cause: error })),
    );
    // The name is bound within the call: nothing else runs under this mask.
    const before = process.umask(0o177);
    try {
      server.listen({ path });
    } finally {
      process.umask(before);
    }
  });
}
