/** The result of reading the configuration again. */
export interface ReloadResult {
  /** The changed keys, which are now in force. */
  readonly applied: readonly string[];
  /** Why nothing was changed; empty: something was. */
  readonly refused: readonly ReloadRefusal[];
  /** What the file may say, but should not. */
  readonly warnings: readonly ReloadRefusal[];
  /** Of the configuration that is now in force, without its secrets. */
  readonly hash: string;
}

/** A key of the configuration, and why its new value cannot be applied. */
export interface ReloadRefusal {
  /** Empty: the file, or the gateway, as a whole. */
  readonly path: string;
  readonly reason: string;
}

/** Reads the configuration again. `by` names the user, as `cli:root`. Never rejects. */
export type ReloadConfiguration = (by: string) => Promise<ReloadResult>;
