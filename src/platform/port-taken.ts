/** A listener could not have its port, because another program has it. */
export class PortTaken extends Error {
  readonly port: number;
  /** The listener of ours, as `web` or `mqtt`. */
  readonly listener: string;

  constructor(listener: string, port: number, options?: ErrorOptions) {
    super(`port ${port}, wanted for ${listener}, is taken by another program`, options);
    this.name = "PortTaken";
    this.listener = listener;
    this.port = port;
  }
}

/** The system refuses a listener its address. */
export class PortRefused extends Error {
  readonly port: number;
  readonly listener: string;
  readonly code: RefusalCode;

  constructor(listener: string, port: number, code: RefusalCode, options?: ErrorOptions) {
    super(`port ${port}, wanted for ${listener}, is refused (${code})`, options);
    this.name = "PortRefused";
    this.listener = listener;
    this.port = port;
    this.code = code;
  }
}

/** EACCES: a privilege is missing; EADDRNOTAVAIL: no address of this machine. */
export type RefusalCode = "EACCES" | "EADDRNOTAVAIL";

/** The error of a failed `listen`, by its reason if that is known; otherwise the error as it came. */
export function listenError(error: unknown, listener: string, port: number): unknown {
  const code = listenCode(error);
  if (code === "EADDRINUSE") return new PortTaken(listener, port, { cause: error });
  return code === null ? error : new PortRefused(listener, port, code, { cause: error });
}

type ListenCode = RefusalCode | "EADDRINUSE";

/** Why a `listen` failed; null: not known. */
export function listenCode(error: unknown): ListenCode | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return code === "EACCES" || code === "EADDRNOTAVAIL" || code === "EADDRINUSE" ? code : null;
}

/**
 * What to do when the system refuses a listener its address.
 *
 * @param option the option or key that sets the port
 */
export function refusalAdvice(code: ListenCode, port: number, option: string): string {
  if (code === "EADDRINUSE")
    return `another program has it: end that program (ss -ltnp shows it), or choose another ${option}`;
  if (code === "EADDRNOTAVAIL")
    return "no network of this machine has the address: bring that network up, or write an address that it has, or 0.0.0.0 for all";
  return `a low port needs a privilege: choose one from 1024 on with ${option}, or allow it to all programs with sysctl net.ipv4.ip_unprivileged_port_start=${port}`;
}
