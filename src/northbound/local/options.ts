/** The door for programs of this machine, all values given. */
export interface LocalOptions {
  /** The Unix domain socket, absolute. Whoever may open the file may command. */
  readonly socketPath: string;
  /** How long after its receipt a command without an expiry may be sent, in milliseconds. */
  readonly startByMs: number;
}
