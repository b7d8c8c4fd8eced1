import type { Source } from "../../../domain/command.ts";
import type { Account } from "../security.ts";

/** The source of this user's requests. */
export function sourceOf({ name }: Pick<Account, "name">): Source {
  return { protocol: "opcua", name };
}

/** A session, for slots. */
export interface Writer {
  readonly sessionId: string;
  readonly account: Account;
}
