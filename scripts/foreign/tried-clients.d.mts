/** A row of the table: a client, its version, and the cases that it passed. */
export interface TriedClient {
  readonly client: string;
  readonly version: string;
  readonly passed: readonly string[];
}
/** What the table says that a client has passed; null if it has no row. */
export function triedRow(client: string): TriedClient | null;
/** Writes the row of a client, as of today. */
export function writeTriedRow(tried: TriedClient): void;
