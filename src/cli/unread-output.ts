import { exitCodes } from "./exit.ts";

/** The errors of a pipe without a reader, and of later writes to it. */
const unreadCodes: ReadonlySet<unknown> = new Set(["EPIPE", "ERR_STREAM_DESTROYED"]);

/**
 * Keeps every command going when the reader of its output, such as `head`, has ended: each change is
 * completed, and the exit code is that of the outcome. Output that fails otherwise, as on a full disk, ends
 * the command.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (unreadCodes.has(error.code)) return;
      process.stderr.write(`fleetgate: its output cannot be written: ${error.message}\n`);
      process.exit(exitCodes.failure);
    });
}

/** Ends a command that only shows something when its reader ends. This is no failure. */
export function endWithReader(): void {
  process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
    if (unreadCodes.has(code)) process.exit();
  });
}
