/** What the members of a cluster have decided on a client of OPC UA. */
export interface SharedClient {
  readonly isTrusted: boolean;
  /** Its certificate; "" if it is not trusted. */
  readonly pem: string;
}

/** The decisions, which every member may make. */
export interface SharedClients {
  /** By thumbprint, each with the number of its last change. Null: they are not known yet. */
  decisions(): ReadonlyMap<string, SharedClient & { readonly revision: number }> | null;
  /**
   * Decides, if nobody has since the change with this number (0: since ever). Resolves with the number of
   * this one; null: somebody has, or what became of it is not known.
   */
  decide(thumbprint: string, client: SharedClient, since: number): Promise<number | null>;
}
