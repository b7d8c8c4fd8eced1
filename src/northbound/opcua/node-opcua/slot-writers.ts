import type { ISessionContext } from "node-opcua";
import type { RefusalAudit } from "../../../contracts/commander.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Slot } from "../commands/slot.ts";
import { sourceOf } from "../commands/source-of.ts";
import type { Writer } from "../commands/writer.ts";
import type { OpcUaOptions } from "../options.ts";
import { type Account, accountOf } from "../security.ts";

/** Returns for one request the writer to a slot; null: that user may not write. */
export type WriterOf = (slot: Slot, isTicket: boolean) => Writer | null;

/** A user that writes tickets to the same slot without the right is audited this often. */
const AUDITED_EVERY_MS = 60_000;

/**
 * Checks the right of each write to a slot. A refused write changes nothing: neither parameter nor number.
 */
export function createSlotWriters(
  options: OpcUaOptions,
  { audit, clock }: { readonly audit: RefusalAudit; readonly clock: Clock },
): (context: ISessionContext) => WriterOf {
  /** When each user was last audited for each slot: a program may write in every cycle. */
  const auditedAtMs = new Map<string, number>();

  function auditRefused(account: Account | null, { path }: Slot, reason: string): void {
    const { name = "", origin = {} } = account ?? {};
    const key = `${path} ${name}`;
    const nowMs = clock.monotonicMs();
    if (nowMs - (auditedAtMs.get(key) ?? Number.NEGATIVE_INFINITY) < AUDITED_EVERY_MS) return;
    auditedAtMs.set(key, nowMs);
    const source = sourceOf({ name });
    const request = { source, requestId: null, operation: path, robotId: null, origin };
    audit.refused(request, refusal("NOT_ALLOWED", reason));
  }

  return (context) => {
    const { session } = context;
    const account = accountOf(context, options);
    return (slot, isTicket) => {
      const reason = refusalOf(account, slot);
      if (session !== undefined && account !== null && reason === null) {
        return { sessionId: session.getSessionId().toString(), account };
      }
      if (isTicket && reason !== null) auditRefused(account, slot, reason);
      return null;
    };
  };
}

function refusalOf(account: Account | null, slot: Slot): string | null {
  if (account === null) return "the session has no user, and a slot needs operator";
  if (account.role !== "observer") return slot.refusedWriter(account);
  return `"${account.name}" is ${account.role}, and a slot needs operator`;
}
