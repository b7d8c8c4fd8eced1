import type { RefusalAudit, SessionAudit } from "../../../contracts/commander.ts";
import { clip } from "../../../domain/clip.ts";
import type { Source } from "../../../domain/command.ts";
import { refusal } from "../../../domain/outcome.ts";
import type { Clock } from "../../../platform/clock.ts";
import { createLineBudget } from "../../../platform/line-budget.ts";
import type { Log } from "../../../platform/log.ts";
import { createLogOnReports } from "../../../platform/log-on-delay.ts";
import type { WebUser } from "../options.ts";
import type { SessionEnd } from "./sessions.ts";

/** Reports log-ins and log-outs to the log and the audit log, within bounds. */
export interface AccessAudit {
  /** @param why a sentence without its end */
  failed(name: string, address: string, why: string): void;
  began(user: WebUser, address: string): void;
  ended(user: WebUser, why: SessionEnd): void;
}

export interface AccessAuditParts {
  readonly isUser: (name: string) => boolean;
  readonly audit: RefusalAudit & SessionAudit;
  readonly clock: Clock;
  readonly log: Log;
}

const LONGEST_NAME = 64;
/** Each session has two lines. */
const SESSION_LINES = { most: 120, windowMs: 60_000 };

export function createAccessAudit({ isUser, audit, clock, log }: AccessAuditParts): AccessAudit {
  const reports = createLogOnReports(clock, isUser, (count) => {
    report("", {}, `${count} more log-ins have failed within a minute`);
    log.warn({ count }, "more web log-ins failed than the log names");
  });
  const sessions = createLineBudget(clock, SESSION_LINES, (count) => {
    const reason = `${count} more sessions have begun or ended within a minute`;
    audit.session({ source: webUser(""), address: null, change: "log_on", reason });
    log.info({ count }, "more web sessions began or ended than the log names");
  });

  function report(name: string, origin: { readonly address?: string }, why: string): void {
    const request = { source: webUser(name), requestId: null, operation: "log_on", robotId: null, origin };
    audit.refused({ ...request, isLogged: true }, refusal("NOT_ALLOWED", why));
  }

  return {
    failed(name, address, why) {
      if (!reports.isDue(name)) return;
      report(name, { address }, why);
      log.warn({ user: clip(name, LONGEST_NAME), from: address, reason: why }, "a web log-in failed");
    },
    began({ name }, address) {
      if (!sessions.take()) return;
      audit.session({ source: webUser(name), address, change: "log_on", reason: null });
      log.info({ user: name, from: address }, "a web user has logged in");
    },
    ended({ name }, reason) {
      if (!sessions.take()) return;
      audit.session({ source: webUser(name), address: null, change: "log_off", reason });
      log.info({ user: name, reason }, "a web session has ended");
    },
  };
}

function webUser(name: string): Source {
  return { protocol: "web", name: clip(name, LONGEST_NAME) };
}
