import { z } from "zod";
import {
  type DispatcherOptions,
  type IntakeOptions,
  intakeDefaults,
  type SourceRate,
  dispatcherDefaults as usual,
} from "../../commands/options.ts";
import { count, milliseconds } from "../fields.ts";
import { type Finding, unwise, wrong } from "../finding.ts";
import type { ConveyorsSection } from "./conveyors.ts";

/**
 * How long the service waits for a robot before it answers (docs/internals/service.md, How deployed services
 * behave).
 */
const ROBOT_WAIT_MS = 10_000;

const DAY_MS = 86_400_000;
/** A record must outlive every command that may still be sent. */
const SHORTEST_KEEP_MS = 2 * 3_600_000;

/** `commands:` the times and bounds of every command, of every protocol. */
export const commandsSection = z
  .strictObject({
    startByMs: milliseconds(
      100,
      3_600_000,
      intakeDefaults.startByMs,
      "How long after its receipt a command without an expiry of its own may still be sent.",
    ),
    callDeadlineMs: milliseconds(
      1_000,
      120_000,
      usual.callDeadlineMs,
      "How long a call waits for the service's answer. The service itself waits 10 s for a robot.",
    ),
    evidenceMs: milliseconds(
      0,
      120_000,
      usual.evidenceMs,
      "How long evidence is sought when it is not known how a call ended.",
    ),
    settleMs: milliseconds(
      0,
      60_000,
      usual.settleMs,
      "How long a mission that may be the command's must be the only one before it counts as evidence.",
    ),
    pollMs: milliseconds(
      100,
      60_000,
      usual.pollMs,
      "Between two queries for evidence; the longest wait between two sendings of what may be repeated.",
    ),
    stopSyncMs: milliseconds(
      0,
      5_000,
      usual.stopSyncMs,
      "How long a stop waits for the disk before it is sent without a record.",
    ),
    drainMs: milliseconds(
      0,
      120_000,
      16_000,
      "How long a shutdown waits for the answers of what was sent; then their outcome is unknown.",
    ),
    maxQueue: count(1, 1_000, usual.maxQueue, "Commands that wait behind the one in flight, for each robot."),
    maxCommands: count(
      1,
      100_000,
      intakeDefaults.maxCommands,
      `Commands under way at once, of all sources; of one at most ${intakeDefaults.maxCommandsOfSource}. Stops have as much again.`,
    ),
    maxReads: count(1, 1_000, usual.maxReads, "Reads in flight at once, for each robot."),
    journal: z
      .strictObject({
        keepMs: milliseconds(
          SHORTEST_KEEP_MS,
          366 * DAY_MS,
          7 * DAY_MS,
          "How long the record of a command is kept, in running time of the gateway. So long is the same id the same command.",
        ),
        keepCount: count(1_000, 10_000_000, 100_000, "How many records are kept at most."),
      })
      .prefault({})
      .describe("The record of commands, which keeps one from being sent twice."),
    audit: z
      .strictObject({
        maxBytes: count(100_000, 1_000_000_000, 10_000_000, "A file of this size is put aside."),
        keep: count(1, 1_000, 10, "How many files that were put aside are kept."),
        journald: z
          .boolean()
          .default(false)
          .describe("Whether each line goes to systemd's journal too, as fleetgate-audit."),
      })
      .prefault({})
      .describe("The audit log: who sent what, and what became of it."),
  })
  .prefault({})
  .describe("Times and bounds of commands, whichever way they come in.");

export type CommandsSection = z.output<typeof commandsSection>;

/** What the section says, as the dispatcher wants it. */
export function dispatcherOptions(section: CommandsSection, conveyors: ConveyorsSection): DispatcherOptions {
  const {
    startByMs: _intake,
    maxCommands: _ofIntake,
    journal: _store,
    audit: _log,
    drainMs: _shutdown,
    ...times
  } = section;
  return { ...times, maxRunMs: conveyors.maxRunMs ?? null };
}

/** The options of the intake. `mqttRate` is that of each MQTT client. */
export function intakeOptions(
  { startByMs, maxCommands }: CommandsSection,
  mqttRate: SourceRate | undefined,
): IntakeOptions {
  const rates = mqttRate === undefined ? {} : { mqtt: mqttRate };
  return { ...intakeDefaults, startByMs, maxCommands, rates };
}

/** Keys of `commands` that contradict each other, or the limits of services. */
export function commandsFindings(section: CommandsSection): readonly Finding[] {
  const findings: Finding[] = [];
  if (section.callDeadlineMs <= ROBOT_WAIT_MS) {
    findings.push(
      unwise(
        ["commands", "callDeadlineMs"],
        "the service waits 10 s for a robot: a shorter deadline makes outcomes unknown that it would have told",
      ),
    );
  }
  if (section.settleMs > section.evidenceMs) {
    findings.push(wrong(["commands", "settleMs"], "must not be more than evidenceMs"));
  }
  return findings;
}
