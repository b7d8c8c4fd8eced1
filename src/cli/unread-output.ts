import { exitCodes } from "./exit.ts";

/** Of a pipe whose reader has ended, and of what is written to it afterwards. */
const unreadCodes: ReadonlySet<unknown> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/**
 * Keeps every command going when the reader of its output, such as `head`, has ended: what it changes is
 * changed whole, and its exit code tells the outcome. Output that fails otherwise, as on a full disk, ends
 * it.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (unreadCodes.has(error.code)) return;
      process.stderr.write(`fleetgate: its output cannot be written: ${error.message}\n`);
      process.exit(exitCodes.failure);
    });
}

/** Ends a command that only shows something when its reader has ended, which is no failure. */
export function endWithReader(): void {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (unreadCodes.has(code)) process.exit();
  });
}
