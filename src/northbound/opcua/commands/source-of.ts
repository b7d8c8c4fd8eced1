import type { Source } from "../../../domain/command.ts";
import type { Account } from "../security.ts";

/** The source of a command of this user. */
export function sourceOf(account: Account): Source {
  return { protocol: "opcua", name: account.name };
}
