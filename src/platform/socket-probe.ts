import { connect } from "node:net";

/**
 * Whether a process listens on the Unix socket at `path`. A dead process's socket refuses connections;
 * whatever else happens, somebody may be behind it.
 */
export function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect({ path });
    probe.once("connect", () => {
      probe.destroy();
      resolve(true);
    });
    probe.once("error", (error) => resolve(!isCode(error, "ECONNREFUSED") && !isCode(error, "ENOENT")));
  });
}

/** Whether an error is the operating system's with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
