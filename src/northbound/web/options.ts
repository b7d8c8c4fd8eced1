/** Where the health check and the page of robots are served. */
export interface WebOptions {
  readonly listen: {
    /** Loopback unless the operator says otherwise: there is no login. */
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
  };
  /** Under which names it answers, besides localhost and the address at which it is reached. */
  readonly hostnames: readonly string[];
}

/** Where programs of this machine send commands, all values given. */
export interface ControlOptions {
  /** The Unix domain socket, absolute. A process that may open the file may command. */
  readonly socketPath: string;
  /** How long after its receipt a command without an expiry may be sent, in milliseconds. */
  readonly startByMs: number;
}
