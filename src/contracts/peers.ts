/** The other end of a connection of the gateway, open or possible. */
export interface Peer {
  readonly kind: "broker" | "session" | "reverse" | "reader";
  /** The user, or the address of a broker or of a reverse connection. Empty: nobody has logged on yet. */
  readonly name: string;
  /** The program, by its own name; empty: not known. */
  readonly client: string;
  /** The address of the client or server; empty: not known. */
  readonly address: string;
  /**
   * `waiting`: nobody has logged on yet; of a reverse connection: no secure channel is open yet. `lost`: its
   * connection is gone, and its session is closed if it does not come back; a reverse connection is tried
   * again. `unused`: another one is used instead.
   */
  readonly state: "connected" | "waiting" | "lost" | "unused";
  /** Wall time; null: not known. */
  readonly sinceMs: number | null;
  /** Why it is in this state; may be empty. */
  readonly detail: string;
}

/** Lists the clients and servers that are connected to a component of the gateway. */
export interface PeerSource {
  /** The name of the component, as in the health. */
  readonly part: string;
  peers(): readonly Peer[];
}
