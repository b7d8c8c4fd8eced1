import type { Account } from "../security.ts";

/** A session as slots know it. */
export interface Writer {
  readonly sessionId: string;
  readonly account: Account;
}
