import type { AuditSink } from "../commands/audit/audit.ts";
import type { FenceControl } from "../contracts/cluster.ts";
import type { CommandRights } from "../contracts/commander.ts";
import type { Clock } from "../platform/clock.ts";
import type { Log } from "../platform/log.ts";

interface FenceParts {
  /** Returns why the member cannot count as fenced; null: it does. */
  readonly confirm: (member: string) => string | null;
  readonly rights: Pick<CommandRights, "refusedOperation">;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly log: Log;
}

export function createFenceControl({ confirm, rights, audit, clock, log }: FenceParts): FenceControl {
  return {
    confirm({ source, member }) {
      const { protocol, name: user } = source;
      const lacking = rights.refusedOperation(source, "the confirmation of a fence", "engineer");
      const reason = lacking ?? confirm(member);
      audit({
        ...{ at: new Date(clock.nowMs()).toISOString(), event: "fence", protocol, user },
        ...{ operation: "confirm", member, outcome: reason === null ? "succeeded" : "refused" },
        ...(reason === null ? {} : { message: reason }),
      });
      if (reason !== null) return { ok: false, reason, lacksRight: lacking !== null };
      log.warn({ member, protocol, user }, "a user has confirmed that the other member is off");
      return { ok: true };
    },
  };
}
