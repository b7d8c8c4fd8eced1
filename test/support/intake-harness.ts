import type { AuditRecord, AuditSink } from "../../src/commands/audit/audit.ts";
import { createIntake, type Intake } from "../../src/commands/intake/intake.ts";
import type { Execution } from "../../src/commands/intake/request.ts";
import { type IntakeOptions, intakeDefaults, type Rights } from "../../src/commands/options.ts";
import type { Envelope, RefusalAudit, RefusedRequest } from "../../src/contracts/commander.ts";
import type { Catalogue } from "../../src/contracts/operation.ts";
import type { Command, CommandStage, Source } from "../../src/domain/command.ts";
import type { ErrorName } from "../../src/domain/errors.ts";
import { type Outcome, refusal } from "../../src/domain/outcome.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { createLive } from "../../src/platform/live.ts";
import { type Log, silentLog } from "../../src/platform/log.ts";

/** Every source may do everything. */
export const allRights: Rights = {
  rules: (["mqtt", "opcua", "web", "cli"] as const).map((protocol) => ({
    source: { protocol, name: "*" },
    role: "engineer",
  })),
  accounts: [],
};

export type Begin = (command: Command, onStage: (stage: CommandStage) => void) => Promise<Outcome>;

interface Begun {
  readonly digest: string;
  readonly done: Promise<Outcome>;
  readonly stages: readonly CommandStage[];
  readonly watchers: Array<(stage: CommandStage) => void>;
}

/** Knows what it has begun, and nothing else. */
export function createFakeExecution(begin: Begin, refused: RefusalAudit["refused"] = () => {}): Execution {
  const begun = new Map<string, Begun>();
  return {
    find(id) {
      const known = begun.get(id);
      if (known === undefined) return null;
      const { digest, done, stages, watchers } = known;
      return {
        digest,
        outcome(onStage = () => {}) {
          for (const stage of stages) onStage(stage);
          watchers.push(onStage);
          return done.then((outcome) => ({ ...outcome, duplicate: true }));
        },
      };
    },
    isClosed: () => false,
    begin({ id, digest, command }, onStage = () => {}) {
      const stages: CommandStage[] = [];
      const watchers = [onStage];
      const done = begin(command, (stage) => {
        stages.push(stage);
        for (const watcher of watchers) watcher(stage);
      });
      begun.set(id, { digest, done, stages, watchers });
      return done;
    },
    check: async () => null,
    refuse(command, outcome) {
      refused(command, outcome);
      return outcome;
    },
    reported: (_, outcome) => outcome,
  };
}

/** An audit sink that tells refusals as protocols tell theirs. */
export function tellRefusals(refused: RefusalAudit["refused"]): AuditSink {
  return (record) => {
    const fields = record as AuditRecord & Record<string, string | null>;
    const { protocol, user, request_id: requestId, operation, robot_id: robotId, address } = fields;
    const source = { protocol, name: user } as Source;
    const request = { source, requestId, operation, robotId, origin: { address } } as RefusedRequest;
    refused(request, refusal(fields.code as ErrorName, fields.message ?? ""));
  };
}

/** The real intake, for tests of protocols: only what comes behind it is the test's own. */
export function createTestIntake(parts: {
  readonly catalogue: Catalogue;
  readonly clock: Clock;
  readonly execution: Execution;
  readonly options?: Partial<IntakeOptions>;
  readonly rights?: Rights;
  readonly log?: Log;
  readonly audit?: AuditSink;
}): Intake {
  return createIntake({
    audit: () => {},
    log: silentLog,
    ...parts,
    rights: createLive(parts.rights ?? allRights),
    options: { ...intakeDefaults, ...parts.options },
  });
}

/** What a test says of a command, as the envelope that a protocol would make of it. */
export function envelopeOf(
  command: Omit<Command, "effect" | "robotId"> & Partial<Pick<Command, "effect" | "robotId">>,
  nowMs: number,
): Envelope {
  const { source, requestId, operation, requestJson, startByMs, expiresAtMs = null } = command;
  const { origin, station } = command;
  return {
    source,
    requestId,
    operation,
    request: { text: requestJson },
    expiry: { withinMs: startByMs - nowMs, atMs: expiresAtMs },
    ...(origin === undefined ? {} : { origin }),
    ...(station === undefined ? {} : { station }),
  };
}
