import type { Role } from "../../../domain/command.ts";
import { type Outcome, refusal } from "../../../domain/outcome.ts";
import { type Account, ANONYMOUS } from "../security.ts";

/**
 * The refusal of an act beyond the account's role, with the key of the configuration that decides it. `act`
 * is an operation, or "an override".
 */
export function roleRefusal({ name, role }: Account, act: string, needed: Role): Outcome {
  const key = name === ANONYMOUS ? "opcua.insecureLoopback.role" : `opcua.users.${name}.role`;
  const message = `opcua "${name}" may not send ${act}, which needs ${needed}: ${key} makes it ${role}`;
  return refusal("NOT_ALLOWED", message);
}
