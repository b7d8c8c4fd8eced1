/** A listener could not have its port, because another program has it. */
export class PortTaken extends Error {
  readonly port: number;
  /** Which of our listeners wanted it, as `web` or `mqtt`. */
  readonly listener: string;

  constructor(listener: string, port: number, options?: ErrorOptions) {
    super(`port ${port}, wanted for ${listener}, is taken by another program`, options);
    this.name = "PortTaken";
    this.listener = listener;
    this.port = port;
  }
}

/** The error of a failed `listen`: a PortTaken where that is the reason, else the error as it came. */
export function listenError(error: unknown, listener: string, port: number): unknown {
  const taken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
  return taken ? new PortTaken(listener, port, { cause: error }) : error;
}
