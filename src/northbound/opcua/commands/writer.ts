import type { Account } from "../security.ts";

/** A session, for slots. */
export interface Writer {
  readonly sessionId: string;
  readonly account: Account;
}
