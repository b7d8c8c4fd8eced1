import { createActs } from "../commands/acts/acts.ts";
import { auditTo } from "../commands/audit/audit.ts";
import type { AuditLines } from "../commands/audit/missing-records.ts";
import { createDispatcher } from "../commands/dispatcher.ts";
import { createIntake, type Intake } from "../commands/intake/intake.ts";
import type { Journal } from "../commands/journal/journal.ts";
import { createCommandLog } from "../commands/log/command-log.ts";
import { createLatencyTrend } from "../commands/log/latency-trend.ts";
import type { FleetPort } from "../contracts/fleet-port.ts";
import type { Meter } from "../contracts/metrics.ts";
import type { Catalogue } from "../contracts/operation.ts";
import type { Pipeline } from "../delivery/pipeline.ts";
import { stopRequest } from "../fleet/operations/row.ts";
import { readLinesBack } from "../platform/line-file.ts";
import type { FleetState } from "../state/fleet-state.ts";
import type { Run } from "./run.ts";
import type { StateStages } from "./stages.ts";
import { createAudit } from "./stores.ts";

/**
 * How far a start reads back in the audit log for what it lacks: the last minute of commands, but for a flood
 * of them.
 */
const AUDIT_READ_BYTES = 16_000_000;

/** What becomes of commands: northbounds → intake → dispatcher → fleet. */
export type Commands = ReturnType<typeof createCommands>;

interface CommandParts {
  readonly catalogue: Catalogue;
  readonly meter: Pick<Meter, "commandEnded">;
  readonly port: FleetPort;
  readonly robot: FleetState["robot"];
  readonly stages: StateStages;
  readonly enterAfter: Pipeline["enterAfter"];
}

export function createCommands(
  { config, surroundings, work, sessionId, stores, outbox, reloads, cluster }: Run,
  {
    catalogue,
    meter,
    port,
    robot,
    stages: { holds, stations, alarmRegistry, alarmStore },
    enterAfter,
  }: CommandParts,
) {
  const clock = work.clock("commands");
  const log = surroundings.log.child({ part: "commands" });
  const { auditLog, journald, auditLines, commandLog, audit } = createRecords({ config, surroundings });
  const { rights } = config;
  const { latency, counted } = createCounts(meter, surroundings);
  const dispatcher = createDispatcher({
    config: {
      options: config.dispatcher,
      rights,
      stations: config.stations,
      isOnTrial: surroundings.isOnTrial,
      shared: cluster?.shared ?? null,
    },
    fleet: { catalogue, port, robot, stopRequest },
    journal: journalOf({ stores, cluster }),
    earlierRuns: {
      areRecordsLost: stores.areRecordsLost,
      eventsLostSinceMs: outbox?.commandsLostSinceMs ?? null,
      auditLines,
    },
    outputs: {
      deliver: (batch) => enterAfter("stations", batch),
      onHold: (robotId) => enterAfter("holds", { changes: holds.changesOf(robotId), events: [] }),
      alarmRegistry,
      audit,
      meter: counted,
      progress: commandLog,
    },
    clock,
    log,
    sessionId,
  });
  reloads.refuseReload((next) => dispatcher.refusedStations(next.stations));
  const { intake: options } = config;
  const execution = dispatcher;
  const intake = createIntake({ options, rights, catalogue, execution, audit, meter: counted, clock, log });
  const acts = createActs({
    dispatcher,
    rights,
    alarms: {
      ...alarmRegistry,
      storeProblem: alarmStore.storeProblem,
      publish: () => enterAfter("stations", { changes: [], events: [] }),
    },
    resetCounters: (station) => enterAfter("stations", stations.reset(station)),
    refused: intake.refused,
    audit,
    clock,
    log,
  });
  return {
    dispatcher,
    intake,
    /** What users do besides commands. */
    acts,
    commandLog,
    audit,
    auditLog,
    latency,
    /** Where lines of the audit log are copied to; null: nowhere. */
    journald,
    /** The intake; its work on a command counts as the protocol's. */
    intakeOf: (protocol: string): Intake => ({
      ...intake,
      submit: (...given) => work.time(protocol, () => intake.submit(...given)),
    }),
  };
}

/** Where commands are recorded for people: the audit log, and the command log of the console. */
function createRecords({ config, surroundings }: Pick<Run, "config" | "surroundings">) {
  const { auditFile, audit: auditLog, journald } = createAudit(config, surroundings);
  const auditLines: AuditLines = (take) => readLinesBack(auditFile, AUDIT_READ_BYTES, take);
  const commandLog = createCommandLog({ auditLines, log: surroundings.log });
  return {
    auditLog,
    journald,
    auditLines,
    commandLog,
    audit: commandLog.audited(auditTo(auditLog, journald)),
  };
}

/** Counts ended commands for the metrics and for the trend of their latency. */
function createCounts(meter: Pick<Meter, "commandEnded">, { clock }: Run["surroundings"]) {
  const trend = createLatencyTrend(clock);
  const counted: Pick<Meter, "commandEnded"> = {
    commandEnded(command) {
      meter.commandEnded(command);
      trend.commandEnded(command);
    },
  };
  return { latency: trend.latency, counted };
}

function journalOf({ stores, cluster }: Pick<Run, "stores" | "cluster">): Journal {
  const journal = stores.journal ?? cluster?.journal;
  if (journal === undefined) throw new Error("a gateway has a journal of its own, or one of its cluster");
  return journal;
}
