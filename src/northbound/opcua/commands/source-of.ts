import type { Source } from "../../../domain/command.ts";
import type { Account } from "../security.ts";

/** The source of what this user asks for. */
export function sourceOf({ name }: Pick<Account, "name">): Source {
  return { protocol: "opcua", name };
}
