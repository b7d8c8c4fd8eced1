/** A row of the table: a client, its version, the cases that it passed, and those that were not run. */
export interface TriedClient {
  readonly client: string;
  readonly version: string;
  readonly passed: readonly string[];
  readonly notRun?: readonly string[];
}
/** What the table says that a client has passed; null if it has no row. */
export function triedRow(client: string): TriedClient | null;
/** Writes the row of a client, as of today. */
export function writeTriedRow(tried: TriedClient): void;
