/** What became of reading the configuration again. */
export interface ReloadResult {
  /** The keys that have changed, and hold now. */
  readonly applied: readonly string[];
  /** Why nothing was changed; empty when it was. */
  readonly refused: readonly ReloadRefusal[];
  /** What is allowed in the file, and unwise. */
  readonly warnings: readonly ReloadRefusal[];
  /** Of the configuration that holds now; its secrets are not in it. */
  readonly hash: string;
}

/** A key of the configuration, and why it cannot be as the file has it. */
export interface ReloadRefusal {
  /** Empty for the file, or the gateway, as a whole. */
  readonly path: string;
  readonly reason: string;
}

/** Reads the configuration again. `by` names who asked, as `cli:root`. Never rejects. */
export type ReloadConfiguration = (by: string) => Promise<ReloadResult>;
