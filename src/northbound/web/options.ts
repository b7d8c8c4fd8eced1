/** Where health checks, metrics and the page of robots are served, by TCP. */
export interface WebOptions {
  readonly listen: {
    /** Loopback unless the operator configures another address: there is no login. */
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
  };
  /** The names under which it answers, besides localhost and the address at which it is reached. */
  readonly hostnames: readonly string[];
}

/** Where programs of this machine send commands, all values given. */
export interface ControlOptions {
  /** The Unix domain socket, absolute. A process that may open the file may command. */
  readonly socketPath: string;
}
