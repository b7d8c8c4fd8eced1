import { connect } from "node:net";

/**
 * Whether a process listens on the Unix socket at `path`. Only a refused connection shows that none does:
 * after any other error one may be there.
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

/** Whether it is an error of the operating system with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
