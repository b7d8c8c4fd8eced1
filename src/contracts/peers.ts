/** The other end of a connection of the gateway, or of one that it could have. */
export interface Peer {
  readonly kind: "broker" | "session" | "reader";
  /** The user; of a broker its address. Empty: nobody has logged on yet. */
  readonly name: string;
  /** The program, as it calls itself; empty: it says nothing. */
  readonly client: string;
  /** Where it comes from, or is; empty: not known. */
  readonly address: string;
  /**
   * `waiting`: nobody has logged on yet. `lost`: its connection is gone, and it is closed if it does not come
   * back. `unused`: another one is used instead of it.
   */
  readonly state: "connected" | "waiting" | "lost" | "unused";
  /** Wall time; null: not known. */
  readonly sinceMs: number | null;
  /** Why it is in this state; empty where nothing is to be said. */
  readonly detail: string;
}

/** Who is connected to a part of the gateway. */
export interface PeerSource {
  /** The name of the part, as health has it. */
  readonly part: string;
  peers(): readonly Peer[];
}
